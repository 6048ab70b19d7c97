#!/usr/bin/env bats
# The RPM packages in $RPMS: what they have, and a life in an empty root directory: installed, used, upgraded, kept from
# removal while they are needed, erased. hack/test-rpm runs it in a root directory of its own.

bats_require_minimum_version 1.5.0

setup_file() {
    [ -n "${RPMS-}" ] && [ -n "${PACKAGES-}" ] || { echo "RPMS and PACKAGES are not set to directories"; return 1; }
    [ "$(id -u)" -eq 0 ] || { echo "needs root"; return 1; }
    DIR=$(mktemp -d /var/tmp/fb-rpm.XXXXXX)
    ROOT=$DIR/root
    VERSION=$(rpm -qp --qf '%{VERSION}' "$RPMS"/flatten-*.rpm)
    export DIR ROOT VERSION
    # It has the files that the programs and the scriptlets need, and no other.
    mkdir -p "$ROOT"/{bin,dev,etc/docker,usr/bin,usr/lib,run,tmp,var/tmp}
    cp /bin/busybox "$ROOT/bin/busybox"
    mknod -m 0666 "$ROOT/dev/null" c 1 3
    cp "$(command -v runc)" "$ROOT/usr/bin/runc"
    local name
    for name in sh grep; do ln -s busybox "$ROOT/bin/$name"; done
}

teardown_file() {
    [ -z "${DIR-}" ] || rm -rf --one-file-system "$DIR"
}

# has TEXT: the last command printed it.
has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }

in_root() { rpm --root "$ROOT" --nodeps "$@"; }

# binaries DIR: the packages without the sources.
binaries() { find "$1" -name '*.rpm' ! -name '*.src.rpm'; }

# libraries: copies those that the installed programs link, for use in the root directory.
libraries() {
    local library
    ldd "$ROOT"/usr/bin/{flatbed,flatten,runc} | grep -o '/[^ ]*' | grep -v ':$' | sort -u >"$DIR/libraries"
    while read -r library; do
        install -D "$library" "$ROOT$library"
        echo "$library" >>"$DIR/copied"
    done <"$DIR/libraries"
}

# ours: the files of the root directory that are of the packages.
ours() { (cd "$ROOT" && find . \( -name 'flatbed*' -o -name flatten -o -name '_flat*' -o -name 'flatten.*' \) | sort); }

# shared: file names of a package, as they are in both kinds.
shared() {
    grep -vE '/$|^/usr/share/(doc|licenses|lintian)/' | sed -E 's/\.gz$//; s|/vendor-completions/|/site-functions/|; s|^/lib/systemd|/usr/lib/systemd|' | sort
}

@test "they have the files of the Debian packages" {
    local name
    for name in flatbed flatten; do
        dpkg-deb --fsys-tarfile "$PACKAGES/${name}"_*.deb | tar -t | sed 's/^\.//' | shared >"$DIR/deb"
        rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$RPMS/$name-$VERSION"-*.x86_64.rpm | sed -n 's/^-[^ ]* //p' | shared >"$DIR/rpm"
        [ -s "$DIR/rpm" ]
        diff "$DIR/deb" "$DIR/rpm"
    done
}

@test "installed, they change no engine, and enable nothing" {
    echo '{}' >"$ROOT/etc/docker/daemon.json"
    binaries "$RPMS" | xargs rpm --root "$ROOT" --nodeps -i
    [ "$(cat "$ROOT/etc/docker/daemon.json")" = '{}' ]
    [ -z "$(ls -A "$ROOT/etc/flatbed")" ]
    [ -e "$ROOT/usr/lib/systemd/system/flatbed-gc.timer" ]
    [ ! -e "$ROOT/etc/systemd" ]
    in_root -V flatbed flatten
}

@test "the programs work in the root directory" {
    libraries
    chroot "$ROOT" /usr/bin/flatten --version
    chroot "$ROOT" /usr/bin/flatbed-runtime --flatbed-version
    install -m 0644 "$ROOT/usr/share/doc/flatbed/docs/examples/lab.json" "$ROOT/etc/flatbed/policy.json"
    chroot "$ROOT" /usr/bin/flatbed check --draft /etc/flatbed/policy.json
}

@test "an upgrade keeps the policy and a changed configuration, and asks for nothing while containers run" {
    mkdir -p "$ROOT/run/flatbed/state"
    touch "$ROOT/run/flatbed/state/one"
    echo '# mine' >>"$ROOT/etc/logrotate.d/flatbed"
    cp "$ROOT/etc/flatbed/policy.json" "$DIR/policy"
    mkdir -p "$DIR/next/SOURCES"
    git -c safe.directory='*' -C /src archive --prefix="flatbed-$VERSION/" --output="$DIR/next/SOURCES/flatbed-$VERSION.tar.gz" HEAD
    sed -e 's/^%{!?flatbed_release: .*/%global flatbed_release 2/' -e 's/^# Some distributions have no group adm\./echo "# new" >>debian\/flatbed.logrotate; install -D -m 0644 debian\/flatbed.logrotate %{buildroot}\/etc\/logrotate.d\/flatbed/' \
        -e "s/flatbed_version 0\.1\.0/flatbed_version $VERSION/" /src/packaging/rpm/flatbed.spec >"$DIR/next.spec"
    rpmbuild --nodeps -bb --define "_topdir $DIR/next" "$DIR/next.spec" >"$DIR/log" 2>&1 || { tail "$DIR/log"; false; }
    binaries "$DIR/next/RPMS" | xargs rpm --root "$ROOT" --nodeps -U
    [ "$(rpm --root "$ROOT" -q --qf '%{RELEASE}' flatbed)" = 2 ]
    grep -q '^# mine$' "$ROOT/etc/logrotate.d/flatbed"
    grep -q '^# new$' "$ROOT/etc/logrotate.d/flatbed.rpmnew"
    cmp "$ROOT/etc/flatbed/policy.json" "$DIR/policy"
    chroot "$ROOT" /usr/bin/flatbed-runtime --flatbed-version
    [ -e "$ROOT/run/flatbed/state/one" ]
}

@test "it is not erased while an engine uses it" {
    echo '{ "runtimes": { "flatbed": { "path": "/usr/bin/flatbed-runtime" } } }' >"$ROOT/etc/docker/daemon.json"
    run in_root -e flatbed
    [ "$status" -ne 0 ]
    has "/etc/docker/daemon.json"
    [ -x "$ROOT/usr/bin/flatbed-runtime" ]
    echo '{}' >"$ROOT/etc/docker/daemon.json"
}

@test "erased, nothing stays but what the administrator wrote" {
    rm -rf "$ROOT/run/flatbed"
    in_root -e flatbed flatten
    [ "$(ours)" = $'./etc/flatbed\n./etc/logrotate.d/flatbed.rpmnew\n./etc/logrotate.d/flatbed.rpmsave' ]
    [ "$(ls "$ROOT/etc/flatbed")" = policy.json ]
}

#!/usr/bin/env bats
# The Debian packages in $PACKAGES: installed, upgraded and removed while a container runs, purged. Changes the host, so
# hack/test-packages runs it in a root directory of its own.

bats_require_minimum_version 1.5.0

setup_file() {
    [ -n "${PACKAGES-}" ] || { echo "PACKAGES is not set to a directory"; return 1; }
    [ "$(id -u)" -eq 0 ] || { echo "needs root"; return 1; }
    DIR=$(mktemp -d /var/tmp/fb-package.XXXXXX)
    ID=fb-package-$$
    export DIR ID DEBIAN_FRONTEND=noninteractive
}

teardown_file() {
    [ -n "${DIR-}" ] || return 0
    runc delete --force "$ID" 2>/dev/null || true
    rm -rf --one-file-system "$DIR"
}

apt() { apt-get -q -y --no-install-recommends "$@"; }

# has TEXT: the last command printed it.
has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }

# leftovers: the files of the host that are ours.
leftovers() { find / -xdev \( -path /proc -o -path /src -o -path /var/cache/apt -o -path /var/lib/dpkg -o -path "$DIR" \) -prune -o \( -name 'flatbed*' -o -name flatten -o -name '_flat*' -o -name 'flatten.*' \) -print; }

container() {
    mkdir -p "$DIR"/bundle/rootfs/{bin,proc} "$DIR/data"
    cp /bin/busybox "$DIR/bundle/rootfs/bin/sh"
    ln -s sh "$DIR/bundle/rootfs/bin/sleep"
    echo text >"$DIR/data/file"
    cat >"$DIR/bundle/config.json" <<END
{ "ociVersion": "1.0.2", "root": { "path": "rootfs" },
  "process": { "user": { "uid": 0, "gid": 0 }, "cwd": "/", "env": ["PATH=/bin"], "args": ["sleep", "600"] },
  "annotations": { "flatbed.data": "it" },
  "mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" } ],
  "linux": { "namespaces": [ { "type": "pid" }, { "type": "mount" } ] } }
END
    mkdir -p /etc/flatbed
    cat >/etc/flatbed/policy.json <<END
{ "version": 1, "volumes": { "data": { "source": "$DIR/data", "target": "/data", "access": "ro", "names": ["it"] } } }
END
    flatbed-runtime run --detach --bundle "$DIR/bundle" "$ID" </dev/null >/dev/null 2>&1 3>&-
}

works() { [ "$(flatbed-runtime exec "$ID" sh -c 'read -r line </data/file && echo "$line"' 3>&-)" = text ]; }

@test "they install with what they need, and change no engine" {
    leftovers >"$DIR/before"
    ! grep -rs flatbed /etc/docker /etc/containerd /etc/containers /etc/nvidia-container-runtime || false
    apt install "$PACKAGES"/{flatbed,flatten}_*.deb
    ! grep -rs flatbed /etc/docker /etc/containerd /etc/containers /etc/nvidia-container-runtime || false
    [ -z "$(ls -A /etc/flatbed)" ]
    [ ! -e /etc/systemd/system/timers.target.wants/flatbed-gc.timer ]
    [ ! -e /etc/systemd/system/timers.target.wants/flatbed-stale.timer ]
}

@test "the programs, their manuals and completions are there" {
    local page
    flatten --version
    flatbed --version
    flatbed-runtime --flatbed-version
    for page in man1/flatten.1 man5/flatbed-policy.5 man8/flatbed.8 man8/flatbed-runtime.8; do
        [ -s "/usr/share/man/$page.gz" ] || [ -e /etc/dpkg/dpkg.cfg.d/excludes ]
    done
    [ -s /usr/share/bash-completion/completions/flatten ]
    [ -s /usr/share/zsh/vendor-completions/_flatbed ]
    [ -s /usr/share/fish/vendor_completions.d/flatbed.fish ]
    [ -s /usr/lib/systemd/system/flatbed-gc.timer ] || [ -s /lib/systemd/system/flatbed-gc.timer ]
    [ -s /usr/share/doc/flatbed/docs/start.md ]
    install -m 0644 /usr/share/doc/flatbed/docs/examples/lab.json "$DIR/lab.json"
    flatbed check --draft "$DIR/lab.json"
    run sh -c 'cd /src && exec sh debian/tests/demo'
    [ "$status" -eq 0 ]
    has "  flatbed doctor"
    [[ $output != *"build/release"* ]]
}

@test "an upgrade leaves a running container, and its policy, as they are" {
    local deb
    container
    works
    for deb in flatbed flatten; do
        dpkg-deb -R "$PACKAGES/$deb"_*.deb "$DIR/$deb"
        sed -i 's/^Version: .*/&+next/' "$DIR/$deb/DEBIAN/control"
        dpkg-deb --root-owner-group -b "$DIR/$deb" "$DIR/$deb.deb"
    done
    cp /etc/flatbed/policy.json "$DIR/policy.before"
    apt install "$DIR/flatbed.deb" "$DIR/flatten.deb"
    [[ $(dpkg-query -W -f '${Version}' flatbed) == *+next ]]
    cmp /etc/flatbed/policy.json "$DIR/policy.before"
    works
}

@test "it is not removed while a container runs with it, nor while an engine uses it" {
    run apt remove flatbed
    [ "$status" -ne 0 ]
    has "1 container runs with flatbed-runtime"
    works
    flatbed-runtime delete --force "$ID"
    mkdir -p /etc/docker
    flatbed install docker
    run apt remove flatbed
    [ "$status" -ne 0 ]
    has "/etc/docker/daemon.json"
    has "flatbed uninstall"
    flatbed uninstall docker
}

@test "removed, only the configuration stays; purged, nothing stays" {
    apt remove flatbed flatten
    [ ! -e /usr/bin/flatbed-runtime ]
    [ -e /etc/flatbed/policy.json ]
    mkdir -p /var/log/flatbed /var/lib/flatbed
    touch /var/log/flatbed/audit.jsonl
    apt purge flatbed flatten
    rm -f /etc/docker/daemon.json.flatbed-backup
    leftovers | diff "$DIR/before" -
    [ ! -e /etc/flatbed ]
}

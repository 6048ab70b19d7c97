#!/usr/bin/env bats
# The tarball for arm64 in $TARBALL, and the unit tests in $UNITS, on another machine. qemu-user runs what needs no more
# than it has; it has no seccomp and, before version 9.2, no openat2. The rest runs in an emulated machine with Debian's
# kernel for arm64. hack/test-arm64 runs it in a root directory of its own.

bats_require_minimum_version 1.5.0

# Suites that qemu-user cannot run.
KERNEL='unit_(base(_files)?|shim_host(_process)?|shim_mount|shim_warm|shim_privilege|shim_gather(_security)?|shim_admin_start|flatten_keeper_files|flatten_keeper_sink|flatten_image|flatten_reader|flatten_command)'

setup_file() {
    [ -n "${TARBALL-}" ] && [ -n "${UNITS-}" ] || { echo "TARBALL and UNITS are not set to directories"; return 1; }
    [ "$(id -u)" -eq 0 ] || { echo "needs root"; return 1; }
    DIR=$(mktemp -d /var/tmp/fb-arm64.XXXXXX)
    NAME=$(basename "$TARBALL"/*.tar.gz .tar.gz)
    export DIR NAME
    tar -xzf "$TARBALL/$NAME.tar.gz" -C "$DIR"
    image
}

teardown_file() {
    [ -z "${DIR-}" ] || rm -rf --one-file-system "$DIR"
}

# has TEXT: the last command printed it.
has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }

# image: makes $DIR/it.tar, an image of two layers; the second one deletes a file of the first one.
image() {
    mkdir -p "$DIR"/{1,2}/etc "$DIR/save"
    echo old >"$DIR/1/etc/gone"
    head -c 300000 /dev/urandom >"$DIR/1/etc/kept"
    : >"$DIR/2/etc/.wh.gone"
    local n ids=
    for n in 1 2; do
        tar -C "$DIR/$n" -cf "$DIR/save/$n.tar" .
        ids+=${ids:+,}'"sha256:'$(sha256sum <"$DIR/save/$n.tar" | cut -c 1-64)'"'
    done
    echo '{"architecture":"arm64","os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":['"$ids"']}}' >"$DIR/save/config.json"
    echo '[{"Config":"config.json","RepoTags":["it:1"],"Layers":["1.tar","2.tar"]}]' >"$DIR/save/manifest.json"
    tar -C "$DIR/save" -cf "$DIR/it.tar" .
}

# machine: the root directory of a machine, with the programs, the image, and the libraries and files of unit tests.
machine() {
    mkdir -p "$DIR"/machine/{bin,etc,lib,units}
    cp /bin/busybox "$DIR"/"$NAME"/bin/* "$DIR/machine/bin"
    cp "$DIR/it.tar" "$DIR/machine"
    cp /etc/passwd /etc/group "$DIR/machine/etc"
    # The shell and the readlink of busybox are others than those that the tests expect.
    mkdir "$DIR/other"
    (cd "$DIR/other" && apt-get -qq -o APT::Sandbox::User=root download {dash,coreutils}:arm64 && for deb in ./*.deb; do
        dpkg-deb --extract "$deb" .
    done)
    cp "$DIR/other/bin/readlink" "$DIR/machine/bin/readlink"
    cp "$DIR/other/bin/dash" "$DIR/machine/bin/sh"
    cp "$@" "$DIR/machine/units"
    local program
    for program in "$@" "$DIR"/machine/bin/{sh,readlink}; do
        qemu-aarch64-static /lib/ld-linux-aarch64.so.1 --list "$program" | grep -o '/[^ ]*' >>"$DIR/libraries"
    done
    sort -u "$DIR/libraries" | xargs cp -L -t "$DIR/machine/lib"
}

@test "the sums are those of the files, and the programs are for arm64 and need nothing" {
    (cd "$TARBALL" && sha256sum --check --strict SHA256SUMS)
    run readelf --file-header --program-headers "$DIR/$NAME"/bin/*
    [ "$(grep -c 'Machine: .*AArch64' <<<"$output")" -eq 3 ]
    [[ $output != *INTERP* ]]
}

@test "another directory, umask and time zone give the same bytes" {
    git -c safe.directory='*' clone -q --no-hardlinks /src "$DIR/another directory"
    (cd "$DIR/another directory" && umask 077 && TZ=Asia/Tokyo TMPDIR=$DIR hack/tarball --arch=arm64 "$DIR/second")
    cmp "$TARBALL/$NAME.tar.gz" "$DIR/second/$NAME.tar.gz"
    cmp "$TARBALL/$NAME.spdx.json" "$DIR/second/$NAME.spdx.json"
}

@test "the SBOM has the versions of arm64's libraries" {
    local package
    for package in libc6-dev libarchive-dev libssl-dev libyajl-dev libseccomp-dev libcap-dev libyaml-dev; do
        [ "$(jq -er --arg p "$package" '.packages[] | select(.name == $p).versionInfo' "$TARBALL/$NAME.spdx.json")" = \
            "$(dpkg-query -W -f '${Version}' "$package:arm64")" ] || { echo "not its version: $package"; false; }
    done
}

@test "in qemu-user: versions, and a policy is checked" {
    qemu-aarch64-static "$DIR/$NAME/bin/flatten" --version
    qemu-aarch64-static "$DIR/$NAME/bin/flatbed-runtime" --flatbed-version
    install -m 0644 /src/docs/examples/lab.json "$DIR/lab.json"
    qemu-aarch64-static "$DIR/$NAME/bin/flatbed" check --policy-only "$DIR/lab.json"
    echo '{ "version": 1, "volumen": {} }' >"$DIR/wrong.json"
    run ! qemu-aarch64-static "$DIR/$NAME/bin/flatbed" check --policy-only "$DIR/wrong.json"
    has volumen
}

@test "in qemu-user: no image is read, as there is no seccomp" {
    run ! qemu-aarch64-static "$DIR/$NAME/bin/flatten" "$DIR/it.tar" "oci:$DIR/user:it"
    has "without one no image is read"
    [ ! -e "$DIR/user" ]
}

@test "in qemu-user: unit tests" {
    cd "$UNITS/../.."
    ctest -L 'unit|fuzz' -E "^$KERNEL\$" --output-on-failure -j "$(nproc)"
}

@test "in a machine: an image is flattened in its sandbox, and unit tests of what needs a kernel" {
    local units=()
    mapfile -t units < <(find "$UNITS" -maxdepth 1 -type f -perm -u+x -regextype posix-extended -regex ".*/$KERNEL")
    [ "${#units[@]}" -eq 15 ]
    machine "${units[@]}"
    cat >"$DIR/machine/run.sh" <<'RUN'
set -e
export TMPDIR=/tmp
uname -m
flatten --compression=zstd --threads=4 /it.tar oci:/tmp/out:it
flatten verify /it.tar oci:/tmp/out:it
flatten /it.tar /tmp/flat.tar
flatten verify /it.tar /tmp/flat.tar
failed=0
for unit in /units/*; do
    "$unit" >/tmp/log 2>&1 || { echo "failed: $unit"; cat /tmp/log; failed=1; }
done
[ "$failed" -eq 0 ]
echo "all of it"
RUN
    run bash /src/tests/package/arm64_machine "$DIR/machine"
    has aarch64
    has "all of it"
    has "status 0"
}

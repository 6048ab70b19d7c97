#!/usr/bin/env bats
# The image of flatten that hack/image makes from the tarball in $TARBALL, run by podman. hack/test-tarball runs it.

bats_require_minimum_version 1.5.0

setup_file() {
    [ -n "${TARBALL-}" ] || { echo "TARBALL is not set to a directory"; return 1; }
    DIR=$(mktemp -d /var/tmp/fb-image.XXXXXX)
    export DIR CONTAINERS_CONF=$DIR/containers.conf
    podman_configured
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    hack/image "$(echo "$TARBALL"/*.tar.gz)" "$DIR/flatten.oci.tar"
    pod load -q -i "$DIR/flatten.oci.tar"
    IMAGE=$(pod images -q | head -n 1)
    export IMAGE
}

teardown_file() {
    [ -n "${DIR-}" ] || return 0
    pod rmi --all --force >/dev/null 2>&1 || true
    rm -rf --one-file-system "$DIR"
}

# pod ARGUMENT...: podman with a store of its own.
pod() {
    podman --root "$DIR/store" --runroot "$DIR/run" --storage-driver vfs --cgroup-manager cgroupfs --runtime runc "$@"
}

# podman_configured: a configuration with no more files and processes than a container may have here.
podman_configured() {
    local files procs pids
    files=$(ulimit -Hn) procs=$(ulimit -Hu) pids=$(</proc/sys/kernel/pid_max)
    if [ "$procs" = unlimited ] || [ "$procs" -gt "$pids" ]; then procs=$pids; fi
    [ "$files" != unlimited ] || files=1048576
    cat >"$DIR/containers.conf" <<END
[containers]
default_ulimits = ["nofile=$files:$files", "nproc=$procs:$procs"]
log_driver = "k8s-file"
[engine]
events_logger = "none"
lock_type = "file"
tmp_dir = "$DIR/tmp"
volume_path = "$DIR/volumes"
END
}

# contained ARGUMENT...: flatten in a container, with $DIR/work at /work.
contained() { pod run --rm --network none -v "$DIR/work:/work" "$IMAGE" "$@"; }

# archive: an image of two layers, the newer of which deletes the older one's large file.
archive() {
    mkdir -p "$DIR/work" "$DIR"/{one,two,image}
    head -c 2000000 /dev/urandom >"$DIR/one/large"
    echo kept >"$DIR/one/kept"
    touch "$DIR/two/.wh.large"
    tar -C "$DIR/one" --owner=0 --group=0 -cf "$DIR/image/1.tar" .
    tar -C "$DIR/two" --owner=0 --group=0 -cf "$DIR/image/2.tar" .
    cat >"$DIR/image/config.json" <<END
{ "architecture": "amd64", "os": "linux", "config": {}, "rootfs": { "type": "layers", "diff_ids":
  ["sha256:$(sha256sum <"$DIR/image/1.tar" | cut -c 1-64)", "sha256:$(sha256sum <"$DIR/image/2.tar" | cut -c 1-64)"] } }
END
    echo '[{"Config":"config.json","RepoTags":["it:1"],"Layers":["1.tar","2.tar"]}]' >"$DIR/image/manifest.json"
    tar -C "$DIR/image" -cf "$DIR/work/it.tar" config.json 1.tar 2.tar manifest.json
    chmod 0777 "$DIR/work"
}

@test "the image has one layer, labels, and a user without privileges, and is small" {
    [ "$(pod inspect "$IMAGE" --format '{{len .RootFS.Layers}} {{.User}}')" = "1 65532:65532" ]
    [ "$(pod inspect "$IMAGE" --format '{{index .Labels "org.opencontainers.image.licenses"}}')" = Apache-2.0 ]
    [ "$(stat -c %s "$DIR/flatten.oci.tar")" -lt 8000000 ]
}

@test "the same tarball gives the same image" {
    hack/image "$(echo "$TARBALL"/*.tar.gz)" "$DIR/again.oci.tar"
    cmp "$DIR/flatten.oci.tar" "$DIR/again.oci.tar"
}

@test "a container of it flattens a mounted archive, as that user" {
    archive
    [[ $(contained --version) == "flatten $(basename "$TARBALL"/*.tar.gz | cut -d - -f 2)" ]]
    contained it.tar flat.tar
    contained verify it.tar flat.tar
    [ "$(stat -c %u "$DIR/work/flat.tar")" -eq 65532 ]
    [ "$(stat -c %s "$DIR/work/flat.tar")" -lt 100000 ]
}

@test "analyze in a container is a gate: exit status 4" {
    archive
    run contained analyze --max-wasted=1% it.tar
    [ "$status" -eq 4 ]
}

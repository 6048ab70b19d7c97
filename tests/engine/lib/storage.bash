# shellcheck shell=bash
# Images in the store of podman for flatten: load this after lib/flatten.

# shellcheck disable=SC2034  # for tests
FB_RUNS=$'shared\nshared\nfile' # what $FB_LAYERS prints

# storage_build COMMAND…: builds $FB_LAYERS with this podman.
storage_build() {
    local dir=$FB_DIR/context
    [ -z "$FB_REFUSED" ] || return 0
    mkdir -p "$dir" "$FB_DIR/oci"
    tar -C "$FB_DIR/rootfs" --sort=name --owner=0 --group=0 --numeric-owner -cf "$dir/rootfs.tar" .
    layers_capability "$dir/capable.tar"
    echo "odd name" >"$dir/spaced näme"
    layers_dockerfile >"$dir/Dockerfile"
    printf 'FROM scratch\nADD rootfs.tar /\nADD file /a\nADD file /b\n' >"$FB_DIR/oci/Dockerfile"
    cp "$dir/rootfs.tar" "$FB_DIR/oci/"
    echo content >"$FB_DIR/oci/file"
    chmod -R a+rX "$FB_DIR/oci" "$dir"
    if ! "$@" build --network=none --format docker --layers --tag "$FB_LAYERS" "$dir" >"$FB_DIR/build.log" 2>&1; then
        tail -n 20 "$FB_DIR/build.log"
        return 1
    fi
}

# fake_podman SHELL: puts a script before podman, for the flatten calls of this test.
fake_podman() {
    mkdir -p "$FB_DIR/out/fake"
    printf '#!/bin/bash\n%s\n' "$1" >"$FB_DIR/out/fake/podman"
    chmod 0755 "$FB_DIR/out/fake/podman"
}

# storage_flatten ARGS…: flatten with the private store of podman.
storage_flatten() {
    within env -u DOCKER_HOST PATH="$FB_DIR/out/fake:$PATH" CONTAINERS_CONF="$FB_DIR/containers.conf" \
        CONTAINERS_STORAGE_CONF="$FB_DIR/storage.conf" TMPDIR="$FB_DIR/tmp" "$FLATTEN" "$@" 3>&-
}

# storage_alone COMMAND…: runs it with that store, and without a daemon at Docker's usual socket.
storage_alone() {
    # shellcheck disable=SC2016
    within unshare --mount --propagation private sh -c '[ ! -S /run/docker.sock ] || mount --bind /dev/null /run/docker.sock
        exec "$@"' sh env -u DOCKER_HOST CONTAINERS_CONF="$FB_DIR/containers.conf" \
        CONTAINERS_STORAGE_CONF="$FB_DIR/storage.conf" TMPDIR="$FB_DIR/tmp" "$@" 3>&-
}

# storage_id NAME: prints the ID of the image in podman's store, or nothing.
storage_id() { podman_cli image inspect --format '{{.Id}}' "$1" 2>/dev/null || true; }

# storage_expect_tree A B: asserts equal trees of containers.
storage_expect_tree() {
    local image id
    for image in "$1" "$2"; do
        id=$(podman_cli create --network=none "$image" true)
        podman_cli export --output "$FB_DIR/out/$([ "$image" = "$1" ] && echo a || echo b).tar" "$id"
        podman_cli rm "$id" >/dev/null
    done
    python3 "$BATS_TEST_DIRNAME/lib/export_diff.py" "$FB_DIR/out/a.tar" "$FB_DIR/out/b.tar"
}

# storage_expect_same A B [LAYERS]: asserts equal trees of containers, and configurations; B has one layer, or LAYERS.
storage_expect_same() {
    storage_expect_tree "$1" "$2"
    expect_equal "$(storage_facts "$1")" "$(storage_facts "$2")"
    expect_equal "$(podman_cli image inspect --format '{{len .RootFS.Layers}}' "$2")" "${3-1}"
}

storage_facts() {
    podman_cli image inspect "$1" | gojq '.[0] | {Config, Healthcheck, Os, Architecture, Author, User, Created, ManifestType}'
}

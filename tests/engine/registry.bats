#!/usr/bin/env bats
# flatten between registries and engines: docker pushes, flatten squashes in the registry, docker and
# podman pull and run what came of it.

bats_require_minimum_version 1.5.0

load lib/common
load lib/image
load lib/policy
load lib/docker
load lib/lowlevel
load lib/podman
load lib/flatten
load ../cli/lib/registry

setup_file() {
    # The engines run their containers by runc: the shim has no part in this.
    FLATBED_RUNTIME=$(command -v runc || true)
    export FLATBED_RUNTIME
    fb_begin
    require_root
    require_flatten
    require_busybox
    require_tool "$DOCKER" "$DOCKERD" docker-registry skopeo podman runc jq python3
    policy_empty runc
    image_archive
    docker_start
    layers_build
    export FB_PODMAN_RUNTIME=$FLATBED_RUNTIME
    podman_start
    [ -z "$FB_REFUSED" ] || return 0
    registry_start "$FB_DIR/registry"
    export FB_REGISTRY=$REGISTRY
    docker_cli tag "$FB_LAYERS" "$FB_REGISTRY/lab/layers:1"
    docker_cli push "$FB_REGISTRY/lab/layers:1" >/dev/null
}

teardown_file() {
    registry_stop_all "$FB_DIR"
    podman_stop
    docker_stop
    fb_end
}

setup() {
    fb_gate
    mkdir -p "$FB_DIR/out"
}

teardown() {
    [ -z "$FB_REFUSED" ] || return 0
    rm -rf "$FB_DIR/out"
}

FB_RUNS=$'shared\nshared\nfile' # what $FB_LAYERS prints

# flat: the image, flattened in the registry, once.
flat() {
    skopeo inspect --tls-verify=false "docker://$FB_REGISTRY/lab/layers:flat" >/dev/null 2>&1 ||
        flatten --quiet "docker://$FB_REGISTRY/lab/layers:1" "docker://$FB_REGISTRY/lab/layers:flat"
}

@test "registry: what docker pushed is the daemon's image, to flatten too" {
    run flatten verify "docker://$FB_REGISTRY/lab/layers:1" "docker-daemon:$FB_LAYERS"
    expect_status 0
    expect_nothing_left
}

@test "registry: docker pulls and runs a flattened image, and shows the same" {
    flat
    run docker_cli pull --quiet "$FB_REGISTRY/lab/layers:flat"
    expect_status 0
    run docker_cli run --rm --network=none "$FB_REGISTRY/lab/layers:flat"
    expect_output "$FB_RUNS"
    run docker_cli inspect --format '{{len .RootFS.Layers}}' "$FB_REGISTRY/lab/layers:flat"
    expect_output 1
    expect_same_image "$FB_LAYERS" "$FB_REGISTRY/lab/layers:flat"
}

@test "registry: podman pulls and runs it" {
    flat
    run podman_cli pull --quiet --tls-verify=false "$FB_REGISTRY/lab/layers:flat"
    expect_status 0
    run podman_run --rm "$FB_REGISTRY/lab/layers:flat"
    expect_output "$FB_RUNS"
}

@test "registry: straight from the daemon, and straight back into it" {
    run flatten --quiet "$FB_LAYERS" "docker://$FB_REGISTRY/lab/pushed:1"
    expect_status 0
    run flatten --quiet "docker://$FB_REGISTRY/lab/pushed:1" docker-daemon:fb-back:1
    expect_status 0
    run docker_cli run --rm --network=none fb-back:1
    expect_output "$FB_RUNS"
    expect_nothing_left
}

@test "registry: podman loads an oci-archive" {
    run flatten --quiet "docker://$FB_REGISTRY/lab/layers:1" "oci-archive:$FB_DIR/out/flat.tar:fb-oci:1"
    expect_status 0
    run podman_cli pull --quiet "oci-archive:$FB_DIR/out/flat.tar"
    expect_status 0
    run podman_run --rm "${lines[-1]}"
    expect_output "$FB_RUNS"
}

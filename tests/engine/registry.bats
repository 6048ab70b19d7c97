#!/usr/bin/env bats
# flatten between registries and engines: docker pushes, flatten squashes in the registry, docker and
# podman pull and run the result.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker flatten podman
load ../cli/lib/wait
load ../cli/flatten/lib/registry

file_require() { require_tool docker-registry skopeo; }

file_ready() {
    registry_start "$FB_DIR/registry"
    export FB_REGISTRY=$REGISTRY
    docker_cli tag "$FB_LAYERS" "$FB_REGISTRY/lab/layers:1"
    docker_cli push "$FB_REGISTRY/lab/layers:1" >/dev/null
}

file_end() { registry_stop_all "$FB_DIR"; }

FB_RUNS=$'shared\nshared\nfile' # what $FB_LAYERS prints

# flat: flattens the image in the registry, once.
flat() {
    skopeo inspect --tls-verify=false "docker://$FB_REGISTRY/lab/layers:flat" >/dev/null 2>&1 ||
        flatten --quiet "docker://$FB_REGISTRY/lab/layers:1" "docker://$FB_REGISTRY/lab/layers:flat"
}

@test "registry: a pushed image flattens to the same image as that of the daemon" {
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

#!/usr/bin/env bats
# flatten with a dockerd that keeps images in containerd's store: an image's Id is its manifest's digest
# there, layers are blobs as they came, and what is loaded must be a whole OCI layout. Docker has such a store from 24.0 on;
# an older one keeps its graph driver, and all of this must hold there as well.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/common
load lib/image
load lib/policy
load lib/docker
load lib/flatten

setup_file() {
    # The engine runs its containers by runc: the shim has no part in this.
    FLATBED_RUNTIME=$(command -v runc || true)
    export FLATBED_RUNTIME FB_DOCKER_SNAPSHOTTER=true
    fb_begin
    require_root
    require_flatten
    require_busybox
    require_tool "$DOCKER" "$DOCKERD" containerd runc jq python3
    policy_empty runc
    image_archive
    docker_start
    layers_build
}

teardown_file() {
    docker_stop
    fb_end
}

setup() {
    fb_gate
    mkdir -p "$FB_DIR/out"
}

teardown() {
    [ -z "$FB_REFUSED" ] || return 0
    docker_remove_all
    rm -rf "$FB_DIR/out"
}

FB_RUNS=$'shared\nshared\nfile' # what $FB_LAYERS prints

@test "store: from Docker 24 on it is containerd's" {
    if docker_has_annotations; then # which came with the same version
        expect_equal "$(docker_store)" containerd
    else
        expect_equal "$(docker_store)" graph
    fi
}

@test "store: flatten NAME: the daemon has NAME:TAG-flat, which runs and shows the same" {
    run --separate-stderr flatten "$FB_LAYERS"
    expect_status 0
    expect_match 'layers became 1' "$stderr"
    run docker_cli run --rm --network=none "$FB_LAYERS-flat"
    expect_status 0
    expect_output "$FB_RUNS"
    expect_same_image "$FB_LAYERS" "$FB_LAYERS-flat"
    run flatten verify "$FB_LAYERS" "docker-daemon:$FB_LAYERS-flat"
    expect_status 0
    expect_nothing_left
}

@test "store: the Id that flatten prints is the daemon's" {
    run --separate-stderr flatten --quiet "$FB_LAYERS" docker-daemon:fb-id:1
    expect_status 0
    case $(docker_store) in
        containerd) expect_equal "$(docker_cli inspect --format '{{.Id}}' fb-id:1)" "${lines[1]}" ;;
        graph) expect_equal "$(docker_cli inspect --format '{{.Id}}' fb-id:1)" "${lines[0]}" ;;
    esac
}

@test "store: an image that was loaded compressed is flattened again, from its blobs" {
    local compression
    for compression in gzip zstd; do
        flatten --quiet --compression="$compression" --into=3 "$FB_LAYERS" "docker-daemon:fb-$compression:3" >/dev/null
        run docker_cli run --rm --network=none "fb-$compression:3"
        expect_output "$FB_RUNS"
        run flatten --quiet --verify "fb-$compression:3" "docker-daemon:fb-$compression:1"
        expect_status 0
        run docker_cli run --rm --network=none "fb-$compression:1"
        expect_output "$FB_RUNS"
        expect_same_image "$FB_LAYERS" "fb-$compression:1"
    done
    expect_nothing_left
}

@test "store: --keep-base shares the layers that stay" {
    run flatten --quiet --verify --keep-base=4 "$FB_LAYERS" docker-daemon:fb-kept:1
    expect_status 0
    expect_equal "$(docker_cli inspect fb-kept:1 | jq -c '.[0].RootFS.Layers[:4]')" \
        "$(docker_cli inspect "$FB_LAYERS" | jq -c '.[0].RootFS.Layers[:4]')"
    run docker_cli run --rm --network=none fb-kept:1
    expect_output "$FB_RUNS"
    expect_same_image "$FB_LAYERS" fb-kept:1 5
}

@test "store: daemon to OCI layout and back, and what docker saves and loads by itself" {
    run flatten --quiet "$FB_LAYERS" "oci:$FB_DIR/out/layout:v1"
    expect_status 0
    run flatten --quiet "oci:$FB_DIR/out/layout:v1" docker-daemon:fb-back:1
    expect_status 0
    expect_same_image "$FB_LAYERS" fb-back:1
    docker_cli save --output "$FB_DIR/out/saved.tar" fb-back:1
    run flatten verify "$FB_LAYERS" "$FB_DIR/out/saved.tar"
    expect_status 0
    run flatten --quiet "$FB_DIR/out/saved.tar" "docker-archive:$FB_DIR/out/flat.tar:fb-loaded:1"
    expect_status 0
    run docker_cli load --input "$FB_DIR/out/flat.tar"
    expect_output "Loaded image: fb-loaded:1"
    run docker_cli run --rm --network=none fb-loaded:1
    expect_output "$FB_RUNS"
}

@test "store: analyze reads the daemon's image" {
    run flatten analyze --json "$FB_LAYERS"
    expect_status 0
    expect_equal "$(jq '.images[0].layers | length' <<<"$output")" \
        "$(docker_cli inspect --format '{{len .RootFS.Layers}}' "$FB_LAYERS")"
}

@test "store: all images of an archive go into the daemon, which runs them" {
    loads_all
}

@test "store: killed at any moment, a name has its old image or the new one, whole" {
    killed_loading fb-killed:1 "" 12
    killed_loading fb-killed:2 "$FB_IMAGE" 12
}

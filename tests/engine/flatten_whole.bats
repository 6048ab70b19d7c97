#!/usr/bin/env bats
# A daemon with a graph driver: images after flatten was killed, and several images at once.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/frame
frame docker flatten

FB_RUNS=$'shared\nshared\nfile' # what $FB_LAYERS prints

@test "whole: after a kill at any moment, a name has its old image or the new one" {
    killed_loading fb-killed:1 "" 16
    killed_loading fb-killed:2 "$FB_IMAGE" 16
}

@test "whole: all images of an archive go into the daemon, which runs them" {
    loads_all
}

@test "whole: docker save of several, flattened, is loaded by docker load" {
    docker_cli tag "$FB_LAYERS" fb-alias:1
    docker_cli save --output "$FB_DIR/out/all.tar" "$FB_LAYERS" fb-alias:1 "$FB_IMAGE"
    run flatten --quiet --all-images "$FB_DIR/out/all.tar" "$FB_DIR/out/flat.tar"
    expect_status 0
    docker_cli rmi fb-alias:1
    run docker_cli load --input "$FB_DIR/out/flat.tar"
    expect_status 0
    expect_match "Loaded image: $FB_LAYERS"
    expect_match "Loaded image: fb-alias:1"
    expect_match "Loaded image: $FB_IMAGE"
    run docker_cli run --rm --network=none fb-alias:1
    expect_output "$FB_RUNS"
    expect_equal "$(docker_cli inspect fb-alias:1 | gojq '.[0].RootFS.Layers | length')" 1
}

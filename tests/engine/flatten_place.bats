#!/usr/bin/env bats
# An image of the Docker daemon, read where its layers lie: a mount of them instead of docker save.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker flatten

# save_layers: makes $FB_DIR/layers.tar, once.
save_layers() {
    [ -e "$FB_DIR/layers.tar" ] || docker_cli save --output "$FB_DIR/layers.tar" "$FB_LAYERS"
}

@test "place: the tree is that of docker save, the digest the same at each run, and nothing is in TMPDIR" {
    local once
    save_layers
    once=$(flatten_tight 1 --quiet "$FB_LAYERS" "oci:$FB_DIR/out/once:v1")
    expect_match '^sha256:[0-9a-f]+' "$once"
    expect_equal "$(flatten --quiet --threads=2 "$FB_LAYERS" "oci:$FB_DIR/out/twice:v1")" "$once"
    run flatten verify "oci:$FB_DIR/out/once:v1" "$FB_DIR/layers.tar"
    expect_status 0
    run flatten verify "$FB_LAYERS" "$FB_DIR/layers.tar"
    expect_status 0
}

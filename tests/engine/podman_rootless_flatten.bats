#!/usr/bin/env bats
# flatten with the store of rootless podman, as the user who owns it.

bats_require_minimum_version 1.5.0

load lib/frame
frame rootless
load lib/flatten
load lib/storage

file_require() { flatten_require; }

# flatbed-runtime has no part in this.
worker_runc() { as_worker podman --runtime runc "$@"; }

file_ready() {
    mkdir "$FB_DIR/out"
    storage_build worker_runc
}

# The user must be able to run the program and to write into the directory of results.
test_begin() {
    flatten_remove_all
    install -m 0755 "$FLATTEN" "$FB_DIR/bin/flatten"
    chown "$FB_UID:$FB_UID" "$FB_DIR/out"
}

test_end() { expect_equal "$(find "$FB_DIR/rootless" -maxdepth 1 -type f)" ""; }

worker_flatten() { as_worker "$FB_DIR/bin/flatten" "$@"; }

@test "rootless podman's store: an image becomes NAME:TAG-flat there, and runs" {
    run worker_flatten --verify "containers-storage:$FB_LAYERS"
    expect_status 0
    expect_match 'verified: the same tree'
    expect_equal "$(worker_runc run --rm --network=none "$FB_LAYERS-flat")" "$FB_RUNS"
    run worker_flatten verify -q "containers-storage:$FB_LAYERS" "containers-storage:$FB_LAYERS-flat"
    expect_status 0
}

@test "rootless podman's store: to a layout and back; an image that is not there" {
    worker_flatten -q "containers-storage:$FB_LAYERS" "oci:$FB_DIR/out/l:1"
    worker_flatten -q "oci:$FB_DIR/out/l:1" containers-storage:fb-back:1
    expect_equal "$(worker_runc run --rm --network=none fb-back:1)" "$FB_RUNS"
    run worker_flatten containers-storage:nosuch
    expect_status 2
    expect_match 'podman has no image nosuch'
}

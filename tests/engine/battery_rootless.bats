#!/usr/bin/env bats
# Variants of podman run by an ordinary user, under README's policy with the presets as shipped: battery/rootless.txt.

bats_require_minimum_version 1.5.0

load lib/frame
frame rootless battery

file_require() { require_tool python3 gojq; }

policy() { battery_policy; }

# The containers have several uids, and none of them is root of the host.
test_begin() {
    battery_files
    mkdir -p "$FB_SRV"/srv/{logs,cache}/"$FB_USER"
    chmod 1777 "$FB_SRV"/srv/{logs,cache} "$FB_SRV"/srv/{logs,cache}/"$FB_USER"
}

@test "podman without root: each variant is allowed or refused as the table says, and leaves nothing" {
    export -f worker_podman as_worker within
    export FB_USER FB_UID BATTERY_DIRECTORIES="/run/flatbed $FB_DIR/rootless"
    BATTERY_PARALLEL=1 battery_run rootless 0 worker_podman run --rm --cidfile '{id}' '{arguments}' '{after}'
    expect_equal "$(worker_podman ps --all --quiet)" ""
}

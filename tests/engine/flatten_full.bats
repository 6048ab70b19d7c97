#!/usr/bin/env bats
# A daemon whose disk is full: its state is on a small tmpfs.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/frame
frame docker
load lib/flatten

file_require() { flatten_require; }

# Called before the daemon starts.
policy() {
    policy_empty runc
    [ -d "$FB_DIR/docker" ] || { mkdir "$FB_DIR/docker" "$FB_DIR/out" && mount -t tmpfs -o size=48m none "$FB_DIR/docker"; }
}

# files_seen: how many files the daemon keeps of layers and images.
files_seen() { find "$FB_DIR/docker/overlay2" "$FB_DIR/docker/image" "$FB_DIR/docker/tmp" -xdev | wc -l; }

@test "full: a layer for which the daemon has no room leaves the old image, and nothing else" {
    local before files
    python3 "$BATS_TEST_DIRNAME/lib/large_image.py" "$FB_DIR/large.tar" 80
    docker_cli tag "$FB_IMAGE" fb-full:1
    before=$(docker_cli images --all --no-trunc | sort)
    files=$(files_seen)
    run flatten --quiet "$FB_DIR/large.tar" docker-daemon:fb-full:1
    expect_status 3
    expect_match 'importing the new layer into the daemon: the daemon says: .*no space left on device'
    expect_equal "$(docker_cli images --all --no-trunc | sort)" "$before"
    expect_equal "$(files_seen)" "$files"
    expect_nothing_left
    python3 "$BATS_TEST_DIRNAME/lib/large_image.py" "$FB_DIR/large.tar" 8
    run flatten --quiet "$FB_DIR/large.tar" docker-daemon:fb-full:1
    expect_status 0
    expect_equal "$(daemon_id fb-full:1)" "${lines[0]}"
}

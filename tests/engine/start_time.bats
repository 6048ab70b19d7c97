#!/usr/bin/env bats
# flatbed start-time on images in a real dockerd, and in a real containerd.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker containerd

file_require() {
    require_flatbed
    require_tool gojq python3 runc
    overlay_works || refuse "no overlay mounts here"
}

DEEP=flatbed-start:20

file_ready() {
    [ -z "$FB_REFUSED" ] || return 0
    [ "$(docker_cli info --format '{{.Driver}}')" = overlay2 ] || { refuse "no overlay2 here"; return 0; }
    python3 "$BATS_TEST_DIRNAME/lib/layers.py" "$FB_DIR/rootfs" "$FB_DIR/deep.tar" "$DEEP" 20
    docker_cli load --quiet --input "$FB_DIR/deep.tar" >/dev/null
    mkdir -p "$FB_DIR/context" "$FB_DIR/temporary"
}

# start ARG…: with the client of the test's daemon.
start() {
    run env DOCKER_HOST="unix://$FB_DIR/docker.sock" "$FLATBED" start-time --dir="$FB_DIR/temporary" \
        --policy="$FB_DIR/no-policy.json" --runs=2 "$@"
}

is_gone() { [ ! -e "$1" ]; }

nothing_stays() {
    local group
    [ -z "$(ls -A "$FB_DIR/temporary")" ]
    run ! grep -F "$FB_DIR/temporary" /proc/self/mountinfo
    find /sys/fs/cgroup -name 'flatbed-start-time*' >"$FB_DIR/groups"
    while read -r group; do
        wait_for is_gone "$group" # also of measurements by other tests
    done <"$FB_DIR/groups"
}

@test "docker: all roots of an image of 20 layers" {
    mkdir -p "$FB_DIR/cache"
    echo '{ "version": 1 }' >"$FB_DIR/no-policy.json"
    start --json --volume="$FB_DIR/cache:/cache" --limit=1000 "$DEEP" -- \
        sh -c 'ls -R /lib >/dev/null && [ "$(cat /lib/last)" = "layer 19 was the last" ] && [ ! -e /lib/f1 ]'
    expect_status 0
    gojq -e '.layers == 20 and [.times[].root] == ["overlay", "restacked", "caches"] and (.limit.exceeded | not)' <<<"$output"
    nothing_stays
}

@test "docker: beyond the limit, a failing command, and an image that does not exist" {
    echo '{ "version": 1 }' >"$FB_DIR/no-policy.json"
    start --limit=0.0001 "$DEEP" -- sh -c 'ls -R /lib'
    expect_status 4
    [[ $output =~ "is beyond the limit" ]]
    start "$DEEP" -- sh -c 'echo broken >&2; exit 3'
    expect_status 1
    [[ $output =~ broken.*"status 3" ]]
    start no-such-image:1 -- true
    expect_status 2
    [[ $output =~ "neither docker nor podman nor containerd has an image 'no-such-image:1'" ]]
    nothing_stays
}

own_ctr() { ctr --address "$FB_DIR/containerd.sock" --namespace lab "$@"; }

@test "containerd: an image by its name, of many layers and of one" {
    echo '{ "version": 1 }' >"$FB_DIR/no-policy.json"
    for layers in 1 20; do
        python3 "$BATS_TEST_DIRNAME/lib/layers.py" "$FB_DIR/rootfs" "$FB_DIR/there.tar" "flatbed-there:$layers" "$layers"
        own_ctr images import "$FB_DIR/there.tar" >/dev/null
        start --containerd="$FB_DIR/containerd.sock" --json "flatbed-there:$layers" -- \
            sh -c '[ ! -e /lib/last ] || [ "$(cat /lib/last)" = "layer 19 was the last" ]'
        expect_status 0
        gojq -e --argjson layers "$layers" '.layers == $layers' <<<"$output"
    done
    run own_ctr snapshots ls
    expect_status 0
    [[ $output != *View* ]]
    nothing_stays
}

@test "containerd: an image whose layers are not unpacked" {
    echo '{ "version": 1 }' >"$FB_DIR/no-policy.json"
    python3 "$BATS_TEST_DIRNAME/lib/layers.py" "$FB_DIR/rootfs" "$FB_DIR/packed.tar" "flatbed-packed:3" 3
    own_ctr images import --no-unpack "$FB_DIR/packed.tar" >/dev/null
    start --containerd="$FB_DIR/containerd.sock" docker.io/library/flatbed-packed:3 -- true
    expect_status 8
    [[ $output == *"has the image 'docker.io/library/flatbed-packed:3' in its namespace 'lab', but not its layers"* ]]
}

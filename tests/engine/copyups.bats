#!/usr/bin/env bats
# flatbed copyups on containers of real engines, running and stopped, against what the engine itself says of them.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker podman containerd

file_require() {
    require_flatbed
    require_tool gojq python3
    overlay_works || refuse "no overlay mounts here"
}

DEEP=flatbed-deep:1

file_ready() {
    python3 "$BATS_TEST_DIRNAME/lib/layers.py" "$FB_DIR/rootfs" "$FB_DIR/deep.tar" "docker.io/library/$DEEP" 8
    docker_cli load --quiet --input "$FB_DIR/deep.tar" >/dev/null
    podman_cli load --quiet --input "$FB_DIR/deep.tar" >/dev/null
    ctr_cli image import --snapshotter "$FB_SNAPSHOTTER" "$FB_DIR/deep.tar" >/dev/null
}

WORK='echo more >>/lib/f4; chmod 0700 /lib/f3; rm /lib/f6; mkdir /new; echo a >/new/a; echo b >/new/b
    mkdir -p /root/.cache/torch; head -c 300000 /dev/zero >/root/.cache/torch/model
    rm /lib/last; echo other >/lib/last; touch "/new/a b"'

# copyups WORD STORE: what is said of one container, as JSON.
copyups() { "$FLATBED" copyups "$1" --store="$2" --json | gojq -e '.containers[0]'; }

# Changes of `docker diff` by kind, of all that is no directory in the container: A new, C changed, D deleted.
changes_of() {
    local kind path
    while read -r kind path; do
        [ "$kind" = D ] || ! docker_cli exec "$1" test -d "$path" || continue
        echo "$kind"
    done < <(docker_cli diff "$1") | sort | uniq -c | awk '{ printf "%s%s ", $2, $1 }'
}

said() { gojq -r '"A\(.new.files) C\(.copied.files + .replaced.files) D\(.whiteouts) "' <<<"$1"; }

@test "docker: running and stopped, as docker diff has it, with the lines of the Dockerfile" {
    local said
    docker_run --detach --name box "$DEEP" sh -c "$WORK; echo ready; sleep 600" >/dev/null
    wait_for docker_logs_have box ready
    said=$(copyups box "$FB_DIR/docker")
    expect_equal "$(said "$said")" "$(changes_of box)"
    gojq -e '.engine == "docker" and .running and .image == "flatbed-deep:1" and .unread == 0' <<<"$said"
    gojq -e '.replaced.files == 1 and .copied.files == 2' <<<"$said"
    gojq -e '.files[] | select(.path == "/lib/f4") | .change == "copied" and .created_by == "layer 4"' <<<"$said"
    gojq -e '.largest[0].what == "PyTorch'"'"'s cache of models"' <<<"$said"
    expect_equal "$(gojq -r '.files[] | select(.path == "/lib/f4") | .layer' <<<"$said")" \
        "$(layer_of docker /lib/f4 "$said")"
    docker_cli stop -t 0 box
    expect_equal "$(said "$(copyups box "$FB_DIR/docker")")" "$(said "$said")"
    gojq -e '.running | not' <<<"$(copyups box "$FB_DIR/docker")"
    docker_cli rm box >/dev/null
    run "$FLATBED" copyups box --store="$FB_DIR/docker"
    expect_status 2
}

# layer_of ENGINE PATH JSON: the number of the first of the layers' directories that has the path.
layer_of() {
    local number directory
    while read -r number directory; do
        [ ! -e "$directory$2" ] || { echo "$number"; return; }
    done < <(gojq -r '.layers[] | "\(.layer) \(.directory)"' <<<"$3")
}

@test "podman: running and stopped, as podman diff has it" {
    local said wanted
    podman_run --detach --name box "$DEEP" sh -c "$WORK; echo ready; sleep 600" >/dev/null
    wait_for podman_logs_have box ready
    said=$(copyups box "$FB_DIR/podman/root")
    wanted=$(podman_cli diff box | awk '$2 ~ /^\/(lib\/(f[346]|last)|new\/.*|root\/.cache\/torch\/.*)$/ { print $1 }' |
        sort | uniq -c | awk '{ printf "%s%s ", $2, $1 }')
    # podman makes files and directories of its own at the start: mount points in /etc and /run.
    gojq -e '.engine == "podman" and .running and .copied.files == 2 and .replaced.files == 1 and .whiteouts == 1' <<<"$said"
    expect_equal "$wanted" "A4 C3 D1 "
    gojq -e '.files[] | select(.path == "/lib/f4") | .created_by == "layer 4"' <<<"$said"
    podman_cli stop -t 0 box
    gojq -e '(.running | not) and .copied.files == 2 and .replaced.files == 1' <<<"$(copyups box "$FB_DIR/podman/root")"
}

@test "containerd: a running task, by its mount, and a stopped one; Docker's containers are not listed twice" {
    export FB_IMAGE=$DEEP
    local said
    ctr_start c1 -- sh -c "$WORK; sleep 600"
    wait_for ctr_is c1 RUNNING
    wait_for has_copies c1
    "$FLATBED" copyups c1 --json | gojq -e '.containers | length == 1 and (.[0] | .engine == "containerd" and .running
        and .copied.files == 2 and .replaced.files == 1 and .new.files == 4 and .whiteouts == 1)'
    ctr_cli task kill --signal KILL c1
    wait_for ctr_is c1 STOPPED
    ctr_cli task rm c1
    # Only containerd knows the directories of a stopped container, and the image.
    said=$("$FLATBED" copyups c1 --containerd="$FB_DIR/containerd.sock" --json | gojq -e '.containers[0]')
    gojq -e '(.running | not) and .engine == "containerd" and .copied.files == 2 and .new.files == 4 and .whiteouts == 1
        and .image == "docker.io/library/flatbed-deep:1"' <<<"$said"
    gojq -e '.files[] | select(.path == "/lib/f4") | .change == "copied" and .created_by == "layer 4"' <<<"$said"
    ctr_cli container rm c1
    run "$FLATBED" copyups c1 --containerd="$FB_DIR/containerd.sock"
    expect_status 2
}

has_copies() { "$FLATBED" copyups "$1" --json | gojq -e '.containers[0] | .replaced.files == 1 and .new.files == 4'; }

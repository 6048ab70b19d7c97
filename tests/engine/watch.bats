#!/usr/bin/env bats
# flatbed watch on containers of real engines, against a storm of lookups with known numbers.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker podman

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
}

# /lib/sub is in 7 layers, /lib/opaque in one, as the layers below it are hidden.
STORM='mkfifo /go; echo ready; read -r x </go
    i=0; while [ $i -lt 500 ]; do [ -e /lib/sub/missing$i ]; i=$((i+1)); done
    i=0; while [ $i -lt 100 ]; do read -r x </lib/sub/g3; i=$((i+1)); done
    cd /lib/opaque; i=0; while [ $i -lt 7 ]; do [ -e missing$i ]; i=$((i+1)); done'

# watched NAME STORE CLI: lets the storm of a container go while it is watched, and prints the report.
watched() {
    local pid
    "$FLATBED" watch "$1" --store="$2" --json >"$FB_DIR/watch.out" 2>"$FB_DIR/watch.err" 3>&- &
    pid=$!
    wait_for grep -q watching "$FB_DIR/watch.err"
    # Detached: dockerd may never answer for an exec in a container that ends meanwhile.
    "$3" exec --detach "$1" sh -c 'echo >/go' >/dev/null
    wait "$pid" || { cat "$FB_DIR/watch.err" >&2; return 1; }
    cat "$FB_DIR/watch.out"
}

judge() {
    gojq -e '.by == "tracepoints" and .lost == 0' <<<"$1"
    gojq -e '.directories[] | select(.directory == "/lib/sub") |
        .misses == 500 and .opens == 100 and .lookups == 600 and .layers == 7 and .probes == 4200' <<<"$1"
    gojq -e '.directories[] | select(.directory == "/lib/opaque") | .misses == 7 and .layers == 1' <<<"$1"
    gojq -e '.programs[] | select(.program == "sh") | .misses >= 507' <<<"$1"
}

@test "docker: a storm by directory and program, exactly, and its probes" {
    docker_run --detach --name box "$DEEP" sh -c "$STORM" >/dev/null
    wait_for docker_logs_have box ready
    judge "$(watched box "$FB_DIR/docker" docker_cli)"
    run "$FLATBED" watch box --store="$FB_DIR/docker" --for=1
    expect_status 2
}

@test "docker: with the host's pid namespace" {
    docker_run --detach --pid=host --name box "$DEEP" sh -c "$STORM" >/dev/null
    wait_for docker_logs_have box ready
    judge "$(watched box "$FB_DIR/docker" docker_cli)"
}

@test "podman: a storm by directory and program, exactly, and its probes" {
    podman_run --detach --name box "$DEEP" sh -c "$STORM" >/dev/null
    wait_for podman_logs_have box ready
    judge "$(watched box "$FB_DIR/podman/root" podman_cli)"
}

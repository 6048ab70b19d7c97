#!/usr/bin/env bats
# flatbed monitor on containers of real engines: one alert for each that writes too much, cleared with the container.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker podman

file_require() {
    require_flatbed
    require_tool gojq
    overlay_works || refuse "no overlay mounts here"
}

file_end() { rm -f "/run/flatbed/monitor/$(sed 's,/,%2F,g' <<<"$FB_DIR/alerts.json")"; }

MONITOR_IN=()

test_begin() {
    rm -f "$FB_DIR/alerts.jsonl"
    alerts '"upper_bytes":"1m"'
}

# alerts MEMBERS: writes the policy.
alerts() {
    printf '{"version":1,"audit":{"file":"%s","alerts":{%s}}}' "$FB_DIR/alerts.jsonl" "$1" >"$FB_DIR/alerts.json"
    chmod 0644 "$FB_DIR/alerts.json"
}

monitor() { DOCKER_HOST=unix://$FB_DIR/docker.sock "${MONITOR_IN[@]}" "$FLATBED" monitor --policy="$FB_DIR/alerts.json" --store="$1"; }

# verdicts NAME: the lines of the audit about the container, in their order.
verdicts() { gojq -r --arg name "$1" 'select(.name == $name) | "\(.engine) \(.verdict)"' "$FB_DIR/alerts.jsonl" | tr '\n' ' '; }

WRITE='head -c 3000000 /dev/zero >/file; echo ready; sleep 600'

@test "docker: a container that writes is an alert once, and none when it is removed" {
    docker_run --detach --name quiet "$FB_IMAGE" sleep 600 >/dev/null
    docker_run --detach --name alerted "$FB_IMAGE" sh -c "$WRITE" >/dev/null
    wait_for docker_logs_have alerted ready
    monitor "$FB_DIR/docker"
    monitor "$FB_DIR/docker"
    expect_equal "$(verdicts alerted)" "docker alert "
    expect_equal "$(verdicts quiet)" ""
    docker_cli rm -f alerted >/dev/null
    monitor "$FB_DIR/docker"
    monitor "$FB_DIR/docker"
    expect_equal "$(verdicts alerted)" "docker alert docker cleared "
}

@test "podman: a container that writes is an alert once, and none when it is removed" {
    podman_run --detach --name alerted "$FB_IMAGE" sh -c "$WRITE" >/dev/null
    wait_for podman_logs_have alerted ready
    monitor "$FB_DIR/podman/root"
    monitor "$FB_DIR/podman/root"
    expect_equal "$(verdicts alerted)" "podman alert "
    podman_cli rm -f -t 0 alerted >/dev/null
    monitor "$FB_DIR/podman/root"
    expect_equal "$(verdicts alerted)" "podman alert podman cleared "
}

# A container that is ready when /go is there: it says so in its log, and by a file.
GATE='until test -e /go; do sleep 0.1; done; echo serving on port 80; touch /ready; sleep 600'

# slow_start ENGINE STORE: the start of the container "slow" is an alert until the gate is open.
slow_start() {
    sleep 2.1
    monitor "$2"
    expect_equal "$(verdicts slow)" "$1 alert "
    monitor "$2"
    expect_equal "$(verdicts slow)" "$1 alert "
    "$1_cli" exec slow touch /go
    wait_for is_over "$2"
    monitor "$2"
    expect_equal "$(verdicts slow)" "$1 alert $1 cleared "
}

is_over() { monitor "$1" && verdicts slow | grep -q cleared; }

@test "docker: a start is slow until a line of the log matches" {
    alerts '"start_seconds":1,"ready":{"log":"^serving on port [0-9]+$"}'
    docker_run --detach --name slow "$FB_IMAGE" sh -c "$GATE" >/dev/null
    slow_start docker "$FB_DIR/docker"
    run gojq -rs 'last.say' "$FB_DIR/alerts.jsonl"
    expect_match 'docker container slow: its start took [0-9]+ s, the limit is 1 s'
}

@test "docker: a start is slow until a health check succeeds" {
    alerts '"start_seconds":1,"ready":"health"'
    docker_run --detach --name none "$FB_IMAGE" sleep 600 >/dev/null
    docker_run --detach --name slow --health-cmd 'test -e /ready' --health-interval 1s "$FB_IMAGE" sh -c "$GATE" >/dev/null
    slow_start docker "$FB_DIR/docker"
    expect_equal "$(verdicts none)" ""
}

@test "podman: a start is slow until a file is there, and one that the image has does not count" {
    alerts '"start_seconds":1,"ready":{"file":"/ready"}'
    podman_run --detach --name slow "$FB_IMAGE" sh -c "$GATE" >/dev/null
    podman_run --detach --name bin "$FB_IMAGE" sleep 600 >/dev/null
    slow_start podman "$FB_DIR/podman/root"
    expect_equal "$(verdicts bin)" "podman alert "
    alerts '"start_seconds":1,"ready":{"file":"/bin/sh"}'
    monitor "$FB_DIR/podman/root"
    expect_equal "$(verdicts bin)" "podman alert "
}

@test "podman: a start is slow until a line of the log matches" {
    alerts '"start_seconds":1,"ready":{"log":"port"}'
    podman_run --detach --name slow "$FB_IMAGE" sh -c "$GATE" >/dev/null
    slow_start podman "$FB_DIR/podman/root"
}

# journal: a mount namespace in which systemd's journal runs; podman and flatbed are called in it.
journal() {
    unshare --mount --propagation private sh -c 'mount -t tmpfs -o mode=0755 none /run/systemd && mkdir -p /run/log &&
        mount -t tmpfs -o mode=0755 none /run/log && exec /lib/systemd/systemd-journald' >"$FB_DIR/journald.log" 2>&1 3>&- &
    JOURNAL=$!
    MONITOR_IN=(nsenter --mount="/proc/$JOURNAL/ns/mnt")
    # shellcheck disable=SC2034  # podman_cli uses it
    PODMAN_IN=("${MONITOR_IN[@]}")
    wait_for "${MONITOR_IN[@]}" test -S /run/systemd/journal/socket
}

test_end() { [ -z "${JOURNAL-}" ] || kill "$JOURNAL"; }

@test "podman: a start is slow until a line in the journal matches" {
    alerts '"start_seconds":1,"ready":{"log":"^serving on port [0-9]+$"}'
    journal
    podman_run --detach --log-driver journald --name slow "$FB_IMAGE" sh -c "echo loading; $GATE" >/dev/null
    slow_start podman "$FB_DIR/podman/root"
}

#!/usr/bin/env bats
# flatbed monitor on containers of real engines: one alert for each that writes too much, cleared with the container.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker podman

file_require() {
    require_flatbed
    require_tool jq
    overlay_works || refuse "no overlay mounts here"
}

file_end() { rm -f "/run/flatbed/monitor/$(sed 's,/,%2F,g' <<<"$FB_DIR/alerts.json")"; }

test_begin() {
    rm -f "$FB_DIR/alerts.jsonl"
    printf '{"version":1,"audit":{"file":"%s","alerts":{"upper_bytes":"1m"}}}' "$FB_DIR/alerts.jsonl" >"$FB_DIR/alerts.json"
    chmod 0644 "$FB_DIR/alerts.json"
}

monitor() { "$FLATBED" monitor --policy="$FB_DIR/alerts.json" --store="$1"; }

# verdicts NAME: the lines of the audit about the container, in their order.
verdicts() { jq -r --arg name "$1" 'select(.name == $name) | "\(.engine) \(.verdict)"' "$FB_DIR/alerts.jsonl" | tr '\n' ' '; }

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

#!/usr/bin/env bats
# The policy under podman --device VENDOR/CLASS=NAME: podman reads a CDI specification, and gives the container its nodes,
# mounts and hooks before flatbed-runtime. The specification is handmade; the nodes have numbers of NVIDIA's driver.

bats_require_minimum_version 1.5.0

load lib/frame
frame podman

file_require() { require_tool crun gojq mknod; }

policy() {
    policy_write <<END
{
  "version": 1,
  "runtime": { "paths": ["crun"] },
  "gpus": { "max": 1, "devices": ["0-1"] },
  "binds": { "default": "deny", "rules": [ { "path": "$FB_DIR/podman", "access": "allow" } ] },
  "security": { "devices": { "allow": [] }, "hooks": "deny" }
}
END
}

# node NAME MINOR: a CDI device with the node of a GPU, which is made.
node() {
    mknod "$FB_SRV/nvidia$2" c 195 "$2"
    printf '  { "name": "%s", "containerEdits": { "deviceNodes": [\n    { "path": "/dev/nvidia%s", "hostPath": "%s", "type": "c", "major": 195, "minor": %s } ] } }' \
        "$1" "$2" "$FB_SRV/nvidia$2" "$2"
}

test_begin() {
    SPEC=/run/cdi/flatbed-test.json
    mkdir -p /run/cdi "$FB_SRV/driver"
    echo "driver text" >"$FB_SRV/driver/library"
    rm -f "$FB_SRV"/nvidia[0-9]
    { # hostPath needs 0.5.0; podman 4.3 knows no later one
        printf '{ "cdiVersion": "0.5.0", "kind": "flatbed.test/gpu", "devices": [\n'
        node 0 0
        printf ',\n'
        node 1 1
        printf ',\n'
        node 5 5
        printf ' ],\n  "containerEdits": {\n'
        printf '    "mounts": [ { "hostPath": "%s", "containerPath": "/driver", "options": ["ro", "nosuid", "nodev", "bind"] } ],\n' "$FB_SRV/driver"
        printf '    "hooks": [ { "hookName": "createContainer", "path": "%s", "args": ["true", "flatbed"] } ] } }\n' "$(readlink -f "$(type -P true)")"
    } >"$SPEC"
    gojq . "$SPEC" >/dev/null
}

test_end() {
    rm -f /run/cdi/flatbed-test.json
    rmdir --ignore-fail-on-non-empty /run/cdi 2>/dev/null || true
}

# refuses REGEX ARGS…
refuses() {
    local tells=$1
    shift
    run podman_run --rm "$@" "$FB_IMAGE" true
    expect_failure
    expect_match "$tells"
}

@test "podman: a device of a CDI specification comes with its mounts and hooks" {
    run podman_run --rm --device flatbed.test/gpu=0 "$FB_IMAGE" sh -c 'cat /driver/library; ls -l /dev; ! touch /driver/new'
    expect_status 0
    expect_match 'driver text'
    expect_match '195, +0 .*nvidia0'
    expect_match 'Read-only file system'
}

@test "podman: GPUs of a CDI specification are counted" {
    refuses 'gpus.max: the container would have 2 GPUs \(0, 1\)' --device flatbed.test/gpu=0 --device flatbed.test/gpu=1
    refuses 'gpus.devices: the GPU (5|/dev/nvidia5) is not allowed' --device flatbed.test/gpu=5
    refuses 'gpus.devices: the GPU (5|/dev/nvidia5) is not allowed' --device "$FB_SRV/nvidia5:/dev/x"
    refuses 'gpus.all: .*all nodes of NVIDIA' --device-cgroup-rule 'c 195:* rwm'
}

@test "podman: what a CDI specification offers is not offered elsewhere" {
    run podman_run --rm -v "$FB_SRV/driver:/driver:ro" "$FB_IMAGE" cat /driver/library
    expect_status 0
    refuses "$FB_SRV/driver is not allowed" -v "$FB_SRV/driver:/driver"
    refuses "$FB_SRV/driver is not allowed" -v "$FB_SRV/driver:/mine:ro"
    chmod 0666 "$SPEC"
    refuses "$FB_SRV/driver is not allowed" --device flatbed.test/gpu=0
}

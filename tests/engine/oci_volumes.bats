#!/usr/bin/env bats
# A volume from a registry: podman's container reads the file of a model that was pushed to a registry on loopback.

bats_require_minimum_version 1.5.0

load lib/frame
load ../cli/lib/wait
load ../cli/flatten/lib/registry
frame podman

file_require() { require_tool docker-registry python3; }

policy() {
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["crun", "runc"] },
  "volumes": { "models": { "source": "oci://${REGISTRY-registry.lab}/models/{name}:stable", "target": "/models/{name}",
    "stage": { "cache": "$FB_SRV/stage", "wait": 300 } } } }
END
}

file_ready() {
    registry_start "$FB_DIR/registry"
    export REGISTRY
    python3 -B "$BATS_TEST_DIRNAME/../cli/shim/lib/push_artifact.py" "$REGISTRY/models/llama-7b:stable" model weights=seven
}

file_end() { registry_stop_all "$FB_DIR"; }

@test "podman: a container reads a model from a registry, and cannot write to it" {
    run podman_run --annotation flatbed.models=llama-7b "$FB_IMAGE" sh -c 'cat /models/llama-7b/weights; echo x >/models/llama-7b/x'
    expect_status 1
    expect_match seven
    expect_match "Read-only file system"
}

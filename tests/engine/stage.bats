#!/usr/bin/env bats
# Staged volumes under a real dockerd: a container gets the copy of its source, read-only.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker

policy() {
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["runc"] }, "audit": { "file": "$FB_DIR/audit.jsonl" },
  "volumes": { "data": { "source": "$FB_SRV/data/{name}", "target": "/data/{name}",
                         "stage": { "cache": "$FB_DIR/stage", "free": "1%", "wait": 60 } } } }
END
}

staged() { docker_run --rm --user 1234:1234 -v /dev/null:/run/flatbed/request/data/imagenet "$@"; }

@test "docker: the container gets the copy, read-only, and it is not evicted while the container runs" {
    local tree
    run staged "$FB_IMAGE" sh -c 'cat /data/imagenet/hello; touch /data/imagenet/new; grep " /data/imagenet " /proc/mounts'
    expect_status 0
    expect_match 'imagenet text'
    expect_match 'Read-only file system'
    expect_match ' ro,nosuid,nodev'
    grep -q '"stage":"hit"' "$FB_DIR/audit.jsonl"
    tree=$(echo "$FB_DIR"/stage/*/tree)
    # Only the copy has this: it is what the next container sees.
    echo copy >"$tree/only-here"
    run staged "$FB_IMAGE" ls /data/imagenet
    expect_match 'only-here'
    docker_run -d --name "$ID" --user 1234:1234 -v /dev/null:/run/flatbed/request/data/imagenet "$FB_IMAGE" sleep 600
    run within "$FLATBED" stage --policy "$FB_POLICY" --drop data=imagenet
    expect_failure
    expect_match 'a container has it mounted'
    run docker_cli exec "$ID" cat /data/imagenet/hello
    expect_status 0
}

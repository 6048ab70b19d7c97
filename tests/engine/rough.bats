#!/usr/bin/env bats
# flatbed-runtime before real runtimes in unusual places: stacked on itself and on a
# wrapper that refuses unknown members, under a squashed root, and for many containers at once.

bats_require_minimum_version 1.5.0

load lib/frame
frame bundle

file_require() { require_tool jq python3 setpriv; }

policy() { policy_base runc; }

test_begin() {
    DATA='{"flatbed.data":"imagenet"}'
    SHOW='cat /workspace/data/imagenet/hello'
}

# ------------------------------------------------------------------ stacked

# A policy that makes every kind of edit: mounts, variables, capabilities, a filter, options, sizes
# and limits; with a profile, and an audit.
policy_everything() {
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$1"] },
  "volumes": {
    "site": { "source": "$FB_SRV/site", "target": "/workspace/site", "access": "ro", "always": true },
    "logs": { "source": "$FB_SRV/logs/{container}", "target": "/workspace/logs", "access": "rw", "always": true,
              "create": {}, "env": { "LOGS": "{target}" } },
    "home": { "source": "$FB_SRV/home/1234", "target": "/workspace/home", "access": "rw", "always": true,
              "options": ["noexec"] },
    "data": { "source": "$FB_SRV/data/{name}", "target": "/workspace/data/{name}", "env": { "DATA": "{target}" } }
  },
  "binds": { "default": "deny", "rules": [ { "path": "$FB_SRV", "access": "ro", "options": ["nosuid"] } ] },
  "security": { "capabilities": { "drop": ["NET_RAW"] }, "no_new_privileges": true,
                "seccomp": { "require": true, "profile": "$FB_DIR/profile.json" } },
  "tuning": { "shm_size": "128m", "memlock": "4m", "nofile": 2048, "stack": "16m", "threads": true, "workers": 3 },
  "profiles": [ { "name": "everybody", "match": { "uid": ["0-4294967294"] }, "tuning": { "workers": 2 } } ],
  "audit": { "file": "$FB_DIR/audit.jsonl", "metrics": "$FB_DIR/flatbed.prom" } }
END
    echo '{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_X86_64","SCMP_ARCH_AARCH64"],
           "syscalls":[{"names":["swapon"],"action":"SCMP_ACT_ERRNO","errnoRet":1}]}' >"$FB_DIR/profile.json"
}

# A bundle with every kind of request.
bundle_asking() {
    local bundle
    bundle=$(bundle_make asking "$DATA" 'cat /workspace/*/hello /workspace/data/*/hello; echo $LOGS $DATA
        echo limit $(ulimit -n), $FLATBED_WORKERS workers; echo x >/x/new')
    bundle_edit "$bundle" --arg s "$FB_SRV/data/coco-2017" '.mounts += [
        {destination: "/x", type: "bind", source: $s, options: ["rbind", "rw"]},
        {destination: "/run/flatbed/request/data/coco-2017", type: "bind", source: "/dev/null", options: ["bind"]}]'
    echo "$bundle"
}

# asking_answered: checks the output of the container of bundle_asking, the same for every stack.
asking_answered() {
    run shim run --bundle "$(bundle_asking)" "$ID"
    expect_match 'site text'
    expect_match 'imagenet text'
    expect_match '/workspace/logs /workspace/data/'
    expect_match 'limit 2048, 2 workers'
    expect_match "/x/new: Read-only file system"
    expect_no_match 'strict'
}

strict_wrapper() {
    printf '#!/bin/sh\nSTRICT_RUNTIME=%s exec python3 %s "$@"\n' "$(command -v "$1")" \
        "$BATS_TEST_DIRNAME/lib/strict_runtime.py" >"$FB_DIR/bin/strict"
    chmod 0755 "$FB_DIR/bin/strict"
}

@test "stacked: on a wrapper that refuses unknown members, over runc" {
    strict_wrapper runc
    policy_everything "$FB_DIR/bin/strict"
    asking_answered
}

@test "stacked: on a wrapper that refuses unknown members, over crun" {
    strict_wrapper crun
    policy_everything "$FB_DIR/bin/strict"
    asking_answered
}

@test "stacked: that wrapper refuses, and reports it itself" {
    local bundle
    strict_wrapper runc
    policy_everything "$FB_DIR/bin/strict"
    bundle=$(bundle_asking)
    bundle_edit "$bundle" '.mounts[0].colour = "red"'
    run shim run --bundle "$bundle" "$ID"
    expect_status 1
    expect_output "strict: config.mounts[0]: colour is not known"
}

# inner JQ: puts another flatbed-runtime, with that policy, behind the first. jq keeps the
# order of volumes, and so that of their mounts.
inner() {
    jq "$1" "$FB_POLICY" >"$FB_DIR/inner.json"
    printf '#!/bin/sh\nexec "%s" "--flatbed-policy=%s" "$@"\n' "$FLATBED_RUNTIME" "$FB_DIR/inner.json" \
        >"$FB_DIR/bin/inner"
    chmod 0755 "$FB_DIR/bin/inner"
    jq --arg path "$FB_DIR/bin/inner" '.runtime.paths = [$path]' "$FB_POLICY" >"$FB_DIR/outer.json"
    policy_write <"$FB_DIR/outer.json"
}

@test "stacked: two with one policy give the same result as one, down to a strict wrapper" {
    local once bundle
    strict_wrapper runc
    policy_everything "$FB_DIR/bin/strict"
    bundle=$(bundle_asking)
    run shim run --bundle "$bundle" "$ID"
    once=$(gojq 'del(.mounts[] | select(.destination == "/workspace/logs"))' "$bundle/config.json")
    inner .
    ID=$ID-twice
    asking_answered
    expect_equal "$(gojq 'del(.mounts[] | select(.destination == "/workspace/logs"))' "$bundle/config.json")" "$once"
}

@test "stacked: with two policies, each adds its volumes, and exec has the variables of both" {
    policy_everything runc
    inner '.volumes |= {site, logs} | .requests = []'
    gojq '.volumes |= {data, home}' "$FB_POLICY" >"$FB_DIR/outer.json"
    policy_write <"$FB_DIR/outer.json"
    local bundle
    bundle=$(bundle_make two "$DATA" 'cat /workspace/site/hello /workspace/data/imagenet/hello; sleep 600')
    shim_create "$FB_DIR/two.log" --bundle "$bundle" "$ID"
    shim start "$ID"
    wait_for grep -q "imagenet text" "$FB_DIR/two.log"
    run cat "$FB_DIR/two.log"
    expect_output $'site text\nimagenet text'
    gojq '.process | .args = ["sh", "-c", "echo $LOGS $DATA"] | .env |= map(select(startswith("PATH=")))' "$bundle/config.json" >"$FB_DIR/process.json"
    run shim exec --process "$FB_DIR/process.json" "$ID"
    shim kill "$ID" KILL
    wait_for shim_is "$ID" stopped
    shim delete "$ID"
    expect_output '/workspace/logs /workspace/data/imagenet'
}

# ------------------------------------------------------------------ squashed

@test "crun: a root who may not search the user's directory mounts it for him" {
    local bundle caps=-dac_override,-dac_read_search,-fowner,-chown
    policy_home crun
    chmod 0700 "$FB_SRV/home/1234"
    bundle=$(bundle_make squashed null 'echo mine >/work/out')
    # Runs without cgroups, which such a root may not make.
    bundle_edit "$bundle" '.process.user = {uid: 1234, gid: 1234} | del(.linux.resources)'
    run within setpriv --bounding-set "$caps" --inh-caps "$caps" "$FLATBED_RUNTIME" "--flatbed-policy=$FB_POLICY" \
        --cgroup-manager=disabled --root "$FB_DIR/state" run --bundle "$bundle" "$ID"
    expect_status 0
    expect_equal "$(stat -c '%a %u:%g' "$FB_SRV/home/1234/work") $(cat "$FB_SRV/home/1234/work/out")" "700 1234:1234 mine"
}

# ------------------------------------------------------------------ many at once

@test "runc: forty containers at once, each with its own data" {
    local i count=40
    bundle_make many "$DATA" "$SHOW >/workspace/logs/out" >/dev/null
    for ((i = 0; i < count; i++)); do
        mkdir "$FB_DIR/bundles/$i"
        gojq --arg root "$FB_DIR/bundles/many/rootfs" '.root.path = $root' "$FB_DIR/bundles/many/config.json" \
            >"$FB_DIR/bundles/$i/config.json"
    done
    # shellcheck disable=SC2016
    run within sh -c 'seq 0 $(($1 - 1)) | xargs -P 8 -I @@ "$2" "--flatbed-policy=$3" --root "$4/state" \
        run --bundle "$4/bundles/@@" "$5-@@"' sh "$count" "$FLATBED_RUNTIME" "$FB_POLICY" "$FB_DIR" "$ID"
    expect_status 0
    expect_output ""
    expect_equal "$(cat "$FB_SRV/logs/$ID"-*/out | sort | uniq -c | tr -s ' ')" " $count imagenet text"
}

#!/usr/bin/env bats
# Containers of Slurm's jobs (srun --container) through flatbed-runtime: volumes, refusals, a record that names the job, and
# a prolog that copies data first.

bats_require_minimum_version 1.5.0

load lib/frame
frame slurm

policy() {
    policy_write <<EOF
{
  "version": 1,
  "runtime": { "paths": ["runc"] },
  "volumes": {
    "data": { "source": "$FB_SRV/data/{name}", "target": "/workspace/data/{name}", "names": ["imagenet"],
              "stage": { "cache": "$FB_DIR/cache" } },
    "work": { "source": "$FB_SRV/home/{uid}/work", "target": "/work", "access": "rw", "always": true,
              "create": { "mode": "0700" } }
  },
  "audit": { "syslog": true }
}
EOF
}

test_begin() {
    policy
    mkdir "$FB_SRV/home/$FB_UID"
    chown "$FB_UID:$FB_UID" "$FB_SRV/home/$FB_UID"
    chmod 0755 "$FB_SRV" "$FB_SRV/home"
    install -D -m 0644 "$FB_POLICY" "$FB_DIR/etc/flatbed/policy.json"
}

job() { run worker srun --container="$1" "${@:2}"; }

# shellcheck disable=SC2154  # status and output are set by bats' run

@test "slurm: a job's container gets the volumes of its user" {
    job "$(slurm_bundle '{"flatbed.data":"imagenet"}')" /bin/sh -c 'cat /workspace/data/imagenet/hello; echo mine >/work/f'
    expect_status 0
    expect_match 'imagenet text'
    expect_equal "$(stat -c '%u %a' "$FB_SRV/home/$FB_UID/work") $(cat "$FB_SRV/home/$FB_UID/work/f")" "$FB_UID 700 mine"
}

@test "slurm: a job is refused what the policy denies, and its output says why" {
    job "$(slurm_bundle '{"flatbed.data":"secret"}')" /bin/true
    expect_failure
    expect_match "'secret' is not offered"
    gojq '.binds = { default: "deny" }' "$FB_POLICY" >"$FB_DIR/new" && cp "$FB_DIR/new" "$FB_POLICY"
    bundle=$(slurm_bundle '{}')
    gojq '.mounts += [{"destination": "/host", "type": "bind", "source": "/srv", "options": ["rbind"]}]' "$bundle/config.json" >"$FB_DIR/new"
    cp "$FB_DIR/new" "$bundle/config.json"
    job "$bundle" /bin/true
    expect_failure
    expect_match '/srv is not allowed'
}

@test "slurm: the record of a decision names node, user, job, step and task" {
    : >"$FB_DIR/messages"
    job "$(slurm_bundle '{}')" /bin/true
    expect_status 0
    wait_for test -s "$FB_DIR/messages"
    run grep -oE "\"container\":\"node1\.$FB_USER\.[0-9]+\.0\.0\"" "$FB_DIR/messages"
    expect_status 0
}

staged() { "$FLATBED" stage --policy="$FB_POLICY" --status --json | gojq -e "$1"; }

@test "slurm: the prolog of docs/slurm.md copies the data, and no missing source keeps a job from starting" {
    rm -rf "$FB_DIR/cache"
    run worker srun true
    expect_status 0
    wait_for staged '[.. | objects | select(.state? == "staged")] | length == 1'
    mv "$FB_SRV/data/imagenet" "$FB_SRV/data/gone"
    run worker srun true
    expect_status 0
}

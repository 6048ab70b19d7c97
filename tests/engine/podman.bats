#!/usr/bin/env bats
# flatbed-runtime under podman, over crun and over runc. podman treats a runtime by its file name:
# one named exactly "runc" or "crun" gets --log and --log-format, and its whole log is read as ONE object.

bats_require_minimum_version 1.5.0

load lib/frame
frame podman

file_require() { require_tool crun runc gojq; }

policy() { policy_base crun; }

# shellcheck disable=SC2030,SC2031  # each test is a process of its own

# ------------------------------------------------------------------ volumes

# sees_data RUNTIME: checks a data set over that low-level runtime.
sees_data() {
    policy_base "$1"
    run podman_run --rm --annotation flatbed.data=imagenet "$FB_IMAGE" \
        cat /workspace/site/hello /workspace/data/imagenet/hello
    expect_status 0
    expect_output $'site text\nimagenet text'
    run podman_run --rm --annotation flatbed.data=imagenet "$FB_IMAGE" touch /workspace/data/imagenet/new
    expect_failure
    [ ! -e "$FB_SRV/data/imagenet/new" ]
}

@test "podman: an annotation mounts a data set, over crun" { sees_data crun; }

@test "podman: an annotation mounts a data set, over runc" { sees_data runc; }

@test "podman: the same when the runtime is named crun" {
    FB_PODMAN_RUNTIME=crun
    sees_data crun
}

@test "podman: the same when the runtime is named runc" {
    FB_PODMAN_RUNTIME=runc
    sees_data runc
}

@test "podman: without an annotation there is no data set" {
    run podman_run --rm "$FB_IMAGE" ls /workspace
    expect_status 0
    expect_output $'logs\nsite'
}

# podman adds the flag to create and start, but not to the "delete" of its clean-up process, which then
# has no policy to read; if that delete fails, podman (without --rm) waits for 20 seconds.
# A wrapper in containers.conf is the supported installation.
@test "podman: --runtime-flag passes an option to create without a wrapper" {
    export FB_PODMAN_RUNTIME=$FLATBED_RUNTIME
    run podman_cli --runtime-flag "flatbed-policy=$FB_POLICY" run --rm --cidfile "$FB_DIR/cid" --network=none \
        --annotation flatbed.data=imagenet "$FB_IMAGE" cat /workspace/data/imagenet/hello
    expect_status 0
    expect_output "imagenet text"
    within crun delete --force "$(cat "$FB_DIR/cid")" 2>/dev/null || true
}

@test "podman: files that a user's container writes are owned by that user on the host" {
    policy_home crun
    run podman_run --rm --user 1234:1234 "$FB_IMAGE" sh -c 'echo mine >/work/out'
    expect_status 0
    expect_equal "$(stat -c '%a %u:%g' "$FB_SRV/home/1234/work")" "700 1234:1234"
    expect_equal "$(stat -c '%u:%g' "$FB_SRV/home/1234/work/out")" "1234:1234"
}

# ------------------------------------------------------------------ lifecycle

lifecycle() {
    podman_start_container box 'trap "exit 5" TERM; echo ready; while :; do sleep 0.05; done'
    wait_for podman_logs_have box ready
    run podman_cli exec box sh -c 'cat /workspace/site/hello; exit 9'
    expect_status 9
    expect_output "site text"
    podman_cli pause box
    podman_is box paused
    podman_cli unpause box
    podman_cli stop -t 10 box
    run podman_cli inspect --format '{{.State.ExitCode}}' box
    expect_output 5
    podman_cli start box
    podman_is box running
    podman_cli rm --force -t 0 box
}

@test "podman: exec, pause, stop, start again and rm, over crun" { lifecycle; }

@test "podman: exec, pause, stop, start again and rm, over runc" {
    policy_base runc
    lifecycle
}

@test "podman: exit codes and output pass through" {
    run podman_run --rm "$FB_IMAGE" sh -c 'echo out; exit 7'
    expect_status 7
    expect_output out
}

# ------------------------------------------------------------------ refusals

# tells REGEX [OPTION…]: a run fails and podman shows a text, for each name of the runtime.
# "Error: " and no raw JSON: if podman reads a log, it understood the log.
tells() {
    local regex=$1 name
    shift
    for name in flatbed-runtime crun runc; do
        FB_PODMAN_RUNTIME=$name
        run podman_run --rm "$@" "$FB_IMAGE" true
        expect_failure
        expect_match "$regex"
        expect_match 'Error: .*'
        expect_no_match '"level"'
    done
}

@test "podman: a data set is mounted on request by environment, and by a /dev/null mount" {
    run podman_run --rm -e FLATBED_DATA=imagenet "$FB_IMAGE" cat /workspace/data/imagenet/hello
    expect_status 0
    expect_output "imagenet text"
    run podman_run --rm -v /dev/null:/run/flatbed/request/data/coco-2017 "$FB_IMAGE" cat /workspace/data/coco-2017/hello
    expect_status 0
    expect_output "coco text"
}

@test "podman: a name that the policy does not offer is refused, and podman shows the name" {
    tells secret --annotation flatbed.data=secret
}

@test "podman: a syntax error is shown as file:line:column" {
    policy_syntax_error crun
    tells "$FB_TELLS_SYNTAX"
}

@test "podman: an unknown key is shown as file:line:column" {
    policy_unknown_key crun
    tells "$FB_TELLS_KEY"
}

@test "podman: a world-writable policy is refused, and podman shows the reason" {
    policy_world_writable crun
    tells "$FB_TELLS_WRITABLE"
}

@test "podman: a container that ran before the policy broke is still stopped and removed" {
    podman_start_container box 'sleep 600'
    policy_syntax_error crun
    run podman_cli stop -t 0 box
    expect_status 0
    run podman_cli rm box
    expect_status 0
}

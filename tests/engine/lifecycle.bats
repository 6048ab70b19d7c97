#!/usr/bin/env bats
# What the real runc and crun do with a container between its create and its end, and what flatbed-runtime
# keeps of it: the state for exec, claims on pools, temporary files.

bats_require_minimum_version 1.5.0

load lib/frame
frame bundle

policy() { guarded runc; }

# guarded RUNTIME: no exec as root, and a variable of a volume that exec gets as well.
guarded() {
    policy_write <<END_OF_POLICY
{ "version": 1, "runtime": { "paths": ["$1"] }, "security": { "no_new_privileges": true },
  "volumes": { "site": { "source": "$FB_SRV/site", "target": "/site", "always": true,
                         "env": { "SITE": "{target}" } } } }
END_OF_POLICY
}

states() { find "/run/flatbed/state/${FB_DIR//\//%2F}%2Fstate" -name '*.json' -printf '%f\n' 2>/dev/null | sort | tr '\n' ' '; }

# runs ID: creates and starts a container that waits.
runs() {
    shim_create "$FB_DIR/$1.log" --bundle "$(bundle_make "$1" null 'exec sleep 600')" "$1"
    shim start "$1"
}

# process JQ: prints a process that prints its environment and whether it may gain privileges.
process() {
    jq -n '{"args": ["/bin/sh", "-c", "echo $A $SITE; grep NoNewPrivs /proc/self/status"], "cwd": "/",
            "user": {"uid": 0, "gid": 0}, "env": ["PATH=/bin", "A=1"]}'
}

is_held() { expect_equal "$output" $'1 /site\nNoNewPrivs:\t1'; }

# ------------------------------------------------------------------ delete

deletes() {
    local name
    guarded "$1"
    for name in json delete "$ID"; do
        runs "$name"
    done
    run shim --log-format json delete "$ID"
    expect_failure # it runs
    process >"$FB_DIR/process.json"
    for name in json delete "$ID"; do
        run shim exec -p "$FB_DIR/process.json" "$name"
        expect_status 0
        is_held
    done
    run shim --log-format json delete --force "$ID"
    expect_status 0
    expect_equal "$(states)" "delete.json json.json "
    run shim exec -p "$FB_DIR/process.json" delete
    is_held
}

@test "runc: delete forgets the container of that id, once it is gone" { deletes runc; }

@test "crun: delete forgets the container of that id, once it is gone" { deletes crun; }

exits_like() {
    local ours
    guarded "$1"
    runs "$ID"
    run shim delete "$ID"
    ours=$status$'\n'${output//\/*: /}
    run within "$1" --root "$FB_DIR/state" delete "$ID"
    expect_equal "$ours" "$status"$'\n'"${output//\/*: /}"
}

@test "runc: a refused delete says what it says without flatbed" { exits_like runc; }

@test "crun: a refused delete says what it says without flatbed" { exits_like crun; }

refuses_second() {
    guarded "$1"
    runs "$ID"
    sed -i 's/"no_new_privileges": true/"user": {"root": "allow"}/' "$FB_POLICY"
    run shim run --bundle "$(bundle_make other null true)" "$ID"
    expect_failure
    guarded "$1"
    run shim run --bundle "$(bundle_make other null true)" "$ID"
    expect_failure
    expect_match "there is a container '$ID' already"
    process >"$FB_DIR/process.json"
    run shim exec -p "$FB_DIR/process.json" "$ID"
    is_held
}

@test "runc: a refused create of an id that is in use leaves the running container's rules" { refuses_second runc; }

@test "crun: a refused create of an id that is in use leaves the running container's rules" { refuses_second crun; }

# ------------------------------------------------------------------ what is left

leaves_nothing() {
    guarded "$1"
    run shim run --bundle "$(bundle_make one null true)" "$ID"
    expect_status 0
    run shim run --bundle "$(bundle_make two null true)" "$ID-two"
    expect_equal "$(states)" "$ID-two.json "
    runs "$ID-three"
    run "$FLATBED" gc --cache "$FB_DIR/cache" --dry-run
    expect_status 0
    expect_equal "$(states)" "$ID-three.json "
    touch "/run/flatbed/state/${FB_DIR//\//%2F}%2Fstate/.flatbed-0123456789abcdef"
    within "$1" --root "$FB_DIR/state" delete --force "$ID-three"
    run "$FLATBED" gc --cache "$FB_DIR/cache" --dry-run
    expect_match 'would remove [0-9]+ files? of launches that are over'
    expect_equal "$(states)" "$ID-three.json "
    run "$FLATBED" gc --cache "$FB_DIR/cache"
    expect_status 0
    expect_match '^removed [0-9]+ files? of launches that are over'
    expect_equal "$(find "/run/flatbed/state/${FB_DIR//\//%2F}%2Fstate" -type f)" ""
}

@test "runc: the next run, or gc, removes the state of a foreground run" { leaves_nothing runc; }

@test "crun: the next run, or gc, removes the state of a foreground run" { leaves_nothing crun; }

@test "a foreground run keeps its state while it runs" {
    local bundle
    bundle=$(bundle_make long null 'exec sleep 600')
    shim run --bundle "$bundle" "$ID" >/dev/null 2>&1 </dev/null 3>&- &
    wait_for shim_is "$ID" running
    run shim run --bundle "$(bundle_make short null true)" "$ID-short"
    expect_equal "$(states)" "$ID-short.json $ID.json "
    process >"$FB_DIR/process.json"
    run shim exec -p "$FB_DIR/process.json" "$ID"
    is_held
}

@test "what a killed edit left in a bundle goes with the next run" {
    local bundle
    bundle=$(bundle_make killed)
    touch "$bundle/.flatbed-0123456789abcdef"
    run shim run --bundle "$bundle" "$ID"
    expect_status 0
    expect_equal "$(ls -A "$bundle" | tr '\n' ' ')" "config.json rootfs "
}

# ------------------------------------------------------------------ exec

takes_any_file() {
    guarded "$1"
    [ "${2-}" != tuning ] || sed -i 's/"no_new_privileges": true/"annotations": {"deny": []}/' "$FB_POLICY"
    local wanted=$'1 /site\nNoNewPrivs:\t'$((${#2} == 0))
    runs "$ID"
    process >"$FB_DIR/process.json"
    ln -s process.json "$FB_DIR/link.json"
    mkfifo "$FB_DIR/fifo"
    run shim exec -p "$FB_DIR/process.json" "$ID"
    expect_equal "$output" "$wanted"
    run shim exec "--process=$FB_DIR/link.json" "$ID"
    expect_equal "$output" "$wanted"
    run shim exec -p <(process) "$ID"
    expect_equal "$output" "$wanted"
    run shim exec -p /dev/stdin "$ID" < <(process)
    expect_equal "$output" "$wanted"
    run shim exec -p /dev/stdin "$ID" <"$FB_DIR/process.json"
    expect_equal "$output" "$wanted"
    process >"$FB_DIR/fifo" &
    run shim exec -p "$FB_DIR/fifo" "$ID"
    expect_equal "$output" "$wanted"
    expect_equal "$(cat "$FB_DIR/process.json")" "$(process)"
    [ -L "$FB_DIR/link.json" ]
    rm "$FB_DIR"/{process.json,link.json,fifo}
}

@test "runc: exec takes its process from a file, a link, a pipe and /dev/stdin" { takes_any_file runc; }

@test "crun: exec takes its process from a file, a link, a pipe and /dev/stdin" { takes_any_file crun; }

@test "runc: without rules such an exec gets the variables as well" { takes_any_file runc tuning; }

@test "crun: without rules such an exec gets the variables as well" { takes_any_file crun tuning; }

# ------------------------------------------------------------------ config.json as a link

follows() {
    local bundle before
    guarded "$1"
    bundle=$(bundle_make linked null 'cat /site/hello')
    mv "$bundle/config.json" "$FB_DIR/real.json"
    before=$(sha256sum "$FB_DIR/real.json")
    ln -s ../../real.json "$bundle/config.json"
    run shim run --bundle "$bundle" "$ID"
    expect_status 0
    expect_output "site text"
    expect_equal "$(sha256sum "$FB_DIR/real.json")" "$before"
    # Also without an edit: the runtime must read what was judged.
    policy_empty "$1"
    ln -sf ../../real.json "$bundle/config.json"
    sed -i "s|cat /site/hello|echo plain|" "$FB_DIR/real.json"
    run shim run --bundle "$bundle" "$ID"
    expect_output plain
    rm "$FB_DIR/real.json"
}

@test "runc: a config.json that is a link is followed, and its file stays" { follows runc; }

@test "crun: a config.json that is a link is followed, and its file stays" { follows crun; }

#!/usr/bin/env bats
# The real runc and crun with a container between its create and its end, and what flatbed-runtime
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
    gojq -n '{"args": ["/bin/sh", "-c", "echo $A $SITE; grep NoNewPrivs /proc/self/status"], "cwd": "/",
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

# end_of_run: prints status and output of the last run, without what differs between two: the time and paths.
end_of_run() { sed 's/time="[^"]*"//; s,/.*: ,,' <<<"$status"$'\n'"$output"; }

exits_like() {
    local ours
    guarded "$1"
    runs "$ID"
    run shim delete "$ID"
    ours=$(end_of_run)
    run within "$1" --root "$FB_DIR/state" delete "$ID"
    expect_equal "$ours" "$(end_of_run)"
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

# ------------------------------------------------------------------ pools

# pooled RUNTIME OPTIONAL [SOURCE]: a cache over a pool, whose private side one container at a time can have.
pooled() {
    overlay_works || skip "$FB_DIR cannot be the upper side of an overlay"
    mkdir -p "$FB_SRV/pool"
    echo "pool text" >"$FB_SRV/pool/old"
    policy_write <<END_OF_POLICY
{ "version": 1, "runtime": { "paths": ["$1"] },
  "volumes": { "cache": { "source": "$FB_SRV/${3-private}", "target": "/cache", "access": "rw", "always": true,
                          "create": {}, "optional": $2, "pool": "$FB_SRV/pool", "env": { "CACHE": "{target}" } } } }
END_OF_POLICY
}

# one_of_many RUNTIME: of launches at the same time one gets the private side, and none fails.
one_of_many() {
    local i count=16
    pooled "$1" true
    for ((i = 0; i < count; i++)); do
        bundle_make "many$i" null 'test -z "$CACHE" || cat /cache/old; sleep 3' >/dev/null
    done
    for ((i = 0; i < count; i++)); do
        shim run --bundle "$FB_DIR/bundles/many$i" "$ID-$i" >"$FB_DIR/many$i.log" 2>&1 </dev/null 3>&- &
    done
    for i in $(jobs -p); do
        [ "$i" = "${FB_NAMESPACE_PID-}" ] || wait "$i" || { cat "$FB_DIR"/many*.log && false; }
    done
    expect_equal "$(cat "$FB_DIR"/many*.log)" "pool text"
    rm "$FB_DIR"/many*.log
}

@test "runc: of 16 launches at once one has the private side of a pool, and the others go without" { one_of_many runc; }

@test "crun: of 16 launches at once one has the private side of a pool, and the others go without" { one_of_many crun; }

launched_again() {
    local bundle
    pooled "$1" true
    # shellcheck disable=SC2016
    bundle=$(bundle_make again null 'echo "${CACHE-none}"; ls /cache; test -e "/stay" && rm /stay && sleep 600')
    touch "$bundle/rootfs/stay"
    shim run --bundle "$bundle" "$ID" >"$FB_DIR/again.log" 2>&1 </dev/null 3>&- &
    wait_for grep -q old "$FB_DIR/again.log"
    wait_for test ! -e "$bundle/rootfs/stay"
    run shim run --bundle "$bundle" "$ID-second"
    expect_match '^none' # the first container has it
    run shim run --bundle "$bundle" "$ID-third"
    expect_match '^none'
    pooled "$1" false
    run shim run --bundle "$bundle" "$ID-fourth"
    expect_failure
    expect_match 'is mounted in another container.*name .container.'
    within "$1" --root "$FB_DIR/state" delete --force "$ID" || true # its own run may be faster
    wait_for is_free "$bundle" "$ID-fifth"
}

is_free() {
    run shim run --bundle "$1" "$2"
    expect_match $'^/cache\nold'
}

@test "runc: a bundle that was edited is launched again without the pool, while the first container runs" { launched_again runc; }

@test "crun: a bundle that was edited is launched again without the pool, while the first container runs" { launched_again crun; }

side_of_its_own() {
    local bundle
    pooled "$1" false 'private-{container}'
    bundle=$(bundle_make own null 'cat /cache/*; echo mine >/cache/new; test -e /stay && rm /stay && sleep 600')
    touch "$bundle/rootfs/stay"
    shim run --bundle "$bundle" "$ID" >"$FB_DIR/own.log" 2>&1 </dev/null 3>&- &
    wait_for test -e "$FB_SRV/private-$ID/upper/new"
    wait_for test ! -e "$bundle/rootfs/stay"
    run shim run --bundle "$bundle" "$ID-second"
    expect_output "pool text" # and nothing of the first container
    [ -e "$FB_SRV/private-$ID-second/upper/new" ]
}

@test "the private side is free as soon as a run has ended" {
    local bundle i
    pooled runc false
    bundle=$(bundle_make ended null true)
    for i in 1 2 3 4 5 6 7 8; do
        run shim run --bundle "$bundle" "$ID-$i"
        expect_status 0
    done
}

@test "runc: a bundle that was edited gets the private side of the next container" { side_of_its_own runc; }

@test "crun: a bundle that was edited gets the private side of the next container" { side_of_its_own crun; }

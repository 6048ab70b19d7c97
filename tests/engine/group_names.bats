#!/usr/bin/env bats
# flatbed-runtime before runc and crun: an image's /etc/group gives no process another group than the policy judged.

bats_require_minimum_version 1.5.0

load lib/frame
frame bundle

# hostile RUNTIME LINE… [-- GIDS]: a bundle whose /etc/group has the lines, and a user with these supplementary groups.
hostile() {
    policy_write <<END_OF_POLICY
{ "version": 1, "runtime": { "paths": ["$1"] }, "security": { "user": { "groups": "own" } } }
END_OF_POLICY
    BUNDLE=$(bundle_make hostile null 'id -G; sleep 600')
    printf '%s\n' root:x:0: "${@:3}" >"$BUNDLE/rootfs/etc/group"
    # shellcheck disable=SC2016  # jq's variables
    bundle_edit "$BUNDLE" --argjson gids "$2" \
        '.process.user = {"uid": 7777001, "gid": 7777001, "additionalGids": $gids} | .process.capabilities = {}'
}

# executes GIDS [OPTION…]: an exec with these supplementary groups.
executes() {
    gojq -cn --argjson gids "$1" '{user: {uid: 7777001, gid: 7777001, additionalGids: $gids}, args: ["id", "-G"], cwd: "/", env: ["PATH=/bin"]}' \
        >"$FB_DIR/process.json"
    run shim exec "${@:2}" --process "$FB_DIR/process.json" "$ID"
}

guards() {
    local more=7777003
    case $("$1" --version) in "runc version 1."[0-2].*) more='' ;; esac
    hostile "$1" '[7777001, 7777003]' 7777001:x:42: 7777002:x:42: 7777003:x:7777003:
    shim_create "$FB_DIR/hostile.log" --bundle "$BUNDLE" "$ID"
    shim start "$ID"
    wait_for grep -q . "$FB_DIR/hostile.log"
    expect_equal "$(cat "$FB_DIR/hostile.log")" "7777001 7777003"
    # Users can replace the file, which docker cp does as root; runc reads it before 1.3.
    printf '%s\n' root:x:0: 7777003:x:42: >"$BUNDLE/rootfs/etc/group"
    executes '[7777001, 7777003]'
    expect_output "7777001${more:+ $more}"
    if [ "$1" = runc ]; then # which looks at them only without a process file, and that is refused
        executes '[7777003]' --additional-gids 42
        expect_output "7777001${more:+ $more}"
        for option in --additional-gids -g; do
            run shim exec "$option" 42 --user 7777001:7777001 "$ID" id -G
            expect_status 1
            expect_match "write exec --process FILE ID"
        done
    fi
    if [ -n "$more" ]; then
        executes '[7777002]'
        expect_status 1
        expect_match "has another group with the name 7777002"
    fi
    within "$1" --root "$FB_DIR/state" delete --force "$ID"
    hostile "$1" '[7777002]' 7777002:x:42:
    run shim_create "$FB_DIR/hostile.log" --bundle "$BUNDLE" "$ID"
    expect_status 1
    run cat "$FB_DIR/hostile.log"
    expect_match "has another group with the name 7777002"
}

@test "runc: a group has no other by its name" { guards runc; }

@test "crun: a group has no other by its name" { guards crun; }

# A group opens a directory to an exec, also where it is taken away as runc would read its name.
opens() {
    hostile "$1" '[7777003]'
    mkdir -p "$FB_SRV/lab/team"
    chgrp 7777003 "$FB_SRV/lab/team"
    chmod 0770 "$FB_SRV/lab/team"
    policy_write <<END_OF_POLICY
{ "version": 1, "runtime": { "paths": ["$1"] }, "security": { "user": { "groups": "own" } },
  "binds": { "require_access": true, "rules": [ { "path": "$FB_SRV/lab", "access": "allow" } ] } }
END_OF_POLICY
    bundle_edit "$BUNDLE" --arg s "$FB_SRV/lab" --argjson f "$BUNDLE_FILTER" \
        '.mounts += [{destination: "/lab", type: "bind", source: $s, options: ["rbind"]}] | .linux.seccomp = $f'
    shim_create "$FB_DIR/hostile.log" --bundle "$BUNDLE" "$ID"
    shim start "$ID"
    gojq -n '{user: {uid: 7777001, gid: 7777001, additionalGids: [7777003]}, args: ["pwd"], cwd: "/lab/team", env: ["PATH=/bin"]}' \
        >"$FB_DIR/process.json"
    run shim exec --process "$FB_DIR/process.json" "$ID"
    expect_output /lab/team
    gojq '.user.additionalGids = []' "$FB_DIR/process.json" >"$FB_DIR/without.json"
    run shim exec --process "$FB_DIR/without.json" "$ID"
    expect_status 1
    expect_match "may not enter /lab/team"
    shim delete --force "$ID"
}

@test "runc: a group opens a directory to an exec" { opens runc; }

@test "crun: a group opens a directory to an exec" { opens crun; }

#!/usr/bin/env bats
# flatbed-runtime: the groups of an exec are judged as those of its container.
#
# shellcheck disable=SC2154  # stderr is set by bats' run

load ../lib/shim

# guarded USER-JSON [MEMBERS [LINE…]]: a container c1 with that user, under a policy for groups with more members, and an
# image whose /etc/group has the lines. $RUNC is the version of runc; before 1.3 it looks groups up in that file.
guarded() {
    low_level "$DIR/low" runc "${RUNC-1.3.0}"
    local user=$1 members=${2-}
    shift $(($# < 2 ? $# : 2))
    mkdir -p "$BUNDLE/rootfs/etc"
    printf '%s\n' root:x:0: "$@" >"$BUNDLE/rootfs/etc/group"
    printf '{ "version": 1, "runtime": { "paths": ["%s"] }, %s "security": { "user": { "groups": "own" } } }' "$DIR/low" "$members" >"$DIR/policy.json"
    gojq -n --argjson user "$user" '{ociVersion: "1.0.2", root: {path: "rootfs"}, process: {user: $user},
        linux: {seccomp: {defaultAction: "SCMP_ACT_ERRNO"}}}' >"$BUNDLE/config.json"
    run shim --root "$DIR/root" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ] || { echo "$output" && false; }
    mkdir -p "$DIR/root/c1" # as a low-level runtime does
}

# executes USER-JSON: an exec of that user.
executes() {
    echo "{\"user\":$1}" >"$DIR/process.json"
    rm -f "$DIR/low.words"
    run --separate-stderr shim --root "$DIR/root" exec --process "$DIR/process.json" c1
    echo "status $status, stderr '$stderr'"
}

# has USER-JSON GIDS: such an exec has these supplementary groups.
has() {
    executes "$1"
    [ "$status" -eq 7 ]
    [ "$(gojq -c .user.additionalGids "$DIR/low.process")" = "$2" ] || { cat "$DIR/low.process" && false; }
}

@test "an exec has its primary group once, and none by a name in the container's /etc/group" {
    as_root
    guarded '{"uid":7777001,"gid":7777001}' '' 7777001:x:42: 7777002:x:42: 7777003:x:7777003: 0:x:42:
    has '{"uid":7777001,"gid":7777001,"additionalGids":[7777001,6,7777003]}' '[7777003]'
    has '{"uid":0,"gid":0,"additionalGids":[0]}' '[]'
    executes '{"uid":7777001,"gid":7777001,"additionalGids":[7777002]}'
    refused 'security.user \(.*policy.json:1\): the group 7777002.*has another group with the name 7777002'
    executes '{"uid":0,"gid":0,"additionalGids":[7777002]}'
    refused 'the group 7777002'
    executes '{"uid":7777001,"gid":7777001,"additionalGids":[7777002.0]}'
    refused ''
}

@test "an exec gets no supplementary group where others than root could change the container's /etc/group" {
    as_root
    mkdir -p "$BUNDLE/rootfs/etc"
    chown 1234 "$BUNDLE/rootfs/etc"
    guarded '{"uid":7777001,"gid":7777001}'
    has '{"uid":7777001,"gid":7777001,"additionalGids":[7777001]}' '[]'
    executes '{"uid":7777001,"gid":7777001,"additionalGids":[7777002]}'
    refused 'the group 7777002: .*users other than root can change'
}

@test "the groups that user.groups gives an exec are judged with the others" {
    as_root
    local file
    guarded '{"uid":7777001,"gid":7777001}' '' 7777009:x:42:
    file=$(echo "/run/flatbed/state/${DIR//\//%2F}%2Froot/c1.json")
    gojq -c '.user = {uid: 7777001, groups: [7777001, 6, 7777008]}' "$file" >"$DIR/new" && cat "$DIR/new" >"$file"
    has '{"uid":7777001,"gid":7777001,"additionalGids":[7777007]}' '[7777007,7777008]'
    has '{"uid":7777002,"gid":7777002,"additionalGids":[7777007]}' '[7777007]'
    gojq -c '.user.groups += [7777009]' "$file" >"$DIR/new" && cat "$DIR/new" >"$file"
    executes '{"uid":7777001,"gid":7777001}'
    refused 'the group 7777009.*has another group with the name 7777009'
}

@test "two stacked wrappers keep the names of both, and a state of an older version gives an exec no groups" {
    as_root
    local file
    printf '#!/bin/sh\nexec %s --flatbed-policy=%s/policy.json --flatbed-runtime=%s/low "$@"\n' \
        "$FLATBED_RUNTIME" "$DIR" "$DIR" >"$DIR/wrapper"
    chmod 0755 "$DIR/wrapper"
    guarded '{"uid":7777001,"gid":7777001}' '' 7777002:x:42:
    rmdir "$DIR/root/c1"
    run shim "--flatbed-runtime=$DIR/wrapper" --root "$DIR/root" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    mkdir "$DIR/root/c1"
    executes '{"uid":7777001,"gid":7777001,"additionalGids":[7777002]}'
    refused 'has another group with the name 7777002'
    has '{"uid":7777001,"gid":7777001,"additionalGids":[7777003]}' '[7777003]'
    file=$(echo "/run/flatbed/state/${DIR//\//%2F}%2Froot/c1.json")
    gojq -c 'del(.rules.names)' "$file" >"$DIR/new" && cat "$DIR/new" >"$file"
    has '{"uid":7777001,"gid":7777001,"additionalGids":[7777003]}' '[]'
}

@test "a permissive policy refuses no exec for the name of a group" {
    as_root
    guarded '{"uid":7777001,"gid":7777001}' '"mode": "permissive",' 7777002:x:42:
    has '{"uid":7777001,"gid":7777001,"additionalGids":[7777001,7777002,6]}' '[7777002]'
}

# A user can replace the file that was judged: by docker cp, which writes as root.
@test "an exec has no supplementary group where the runtime reads /etc/group, but in Kubernetes" {
    as_root
    RUNC=1.2.6 guarded '{"uid":7777001,"gid":7777001}' '' 7777003:x:7777003:
    has '{"uid":7777001,"gid":7777001,"additionalGids":[7777001,7777003]}' '[]'
    has '{"uid":7777001,"gid":7777001,"additionalGids":[7777001]}' '[]'
    low_level "$DIR/low" crun 1.8.1
    has '{"uid":7777001,"gid":7777001,"additionalGids":[7777001,7777003]}' '[7777003]'
    low_level "$DIR/low" other
    has '{"uid":7777001,"gid":7777001,"additionalGids":[7777003]}' '[]'
    low_level "$DIR/low" runc 1.2.6
    # gets ROOT FILTER ANNOTATIONS GIDS: an exec in such a container has these groups.
    gets() {
        rm -rf "$1" "$DIR/low.process"
        gojq --argjson f "$2" --argjson a "$3" '.linux.seccomp = $f | .annotations = $a' "$BUNDLE/config.json" >"$DIR/new"
        cp "$DIR/new" "$BUNDLE/config.json"
        run shim --root "$1" create --bundle "$BUNDLE" c2
        mkdir -p "$1/c2"
        run shim --root "$1" exec --process "$DIR/process.json" c2
        [ "$(gojq -c .user.additionalGids "$DIR/low.process")" = "$4" ]
    }
    gets "$DIR/k8s.io" '{"defaultAction": "SCMP_ACT_ERRNO"}' '{}' '[7777003]'
    # Annotations are the user's.
    gets "$DIR/other" '{"defaultAction": "SCMP_ACT_ERRNO"}' '{"io.kubernetes.cri.container-type": "container"}' '[]'
    gets "$DIR/other" '{"defaultAction": "SCMP_ACT_ERRNO"}' '{"io.container.manager": "cri-o"}' '[]'
}

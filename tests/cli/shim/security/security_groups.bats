#!/usr/bin/env bats
# flatbed-runtime: no group by a name in the container's /etc/group, where "security" judges groups.

bats_require_minimum_version 1.5.0

load ../lib/security

# groups JQ-FILTER [LINE…]: a container with a root, whose /etc/group has the lines behind root's.
groups() {
    local filter=$1
    shift
    rm -rf --one-file-system "$BUNDLE/rootfs"
    mkdir -p "$BUNDLE/rootfs/etc" "$BUNDLE/rootfs/home"
    printf '%s\n' root:x:0: "$@" >"$BUNDLE/rootfs/etc/group"
    config ".root.path = \"rootfs\" | .process.user = {uid: 7777001, gid: 7777001, additionalGids: [7777001, 7777002]} | $filter"
    rm -f "$DIR/low.config"
}

# has GIDS: the container is created, with these supplementary groups.
has() {
    create
    passed
    [ "$(gojq -c .process.user.additionalGids "$DIR/low.config")" = "$1" ] || { cat "$DIR/low.config" && false; }
}

own() { policy '"user": { "groups": "own" }' "${1-}"; }

@test "the primary group is no supplementary one, so that an image's line of that name is nobody's" {
    own
    groups . 7777001:x:42:
    has '[7777002]'
    groups '.process.user.additionalGids = [7777001, 7777001]' 7777001:x:42:
    has '[]'
    groups '.process.user = {uid: 0, gid: 0, additionalGids: [0, 7]}' 0:x:42:
    has '[7]'
    policy '"user": { "root": "deny" }'
    groups . 7777001:x:42:
    has '[7777001,7777002]'
}

@test "a supplementary group whose number is the name of another group in the image is refused" {
    local line
    own
    for line in 7777002:x:42: 7777002 7777002: $' \t7777002:x:42' $'\xc2\xa07777002:x:42:' 7777002:x:07777002: 7777002:x:77770022:; do
        groups . "$line"
        create
        refused "the group 7777002.*/etc/group has another group with the name 7777002"
    done
    groups '.process.user = {uid: 0, gid: 0, additionalGids: [7777002]}' 7777002:x:42:
    create
    refused "the group 7777002.*/etc/group has another group with the name 7777002"
    for line in 7777002:x:7777002: 7777002:x:7777002:alice 77770021:x:42: 7777002x:x:42: '#7777002:x:42:' 'x:7777002:42:' lab:x:7777002:; do
        groups . "$line"
        has '[7777002]'
    done
    own '"mode": "permissive",'
    groups . 7777002:x:42:
    has '[7777002]'
}

@test "an image without /etc/group, or with one behind its own links, passes" {
    own
    groups .
    rm "$BUNDLE/rootfs/etc/group"
    has '[7777002]'
    rmdir "$BUNDLE/rootfs/etc"
    has '[7777002]'
    mkdir -p "$BUNDLE/rootfs/nix/store" "$BUNDLE/rootfs/etc"
    ln -s ../nix/../../nix/store/group "$BUNDLE/rootfs/etc/group"
    has '[7777002]'
    echo 7777002:x:7777002: >"$BUNDLE/rootfs/nix/store/group"
    has '[7777002]'
    echo 7777002:x:42: >"$BUNDLE/rootfs/nix/store/group"
    rm "$DIR/low.config"
    create
    refused 'has another group with the name 7777002'
    ln -sf /nix/store/group "$BUNDLE/rootfs/etc/group"
    create
    refused 'has another group with the name 7777002'
    ln -sf group "$BUNDLE/rootfs/etc/group"
    has '[7777002]'
}

@test "a supplementary group is refused where others than root can change the container's /etc/group" {
    local change
    own
    for change in 'chown 1234 R/etc/group' 'chmod g+w R/etc/group' 'chown 1234 R/etc' 'chmod o+w R/etc' 'chmod 1777 R/etc' \
        'chown 1234 R' 'mv R/etc R/home/etc; chown 1234 R/home; ln -s home/etc R/etc'; do
        groups .
        eval "${change//R/$BUNDLE/rootfs}"
        create
        refused 'the group 7777002: .* may become another group: users other than root can change'
    done
    groups '.root.path = "'"$DIR"'/users/rootfs"'
    mkdir -p "$DIR/users/rootfs"
    chown 1234 "$DIR/users"
    create
    refused 'the group 7777002: .* may become another group: users other than root can change'
    groups '.process.user.additionalGids = [7777001]' # which is taken away
    chown 1234 "$BUNDLE/rootfs/etc"
    has '[]'
}

@test "a FIFO, a directory or a large file on /etc/group holds nothing up, and refuses a supplementary group" {
    own
    groups .
    rm "$BUNDLE/rootfs/etc/group"
    mkfifo "$BUNDLE/rootfs/etc/group"
    run --separate-stderr timeout 10 "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    refused 'the group 7777002: .*not a regular file'
    rm "$BUNDLE/rootfs/etc/group"
    mkdir "$BUNDLE/rootfs/etc/group"
    create
    refused 'the group 7777002: .*not a regular file'
    rmdir "$BUNDLE/rootfs/etc/group"
    truncate -s 1G "$BUNDLE/rootfs/etc/group"
    create
    refused 'the group 7777002: .*larger than'
}

# mounts JQ-LIST [LINE…]: as groups, with these mounts.
mounts() {
    local list=$1
    shift
    groups ".mounts = $list" "$@"
}

@test "what is mounted on or above /etc/group counts, and only a file of root's is read" {
    local bind='type: "bind", options: ["rbind", "ro"]' target
    own
    echo 7777002:x:42: >"$DIR/hostile"
    echo 7777002:x:7777002: >"$DIR/harmless"
    mkdir -p "$DIR/alice/etc"
    cp "$DIR/harmless" "$DIR/alice/group"
    cp "$DIR/harmless" "$DIR/alice/etc/group"
    chown -R 1234 "$DIR/alice"
    mounts "[{destination: \"/etc/group\", source: \"$DIR/harmless\", $bind}]" 7777002:x:42:
    has '[7777002]'
    mounts "[{destination: \"/etc//group\", source: \"$DIR/hostile\", $bind}]"
    create
    refused 'has another group with the name 7777002'
    mounts "[{destination: \"/etc/group\", source: \"$DIR/alice/group\", $bind}]"
    create
    refused 'the group 7777002: .* may become another group: users other than root can change'
    chown 0:0 "$DIR/alice/group" # in a directory of alice's
    create
    refused 'the group 7777002: .* may become another group: users other than root can change'
    for target in /etc /link; do
        mounts "[{destination: \"$target\", source: \"$DIR/alice/etc\", $bind}]"
        ln -s etc "$BUNDLE/rootfs/link"
        create
        refused "the group 7777002: .*something is mounted on"
    done
    mounts '[{destination: "/etc", type: "tmpfs", source: "tmpfs"}]'
    create
    refused "the group 7777002: .*something is mounted on /etc"
    mounts "[{destination: \"/etc/hosts\", source: \"$DIR/harmless\", $bind}, {destination: \"/proc\", type: \"proc\", source: \"proc\"}]"
    has '[7777002]'
}

@test "a volume of the policy on /etc is seen, and where its target is a link of the image" {
    local target
    mkdir -p "$DIR/data"
    for target in /etc /link /link/group; do
        policy '"user": { "groups": "own" }' "\"volumes\": { \"data\": { \"source\": \"$DIR/data\", \"target\": \"$target\", \"access\": \"rw\", \"always\": true } },"
        groups .
        ln -s etc "$BUNDLE/rootfs/link"
        create
        refused "the group 7777002: "
    done
}

@test "a mount below another, which a user could move over /etc, is compared before the process starts" {
    own
    mkdir -p "$DIR/alice/data"
    chown -R 1234 "$DIR/alice"
    mounts "[{destination: \"/home\", type: \"bind\", source: \"$DIR/alice\", options: [\"rbind\"]},
        {destination: \"/home/data\", type: \"bind\", source: \"$DIR/data\", options: [\"rbind\"]}]"
    mkdir "$DIR/data"
    has '[7777002]'
    [ "$(gojq '[.hooks.createContainer[]?.args[1]] | length' "$DIR/low.config")" = 1 ] || { gojq .hooks "$DIR/low.config" && false; }
    rmdir "$DIR/alice/data"
    ln -s /etc "$DIR/alice/data"
    rm "$DIR/low.config"
    create
    refused 'the mount on /home/data: there is a symbolic link'
    mounts "[{destination: \"/home\", type: \"bind\", source: \"$DIR/alice\", options: [\"rbind\"]}]"
    has '[7777002]'
    [ "$(gojq '.hooks.createContainer' "$DIR/low.config")" = null ]
}

@test "groups that user.groups adds are judged by name as well" {
    own '"user": { "groups": "user" },'
    groups '.process.user = {uid: 7777001, gid: 7777001}' 7777009:x:42:
    printf 'alice:x:7777001:7777001::/:/bin/sh\n' >"$DIR/passwd"
    printf 'lab:x:7777009:alice\nalice:x:7777001:\n' >"$DIR/group"
    printf 'passwd: files\ngroup: files\n' >"$DIR/nsswitch.conf"
    # shellcheck disable=SC2016
    on_host() {
        unshare -m sh -c 'for f in passwd group nsswitch.conf; do mount --bind "$0/$f" "/etc/$f" || exit 99; done; exec "$@"' "$DIR" \
            "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    }
    run --separate-stderr on_host
    refused 'the group 7777009.*has another group with the name 7777009'
    groups '.process.user = {uid: 7777001, gid: 7777001}'
    run --separate-stderr on_host
    passed
    [ "$(gojq -c .process.user.additionalGids "$DIR/low.config")" = '[7777009]' ]
}

@test "a container with ids of its own is not judged by names, which lead to its own groups only" {
    own
    groups '.process.user = {uid: 5, gid: 5, additionalGids: [5, 6]} | .linux.namespaces += [{type: "user"}]
        | .linux.uidMappings = [{containerID: 5, hostID: 7777001, size: 1}] | .linux.gidMappings = [{containerID: 5, hostID: 7777001, size: 1}]' 5:x:42:
    has '[5,6]'
}

@test "explain says which group is refused by its name" {
    own
    groups . 7777002:x:42:
    run "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$BUNDLE/config.json"
    echo "$output"
    [[ $output == *'has another group with the name 7777002'* ]]
}

@test "what the runtime makes on the way of the image's link counts" {
    local link
    own
    mkdir -p "$DIR/user"
    echo 7777002:x:42: | tee "$DIR/user/group" >"$DIR/user/other"
    chown 7777001 "$DIR/user" "$DIR/user/group"
    linked() {
        groups ".mounts = [$2]"
        rm "$BUNDLE/rootfs/etc/group"
        ln -s "$1" "$BUNDLE/rootfs/etc/group"
        echo 7777002:x:42: >"$BUNDLE/rootfs/grp"
        create
    }
    bind() { echo "{destination: \"$2\", type: \"bind\", source: \"$DIR/user$1\", options: [\"rbind\"]}"; }
    linked /nodir/group "$(bind /group /nodir/group)"
    refused "the group 7777002.*$DIR/user/group"
    linked /nodir/a/b/group "$(bind '' /nodir/a)"
    refused "the group 7777002.*something is mounted on /nodir/a"
    for link in /nodir/../grp nodir/../../nodir/../grp /nodir/./a/../../grp; do
        linked "$link" "$(bind '' /nodir/a)"
        refused "the group 7777002.*/nodir.* is missing"
    done
    linked /nodir/a/group "$(bind '' /other)"
    has '[7777002]'
}

@test "a group that is taken away opens no directory to its user" {
    local group
    group=$(getent group shadow | cut -d: -f3)
    mkdir -p "$DIR/srv/closed/open"
    chgrp "$group" "$DIR/srv/closed"
    chmod 0755 "$DIR" "$DIR/srv" "$DIR/srv/closed/open"
    chmod 0750 "$DIR/srv/closed"
    own "\"binds\": { \"require_access\": true, \"rules\": [ { \"path\": \"$DIR/srv\", \"access\": \"allow\" } ] },"
    opens() {
        groups ".process.user.additionalGids = [7777002, $1] | .mounts = [
            {destination: \"/x\", type: \"bind\", source: \"$DIR/srv${2-/closed/open}\", options: [\"rbind\"]}] ${3-}"
        create
    }
    opens "$group"
    refused "the container's user may not read $DIR/srv/closed/open"
    opens "$group" "" '| .process.cwd = "/x/closed/open"'
    refused "the container's user may not enter /x/closed/open"
    opens "$group" ""
    passed
    [ "$(gojq -c .process.user.additionalGids "$DIR/low.config")" = '[7777002]' ]
    chgrp 7777002 "$DIR/srv/closed"
    rm "$DIR/low.config"
    opens "$group"
    passed
}

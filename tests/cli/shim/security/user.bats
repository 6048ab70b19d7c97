#!/usr/bin/env bats
# flatbed-runtime: "user" gives the container's user a name, HOME and groups.
#
# shellcheck disable=SC2154  # status and stderr are set by bats' run

load ../lib/shim

# The host's users and groups, for the commands that `on_host` runs.
accounts() {
    printf '%s\n' root:x:0:0::/root:/bin/sh alice:x:1234:1234::/home/alice:/bin/sh >"$DIR/passwd"
    printf '%s\n' root:x:0:alice disk:x:6:alice alice:x:1234: vision:x:5000:alice,bob nlp:x:5001:bob \
        docker:x:5002:alice sudo:x:27:alice alias:x:5002:alice malformed audio:x:5003:x,alice >"$DIR/group"
    printf 'passwd: files\ngroup: files systemd\n' >"$DIR/nsswitch"
}

# on_host COMMAND…: runs it where the files of `accounts` are the host's.
on_host() {
    # shellcheck disable=SC2016
    unshare -m sh -c 'for f in passwd group nsswitch; do
        to=/etc/$f; [ "$f" != nsswitch ] || to=/etc/nsswitch.conf
        mount --bind "$0/$f" "$to" || exit 99
    done
    exec "$@"' "$DIR" "$@"
}

# policy [MEMBERS-OF-USER [MORE-MEMBERS]]
policy() {
    local all='"passwd": true, "home": "/home/{user}", "groups": "user"'
    cat >"$DIR/policy.json" <<END
{ "version": 1, "runtime": { "paths": ["$DIR/low"] }, ${2-}
  "user": { ${1-$all} } }
END
    chmod 0644 "$DIR/policy.json"
}

# config [UID:GID [ENV]]: a container whose image knows root and daemon only.
config() {
    local id=${2-1234:1234}
    rm -rf --one-file-system "$BUNDLE/rootfs" # a test may have put links there: nothing is written through them
    mkdir -p "$BUNDLE/rootfs/etc" "$BUNDLE/rootfs/home/alice"
    printf 'root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/:/bin/false' >"$BUNDLE/rootfs/etc/passwd"
    printf 'root:x:0:\nstaff:x:50:alice\n' >"$BUNDLE/rootfs/etc/group"
    cat >"$1/config.json" <<END
{ "ociVersion": "1.0.2", "root": { "path": "rootfs" },
  "process": { "user": { "uid": ${id%:*}, "gid": ${id#*:} }, "env": [ ${3-} ] },
  "mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" } ] }
END
}

setup() {
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-shim.XXXXXX")
    chmod 0755 "$DIR"
    BUNDLE=$DIR/bundle
    mkdir -p "$BUNDLE"
    low_level "$DIR/low" runc
    sed -i "s|^cat .*config.*|&\nfor f in passwd group; do cat /run/flatbed/pin/user:\$f >$DIR/low.\$f 2>/dev/null; done|" "$DIR/low"
    accounts
    policy
    config "$BUNDLE"
    unset FLATBED_DEPTH
}

create() {
    rm -f "$DIR/low.config"
    run --separate-stderr on_host "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --root "$DIR/root" create --bundle "$BUNDLE" c1
    echo "status $status, stderr '$stderr'"
}

# started FILTER RESULT: the container started, and its config.json has that.
started() {
    [ "$status" -eq 7 ]
    [ "$(gojq -c "$1" "$DIR/low.config")" = "$2" ] || { gojq -c . "$DIR/low.config" && false; }
}

@test "a user whom the image does not know gets entries, HOME and groups" {
    as_root
    create
    started '[.mounts[] | select(.destination | startswith("/etc"))] | map([.destination, .source, (.options | join(","))])' \
        '[["/etc/passwd","/run/flatbed/pin/user:passwd","bind,ro,nosuid,nodev,noexec"],["/etc/group","/run/flatbed/pin/user:group","bind,ro,nosuid,nodev,noexec"]]'
    started .process.env '["HOME=/home/alice"]'
    diff - "$DIR/low.passwd" <<'END'
root:x:0:0:root:/root:/bin/sh
daemon:x:1:1:daemon:/:/bin/false
alice:x:1234:1234:alice:/home/alice:/bin/sh
END
    diff - "$DIR/low.group" <<'END'
root:x:0:
staff:x:50:alice
alice:x:1234:
END
    # The image and the host are as they were, and nothing is left.
    run ! grep -q alice "$BUNDLE/rootfs/etc/passwd"
    [ -z "$(ls -A /run/flatbed/pin)" ]
}

@test "groups are those of the user on the host, but for privileged ones" {
    as_root
    create
    started .process.user.additionalGids '[5000,5003]'
    config "$BUNDLE" 1234:0
    create
    started .process.user.additionalGids '[1234,5000,5003]'
    config "$BUNDLE" 1234:1234
    gojq '.process.user.additionalGids = [5003, 7]' "$BUNDLE/config.json" >"$DIR/new" && mv "$DIR/new" "$BUNDLE/config.json"
    create
    started .process.user.additionalGids '[5003,7,5000]'
    config "$BUNDLE" 4321:4321
    create
    started .process.user.additionalGids null
}

@test "groups of other databases are asked for by getent" {
    as_root
    echo 'group: files sss' >"$DIR/nsswitch"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\ncase "$2 $3" in\n"initgroups alice") echo "alice 6 5000 6000 6001 6002";;\n"group "*) echo docker:x:6001:; exit 2;;\n*) exit 2;;\nesac\n' >"$DIR/getent"
    chmod 0755 "$DIR/getent"
    on_host() {
        # shellcheck disable=SC2016
        unshare -m sh -c 'mount --bind "$0/getent" "$(readlink -f /usr/bin/getent)" &&
            mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/group" /etc/group &&
            mount --bind "$0/nsswitch" /etc/nsswitch.conf && exec "$@"' "$DIR" "$@"
    }
    create
    started .process.user.additionalGids '[5000,5003,6000,6002]'
    # A database that does not answer gives no groups: some of the local ones could be privileged elsewhere.
    printf '#!/bin/sh\nexit 1\n' >"$DIR/getent"
    config "$BUNDLE"
    create
    started .process.user.additionalGids null
}

@test "root gets nothing" {
    as_root
    config "$BUNDLE" 0:0
    create
    started '[.mounts[].destination, .process.env, .process.user.additionalGids]' '["/proc",[],null]'
}

@test "a user whom the image knows, and files and HOME that the container brings, are left alone" {
    as_root
    config "$BUNDLE" 1:50 '"HOME=/mine"'
    create
    started '[[.mounts[].destination], .process.env]' '[["/proc"],["HOME=/mine"]]'
    config "$BUNDLE" 1234:1234 '"HOME=/"'
    gojq '.mounts += [{destination: "/etc/passwd", type: "bind", source: "/dev/null", options: ["bind"]}]' \
        "$BUNDLE/config.json" >"$DIR/new" && mv "$DIR/new" "$BUNDLE/config.json"
    create
    started '[[.mounts[].source], .process.env[-1]]' '[["proc","/dev/null","/run/flatbed/pin/user:group"],"HOME=/home/alice"]'
}

@test "HOME is a directory or a mount that exists" {
    as_root
    rmdir "$BUNDLE/rootfs/home/alice"
    create
    started .process.env '[]'
    [ "$(tail -n 1 "$DIR/low.passwd")" = alice:x:1234:1234:alice:/:/bin/sh ]
    mkdir -p "$DIR/srv/alice"
    policy '"passwd": true, "home": "/work/{user}"' \
        '"volumes": { "home": { "source": "'"$DIR"'/srv/{user}", "target": "/work/{user}", "access": "rw", "always": true, "optional": true } },'
    config "$BUNDLE"
    create
    started .process.env '["HOME=/work/alice"]'
    [ "$(tail -n 1 "$DIR/low.passwd")" = alice:x:1234:1234:alice:/work/alice:/bin/sh ]
    rmdir "$DIR/srv/alice"
    config "$BUNDLE"
    create
    started .process.env '[]'
}

@test "a second edit, and a second launch of the same bundle, keep what the first one made" {
    as_root
    create
    first=$(cat "$BUNDLE/config.json")
    cp "$DIR/low.passwd" "$DIR/first.passwd"
    create
    [ "$status" -eq 7 ]
    [ "$(cat "$BUNDLE/config.json")" = "$first" ]
    cmp "$DIR/first.passwd" "$DIR/low.passwd"
}

@test "an image cannot have another file read" {
    as_root
    echo 'secret:x:1:1::/:/bin/sh' >"$DIR/secret"
    for link in "$DIR/secret" "../../../../../../../../../..$DIR/secret" /proc/self/root/etc/passwd; do
        ln -sf "$link" "$BUNDLE/rootfs/etc/passwd"
        create
        started '[.mounts[].destination]' '["/proc","/etc/group"]'
        [ ! -s "$DIR/low.passwd" ]
        config "$BUNDLE"
    done
    # A link within the image is followed within the image.
    rm "$BUNDLE/rootfs/etc/passwd"
    printf 'inside:x:7:7::/:/bin/sh\n' >"$BUNDLE/rootfs/etc/real"
    ln -s /etc/real "$BUNDLE/rootfs/etc/passwd"
    create
    [ "$(head -n 1 "$DIR/low.passwd")" = inside:x:7:7::/:/bin/sh ]
    rm "$BUNDLE/rootfs/etc/passwd"
    mkfifo "$BUNDLE/rootfs/etc/passwd"
    rm -f "$DIR/low.passwd"
    config_keep=$(gojq 'del(.mounts[1:])' "$BUNDLE/config.json")
    echo "$config_keep" >"$BUNDLE/config.json"
    run --separate-stderr timeout 20 unshare -m sh -c 'exec "$@"' - "$FLATBED_RUNTIME" \
        "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    started '[.mounts[].destination]' '["/proc","/etc/group"]'
}

@test "a mount of a user cannot pass for a generated file" {
    as_root
    for edit in '.destination = "/x"' '.options += ["rw"]' '.source = "/run/flatbed/pin/user:group"' '.options += ["rshared"]' \
        '.options = ["ro", "bind"]' '.type = "none"' '.uidMappings = [{containerID: 0, hostID: 0, size: 9}]'; do
        config "$BUNDLE"
        gojq '.mounts += [{destination: "/etc/passwd", type: "bind", source: "/run/flatbed/pin/user:passwd", options: ["bind", "ro", "nosuid", "nodev", "noexec"]} | '"$edit]" \
            "$BUNDLE/config.json" >"$DIR/new" && mv "$DIR/new" "$BUNDLE/config.json"
        create
        [ "$status" -eq 1 ]
        [[ $stderr == *"has a source in /run/flatbed/pin"* ]]
    done
}

@test "exec gets HOME and the groups for the same user only" {
    as_root
    create
    mkdir -p "$DIR/root/c1" # as a low-level runtime does
    execs() {
        echo "$1" >"$DIR/process.json"
        run "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --root "$DIR/root" exec -p "$DIR/process.json" c1
        gojq -c '[.env, .user.additionalGids]' "$DIR/low.process"
    }
    [ "$(execs '{"user":{"uid":1234,"gid":1234},"env":["A=1"]}')" = '[["A=1","HOME=/home/alice"],[1234,5000,5003]]' ]
    [ "$(execs '{"user":{"uid":1234,"gid":1234,"additionalGids":[9,5003]},"env":["HOME=/"]}')" = '[["HOME=/home/alice"],[9,5003,1234,5000]]' ]
    [ "$(execs '{"user":{"uid":1234,"gid":1234},"env":["HOME=/x"]}')" = '[["HOME=/x"],[1234,5000,5003]]' ]
    [ "$(execs '{"user":{"uid":0,"gid":0},"env":["A=1"]}')" = '[["A=1"],null]' ]
    [ "$(execs '{"user":{"uid":1235,"gid":1234}}')" = '[null,null]' ]
    # Also after a second launch of the bundle, which was edited before.
    rmdir "$DIR/root/c1"
    create
    mkdir "$DIR/root/c1"
    [ "$(execs '{"user":{"uid":1234,"gid":1234},"env":["A=1"]}')" = '[["A=1","HOME=/home/alice"],[1234,5000,5003]]' ]
}

@test "names that a line cannot hold, or that the image gives to another user, become the uid" {
    as_root
    sed -i 's/^alice:x:1234/daemon:x:1234/' "$DIR/passwd"
    create
    [ "$(tail -n 1 "$DIR/low.passwd")" = 1234:x:1234:1234:daemon:/:/bin/sh ]
    printf 'a b:x:1234:1234::/:/bin/sh\n' >"$DIR/passwd"
    config "$BUNDLE"
    create
    [ "$(tail -n 1 "$DIR/low.passwd")" = 1234:x:1234:1234:1234:/:/bin/sh ]
}

@test "a refused directory of a group says --group-add, if the user is a member" {
    as_root
    for mode in 0770:5000 0770:5001 0770:6 0775:5000; do
        mkdir -p "$DIR/team"
        chown "0:${mode#*:}" "$DIR/team"
        chmod "${mode%:*}" "$DIR/team"
        policy '"passwd": false' '"binds": { "default": "allow", "require_access": true },'
        config "$BUNDLE"
        gojq --arg d "$DIR/team" '.mounts += [{destination: "/team", type: "bind", source: $d, options: ["bind"]}]' \
            "$BUNDLE/config.json" >"$DIR/new" && mv "$DIR/new" "$BUNDLE/config.json"
        cp "$BUNDLE/config.json" "$DIR/plain.json"
        create
        case $mode in
            0770:5000) [[ $stderr == *"may not read $DIR/team on this host ("*"); its group may: add --group-add 5000 (vision)" ]] ;;
            0770:*) [ "$status" -eq 1 ] && [[ $stderr != *group-add* ]] ;;
            0775:*) started '.mounts[1].options' '["bind","private","ro"]' ;;
        esac
        # With its groups, the process has the access of its user.
        policy '"groups": "user"' '"binds": { "default": "allow", "require_access": true },'
        cp "$DIR/plain.json" "$BUNDLE/config.json"
        create
        case $mode in
            *:5000) started '.mounts[1].options' '["bind"]' ;;
            *) [ "$status" -eq 1 ] ;;
        esac
    done
}

@test "mistakes in the policy are errors with their place" {
    for row in '"passwd": 1|expected true or false' '"home": "home"|is not an absolute path' '"home": "/{name}"|name' \
        '"home": "/a:b"|cannot hold' '"groups": "all"|expected one of none, user' '"shell": "x"|shell'; do
        policy "${row%%|*}"
        run --separate-stderr "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
        echo "$stderr"
        [ "$status" -eq 1 ]
        [[ $stderr == *"policy.json:2:"*"${row##*|}"* ]]
    done
}

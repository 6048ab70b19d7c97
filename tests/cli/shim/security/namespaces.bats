#!/usr/bin/env bats
# The namespaces that a container shares with the host, or joins, by the policy's "security"; its own user namespace.
# $FLATBED_RUNTIME is the program.

bats_require_minimum_version 1.5.0

load ../lib/security

has_own_ipc() { [ "$(readlink "/proc/$1/ns/ipc")" != "$(readlink /proc/self/ns/ipc)" ]; }

@test "host namespaces are detected: missing in the list, by process 1, by a link to one" {
    policy '"namespaces": { "host": ["uts"] }'
    config 'del(.linux.namespaces[] | select(.type == "pid"))'
    create
    refused "share the host's pid namespace"
    config '(.linux.namespaces[] | select(.type == "network")).path = "/proc/1/ns/net"'
    create
    refused "share the host's net namespace"
    ln -s /proc/self/ns/ipc "$DIR/ipc"
    config "(.linux.namespaces[] | select(.type == \"ipc\")).path = \"$DIR/ipc\""
    create
    refused "share the host's ipc namespace"
    config 'del(.linux.namespaces[] | select(.type == "uts"))'
    create
    passed
    rm "$DIR/low.config"
    unshare --ipc sleep 600 3>&- &
    local other=$!
    config "(.linux.namespaces[] | select(.type == \"ipc\")).path = \"/proc/$other/ns/ipc\""
    until has_own_ipc "$other"; do sleep 0.05; done
    create
    kill "$other"
    passed
}

@test "the namespace of a process is held: the process could enter the host's before it is joined" {
    local other before
    policy '"namespaces": { "host": [] }'
    unshare --ipc --pid --fork --kill-child sleep 600 3>&- &
    other=$!
    until has_own_ipc "$other"; do sleep 0.05; done
    config "(.linux.namespaces[] | select(.type == \"ipc\")).path = \"/proc/$other/ns/ipc\" |
        (.linux.namespaces[] | select(.type == \"pid\")).path = \"/proc/$other/ns/pid_for_children\""
    echo "stat -c %i /run/flatbed/pin/namespace-$other-* >'$DIR/joined'" >>"$DIR/low"
    create
    passed
    gojq -e --arg p "/run/flatbed/pin/namespace-$other" '.linux.namespaces | map(.path // empty) ==
        [$p + "-pid_for_children", $p + "-ipc"]' "$BUNDLE/config.json"
    stat -L -c %i "/proc/$other/ns/ipc" "/proc/$other/ns/pid_for_children" | diff - "$DIR/joined"
    # Another launch of the same bundle judges the process again.
    before=$(sha256sum <"$BUNDLE/config.json")
    create
    passed
    [ "$(sha256sum <"$BUNDLE/config.json")" = "$before" ]
    rm "$DIR/low.config"
    kill -9 "$other"
    wait "$other" || true
    create
    refused "share the host's pid namespace"
}

@test "a mount namespace is not joined by a process: it could not be held" {
    local other
    policy '"namespaces": { "host": [] }'
    unshare --ipc --mount sleep 600 3>&- &
    other=$!
    until has_own_ipc "$other"; do sleep 0.05; done
    config "(.linux.namespaces[] | select(.type == \"mount\")).path = \"/proc/$other/ns/mnt\""
    create
    kill "$other"
    refused 'join another mnt namespace by a path that a user could change'
}

@test "network devices of the host are not taken into a container" {
    policy '"namespaces": { "host": [] }'
    config '.linux.netDevices = {"eth0": {}}'
    create
    refused "the container would take eth0 from the host's network"
    policy '"namespaces": { "host": ["net"] }'
    create
    passed
}

@test "a namespace is joined only by a path that no user could change" {
    local other
    policy '"namespaces": { "host": [] }'
    mkdir "$DIR/theirs" "$DIR/roots"
    chown 1234:1234 "$DIR/theirs"
    touch "$DIR/roots/net" "$DIR/theirs/net"
    unshare --ipc --net sleep 600 3>&- &
    other=$!
    until has_own_ipc "$other"; do sleep 0.05; done
    ln -s "/proc/$other/ns/ipc" "$DIR/theirs/ipc"
    mount --bind "/proc/$other/ns/net" "$DIR/roots/net"
    mount --bind "/proc/$other/ns/net" "$DIR/theirs/net"
    config "(.linux.namespaces[] | select(.type == \"ipc\")).path = \"$DIR/theirs/ipc\""
    create
    refused 'join another ipc namespace by a path that a user could change'
    config "(.linux.namespaces[] | select(.type == \"network\")).path = \"$DIR/theirs/net\""
    create
    refused 'join another net namespace by a path that a user could change'
    config "(.linux.namespaces[] | select(.type == \"network\")).path = \"$DIR/roots/net\" |
        (.linux.namespaces[] | select(.type == \"ipc\")).path = \"/proc/$other/ns/ipc\""
    create
    umount "$DIR/roots/net" "$DIR/theirs/net"
    kill "$other"
    passed
}

@test "of two namespaces of one kind, each is judged" {
    policy '"namespaces": { "host": [] }'
    config '.linux.namespaces += [{type: "pid", path: "/proc/1/ns/pid"}]'
    create
    refused "share the host's pid namespace"
    config '.linux.namespaces = [{type: "ipc", path: "/proc/1/ns/ipc"}] + .linux.namespaces'
    create
    refused "share the host's ipc namespace"
}

@test "root of a user namespace has a working directory made in what it can write" {
    mkdir -p "$BUNDLE/rootfs" "$DIR/set"
    # in_set CHANGE: a container of Docker's userns-remap with a missing working directory in a mount.
    in_set() {
        rm -f "$DIR/low.config"
        config ".root.path = \"rootfs\" | .process.cwd = \"/x/new\" | .linux.namespaces = [{type: \"user\"}] |
            .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings |
            .mounts = [{destination: \"/x\", type: \"bind\", source: \"$DIR/set\", options: [\"rbind\"]}] | $1"
        create
    }
    in_vain() { in_set "$1" && refused "process.cwd: the runtime would make /x/new in a mount, as root, past [a-z.]*: make it first"; }
    policy '"devices": { "allow": [] }'
    in_set '.process.user.uid = 0'
    passed
    in_vain '.process.user.uid = 7'
    in_vain '.process.user.uid = 0 | .mounts[0].options += ["ro"]'
    in_vain '.process.user.uid = 0 | .linux.uidMappings[0].hostID = 0'
    # A rule that takes the access to write away, and one that does not.
    rule() {
        echo "{ \"version\": 1, \"runtime\": { \"paths\": [\"$DIR/low\"] }, \"binds\": { \"default\": \"deny\", \"rules\": [
            { \"path\": \"$DIR/set\", \"access\": \"$1\" } ] } }" >"$DIR/policy.json"
    }
    rule ro
    in_vain '.process.user.uid = 0'
    rule allow
    in_set '.process.user.uid = 0'
    passed
    rule 'allow", "options": ["nosuid", "nodev"], "say": "x'
    in_set '.process.user.uid = 0'
    passed
}

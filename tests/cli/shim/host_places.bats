#!/usr/bin/env bats
# Places of the host that the low-level runtime would change as root, before a runtime that only records its config.json:
# nodes, working directories, remounts and cgroups. $FLATBED_RUNTIME is the program.

bats_require_minimum_version 1.5.0

load lib/security

teardown() {
    [ -z "${SERVER-}" ] || kill "$SERVER"
    remove_mounted
}

@test "an image whose /dev is a symbolic link is refused, also by binds alone" {
    local section to
    mkdir -p "$BUNDLE/rootfs"
    for to in /etc ../etc /d/a; do
        ln -sfn "$to" "$BUNDLE/rootfs/dev"
        for section in '"security": { "devices": { "allow": [] } }' '"security": { "preset": "shared-lab" }' '"binds": { "default": "deny" }'; do
            echo "{ \"version\": 1, \"runtime\": { \"paths\": [\"$DIR/low\"] }, $section }" >"$DIR/policy.json"
            config '.root.path = "rootfs"'
            create
            refused "/dev of the image is a symbolic link to $to, behind which the runtime would make nodes on this host, past "
        done
    done
    rm "$BUNDLE/rootfs/dev"
    mkdir "$BUNDLE/rootfs/dev"
    create
    passed
}

# The runtime makes nodes by path, and gives them to their owners: where users can change the way, they could be links by then.
@test "a node behind a link of the image, or in a mount, is refused" {
    local change
    mkdir -p "$BUNDLE/rootfs/dev" "$DIR/me"
    ln -s / "$BUNDLE/rootfs/lroot"
    ln -s /x "$BUNDLE/rootfs/dev/a"
    policy '"devices": { "allow": [] }'
    while IFS= read -r change; do
        config ".root.path = \"rootfs\" | .bind = {type: \"bind\", source: \"$DIR/me\", options: [\"rbind\"]} | $change | del(.bind)"
        create
        refused 'linux.devices: the node /dev/[a-z0-9/-]+ would be made behind a link of the image, or in a mount, past security.devices'
    done <<'END'
.mounts = [{destination: "/dev", type: "tmpfs"}, {destination: "/lroot/dev/t"} + .bind] | .linux.devices = [{path: "/dev/t/zz", type: "c", major: 1, minor: 3}]
.mounts = [{destination: "/x"} + .bind] | .linux.devices = [{path: "/dev/a/zz", type: "c", major: 1, minor: 3}]
.mounts = [{destination: "/dev", type: "tmpfs", options: ["tmpcopyup"]}, {destination: "/x"} + .bind] | .linux.devices = [{path: "/dev/a/zz", type: "c", major: 1, minor: 3}]
.mounts = [{destination: "/lroot/dev"} + .bind]
END
    config '.root.path = "rootfs" | .mounts = [{destination: "/dev", type: "tmpfs"}, {destination: "/dev/pts", type: "devpts"}] |
        .linux.devices = [{path: "/dev/zero", type: "c", major: 1, minor: 5}, {path: "/dev/a/zero", type: "c", major: 1, minor: 5}]'
    create
    passed
}

@test "a privileged container has the nodes of a host whose /dev is mounted, and gets none in another mount" {
    local at
    policy '"privileged": "allow", "devices": { "allow": [] }'
    mkdir -p "$BUNDLE/rootfs"
    node_in() {
        config ".root.path = \"rootfs\" | .process.capabilities.bounding += [\"CAP_SYS_ADMIN\"] | del(.linux.seccomp) |
            .linux.resources.devices = [{allow: true, access: \"rwm\"}] | .linux.devices = [{path: \"/dev/x/null\", type: \"c\", major: 1, minor: 3}] |
            .mounts = [{destination: \"$1\", type: \"bind\", source: \"$DIR\", options: [\"rbind\"]}]"
        rm -f "$DIR/low.config"
        create
    }
    node_in /dev
    passed
    node_in /dev/x
    refused 'linux.devices: the node /dev/x/null would be made behind a link of the image, or in a mount'
    # runc or crun makes all nodes where the mount is written so.
    for at in dev /dev/. /dev/ //dev /dev/x/..; do
        node_in "$at"
        refused 'linux.devices: the node /dev/[a-z/]+ would be made behind a link of the image, or in a mount'
    done
}

# runc follows 255 links on the way, the kernel 40.
@test "a way with too many links of the image is refused, for mounts, nodes and the working directory" {
    local i
    mkdir -p "$BUNDLE/rootfs/etc" "$DIR/me"
    ln -s etc "$BUNDLE/rootfs/k1"
    for ((i = 2; i <= 41; i++)); do ln -s "k$((i - 1))" "$BUNDLE/rootfs/k$i"; done
    policy '"devices": { "allow": [] }'
    config ".root.path = \"rootfs\" | .mounts = [{destination: \"/k41/x\", type: \"bind\", source: \"$DIR/me\", options: [\"rbind\"]}]"
    create
    refused 'mounts: where /k41/x leads cannot be told: more than 40 symbolic links'
    config '.root.path = "rootfs" | .linux.devices = [{path: "/k41/zero", type: "c", major: 1, minor: 5}]'
    create
    refused 'the node /k41/zero would be made behind a link of the image'
    config '.root.path = "rootfs" | .process.cwd = "/k41/new"'
    create
    refused 'process.cwd: the runtime would make /k41/new in a mount'
    config ".root.path = \"rootfs\" | .process.cwd = \"/k40\" | .mounts = [{destination: \"/k40/x\", type: \"bind\", source: \"$DIR/me\", options: [\"rbind\"]}]"
    create
    passed
}

@test "a working directory that is missing in a mount is refused: the runtime would make it as root" {
    mkdir -p "$BUNDLE/rootfs" "$DIR/set/train"
    ln -s / "$DIR/set/up"
    policy '"devices": { "allow": [] }'
    for cwd in /x/new /x/train/new/er /x/up/etc/new /../x/new; do
        rm -f "$DIR/low.config"
        config ".root.path = \"rootfs\" | .mounts = [{destination: \"/x\", type: \"bind\", source: \"$DIR/set\", options: [\"rbind\", \"ro\"]}] |
            .process.cwd = \"$cwd\""
        create
        refused "process.cwd: the runtime would make $cwd in a mount, as root, past security.devices: make it first"
    done
    for cwd in /x /x/train /x/train/ /new /; do
        config ".root.path = \"rootfs\" | .mounts = [{destination: \"/x\", type: \"bind\", source: \"$DIR/set\", options: [\"rbind\", \"ro\"]}] |
            .process.cwd = \"$cwd\""
        create
        passed
    done
}

# proc has links to the root, and the runtimes make links into proc in /dev.
@test "a working directory or node behind a link of proc is refused" {
    mkdir -p "$BUNDLE/rootfs" "$DIR/me"
    ln -s /proc/self/root/h "$BUNDLE/rootfs/prh"
    policy '"devices": { "allow": [] }'
    in_home() {
        rm -f "$DIR/low.config"
        config ".root.path = \"rootfs\" | $1 | .mounts = [{destination: \"/proc\", type: \"proc\"}, {destination: \"/dev\", type: \"tmpfs\"},
            {destination: \"/dev/shm\", type: \"tmpfs\"}, {destination: \"/h\", type: \"bind\", source: \"$DIR/me\", options: [\"rbind\"]}]"
        create
    }
    for cwd in /proc/self/root/h/new /proc/1/root/h/new /prh/new /dev/fd/../root/h/new /dev/fd/7/h/new; do
        in_home ".process.cwd = \"$cwd\""
        refused "process.cwd: the runtime would make $cwd in a mount"
    done
    in_home '.linux.devices = [{path: "/proc/self/root/h/null", type: "c", major: 1, minor: 3}]'
    refused 'the node /proc/self/root/h/null would be made behind a link of the image, or in a mount'
    for cwd in /proc /dev /dev/shm /dev/shm/new /h /new; do
        in_home ".process.cwd = \"$cwd\""
        passed
    done
}

@test "a mount that changes an earlier one is refused, whatever judges mounts" {
    local section mount
    mkdir -p "$DIR/srv/set"
    for section in '"binds": { "default": "allow", "rules": [ { "path": "'"$DIR"'/srv", "access": "ro" } ] }' \
        '"binds": { "default": "deny", "rules": [ { "path": "'"$DIR"'/srv", "access": "ro" } ] }' '"security": { "system_paths": "deny" }' \
        '"volumes": { "sets": { "source": "'"$DIR"'/srv/{name}", "target": "/sets/{name}" } }'; do
        echo "{ \"version\": 1, \"runtime\": { \"paths\": [\"$DIR/low\"] }, $section }" >"$DIR/policy.json"
        for mount in '{type: "tmpfs", source: "tmpfs", options: ["remount", "rw"]}' \
            '{type: "bind", source: "'"$DIR"'/srv", options: ["bind", "remount", "rw"]}' \
            '{type: "sysfs", source: "sysfs", options: ["rw", "remount"]}'; do
            config ".mounts += [{destination: \"/x\"} + $mount]"
            create
            refused 'the mount on /x would change an earlier one \(remount\), past '
        done
    done
    echo "{ \"version\": 1, \"runtime\": { \"paths\": [\"$DIR/low\"] }, \"audit\": {} }" >"$DIR/policy.json"
    create
    passed
}

@test "all cgroups of the host are not writable in a container without a cgroup namespace" {
    policy '"system_paths": "deny"'
    for type in cgroup cgroup2; do
        config '.linux.maskedPaths = ["/proc/kcore"] | .linux.readonlyPaths = ["/proc/bus", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"] |
            .mounts += [{destination: "/x", type: "'$type'", source: "cgroup", options: ["nosuid", "rro"]}]'
        rm -f "$DIR/low.config"
        create
        refused 'the container would have all cgroups of this host, writable, on /x: give it a cgroup namespace'
        gojq '.mounts[-1].options += ["ro"]' "$BUNDLE/config.json" >"$DIR/new" && cp "$DIR/new" "$BUNDLE/config.json"
        create
        passed
        # Root of Docker's userns-remap is nobody to the cgroups, for which dockerd leaves out ro.
        gojq '.mounts[-1].options = [] | .linux.namespaces = [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] |
            .linux.gidMappings = .linux.uidMappings' "$BUNDLE/config.json" >"$DIR/new" && cp "$DIR/new" "$BUNDLE/config.json"
        create
        passed
        gojq '.linux.uidMappings[0].hostID = 0' "$BUNDLE/config.json" >"$DIR/new" && cp "$DIR/new" "$BUNDLE/config.json"
        rm "$DIR/low.config"
        create
        refused 'the container would have all cgroups of this host, writable'
        gojq 'del(.linux.uidMappings, .linux.gidMappings) | .linux.namespaces = []' "$BUNDLE/config.json" >"$DIR/new" && cp "$DIR/new" "$BUNDLE/config.json"
        gojq '.mounts[-1].options = [] | .linux.namespaces += [{type: "cgroup"}]' "$BUNDLE/config.json" >"$DIR/new" &&
            cp "$DIR/new" "$BUNDLE/config.json"
        create
        passed
    done
}

@test "a cgroup that has processes, or that is above one, is refused" {
    local top=/sys/fs/cgroup name=flatbedtest$$ pid
    [ "$(stat -fc %T $top)" = cgroup2fs ] || top=$top/pids
    mkdir -p "$top/$name/below" || { [ "$CI" != true ] && skip "no cgroup can be made"; return 1; }
    sleep 600 3>&- &
    pid=$!
    echo "$pid" >"$top/$name/below/cgroup.procs"
    policy '"devices": { "allow": [] }'
    for path in "/$name/below" "/$name" "$name" "//$name/"; do
        config ".linux.cgroupsPath = \"$path\""
        create
        refused "linux.cgroupsPath: '$path' has processes already, which would get the container's limits, past security.devices"
    done
    mkdir -p "$top/$name.slice/$name-9.slice/session-3.scope" "$top/$name:b:c"
    for path in "$name-9.slice:session:3" "$name:b:c"; do
        rm -f "$DIR/low.config"
        echo "$pid" >"$top/$name:b:c/cgroup.procs"
        [ "$path" = "$name:b:c" ] || echo "$pid" >"$top/$name.slice/$name-9.slice/session-3.scope/cgroup.procs"
        config ".linux.cgroupsPath = \"$path\""
        create
        refused "linux.cgroupsPath: '$path' has processes already"
    done
    for path in "/$name/own" "$name-own"; do
        config ".linux.cgroupsPath = \"$path\""
        create
        passed
    done
    kill "$pid"
    wait "$pid" || true
    config ".linux.cgroupsPath = \"/$name\""
    create
    passed
    rmdir "$top/$name/below" "$top/$name" "$top/$name.slice/$name-9.slice/session-3.scope" "$top/$name.slice/$name-9.slice" \
        "$top/$name.slice" "$top/$name:b:c"
}

# Root is not let in; the user is tried by a child that even SIGKILL does not end.
@test "a user's file system that never answers is refused, as working directory and as source" {
    local start
    mkdir -p "$BUNDLE/rootfs" "$DIR/me/silent"
    chown -R 1234:1234 "$DIR/me"
    python3 -B "$BATS_TEST_DIRNAME/lib/silent_fs.py" "$DIR/me/silent" 1234 >/dev/null 2>&1 3>&- &
    SERVER=$!
    until grep -q "$DIR/me/silent" /proc/self/mountinfo; do sleep 0.1; done
    policy '"devices": { "allow": [] }' "\"binds\": { \"require_access\": true, \"rules\": [ { \"path\": \"$DIR/me\", \"access\": \"allow\" } ] },"
    in_vain() {
        config ".root.path = \"rootfs\" | .mounts = [{destination: \"/x\", type: \"bind\", source: \"$1\", options: [\"rbind\"]}] | .process.cwd = \"$2\""
        start=$SECONDS
        create
        refused "$3"
        ((SECONDS - start < 60))
    }
    in_vain "$DIR/me" /x/silent "process.cwd: /x/silent does not answer the container's user within 10 seconds"
    in_vain "$DIR/me/silent" / "the mount of $DIR/me/silent on /x: it cannot be looked at: Permission denied"
}

#!/usr/bin/env bats
# The policy's "security" on a real host, in front of a runtime that only records its config.json.
# $FLATBED_RUNTIME is the program.

bats_require_minimum_version 1.5.0

load ../lib/security

@test "an ordinary container is unchanged byte for byte" {
    policy '"privileged": "deny", "user": { "root": "deny" }, "seccomp": { "require": true, "deny": ["mount", "bpf"] },
            "namespaces": { "host": [] }, "devices": { "allow": [] }, "annotations": { "deny": ["run.oci.*"] }, "hooks": "deny"'
    create
    passed
    cmp "$BUNDLE/config.json" "$DIR/low.config"
}

@test "root on the host is refused; root of a user namespace is not" {
    policy '"user": { "root": "deny", "say": "use --user" }'
    config '.process.user.uid = 0'
    create
    refused 'security.user: the container.s process would be root on this host: use --user'
    config '.process.user.uid = 0 | .linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
    create
    passed
}

@test "a process with a capability to become root is treated as root" {
    policy '"user": { "root": "deny" }'
    config '.process.capabilities.ambient = ["CAP_SETUID"]'
    create
    refused 'security.user: the container.s process could act as root on this host by CAP_SETUID \(sets any uid\): run it without --cap-add'
    policy '"user": { "root": "deny" }, "capabilities": { "drop": ["SETUID"] }'
    create
    passed
    rm "$DIR/low.config"
    policy '"user": { "root": "deny" }'
    config '.process.capabilities.ambient = ["CAP_SETUID"] | .linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
    create
    passed
}

@test "id maps: no id of the container is root of the host" {
    local map
    policy '"user": { "root": "deny" }'
    for map in '[{containerID: 0, hostID: 1001, size: 1}, {containerID: 1, hostID: 0, size: 1}]' \
        '[{containerID: 0, hostID: 1001, size: 2000}, {containerID: 9000, hostID: 0, size: 5}]'; do
        config ".process.user.uid = 0 | .linux.namespaces += [{type: \"user\"}] | .linux.uidMappings = $map |
            .linux.gidMappings = [{containerID: 0, hostID: 1001, size: 65536}]"
        create
        refused "security.user: uid (1|9000) of the container's user namespace is root's on this host"
        config ".process.user.uid = 0 | .linux.namespaces += [{type: \"user\"}] | .linux.gidMappings = $map |
            .linux.uidMappings = [{containerID: 0, hostID: 1001, size: 65536}]"
        create
        refused "security.user: gid (1|9000) of the container's user namespace is root's on this host"
    done
}

@test "id maps without a user namespace, or a user namespace without maps, hide no root" {
    policy '"user": { "root": "deny" }'
    config '.process.user.uid = 0 | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
    create
    refused 'would be root on this host'
    config '.linux.namespaces += [{type: "user"}]'
    create
    refused "ids of the container's user namespace are not known"
}

@test "each ambient capability that makes root is refused, alone and among others" {
    local name
    policy '"user": { "root": "deny" }'
    for name in SETUID SETGID DAC_OVERRIDE DAC_READ_SEARCH CHOWN FOWNER SETFCAP MKNOD SYS_ADMIN SYS_MODULE SYS_PTRACE \
        SYS_RAWIO SYS_BOOT BPF PERFMON; do
        config ".process.capabilities.ambient = [\"CAP_KILL\", \"CAP_$name\"]"
        create
        refused "security.user: .* could act as root on this host by CAP_$name \([^)]+\): run it without"
    done
    config '.process.capabilities.ambient = ["CAP_CHOWN", "CAP_MKNOD", "CAP_CHOWN", "CAP_OF_TOMORROW", "7"]'
    create
    refused 'by CAP_CHOWN \(takes files from root\), CAP_MKNOD, CAP_OF_TOMORROW, 7:'
    config '.process.capabilities.ambient = ["CAP_KILL", "CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SYS_NICE", "CAP_IPC_LOCK"]'
    create
    passed
    rm "$DIR/low.config"
    config '.process.capabilities.ambient = ["CAP_DAC_READ_SEARCH", "CAP_OF_TOMORROW"]'
    policy '"user": { "root": "deny" }, "capabilities": { "max": ["CHOWN", "NET_BIND_SERVICE"] }'
    create
    passed
    [ "$(gojq -c .process.capabilities.ambient "$DIR/low.config")" = '[]' ]
    rm "$DIR/low.config"
    config '.process.capabilities.ambient = ["CAP_CHOWN"]'
    create
    refused 'by CAP_CHOWN'
}

# joins UID-MAP: the container joins the user namespace of another process, as its uid 0; sets $other.
joins() {
    unshare --user sleep 600 3>&- &
    other=$!
    until [ "$(readlink "/proc/$other/ns/user")" != "$(readlink /proc/self/ns/user)" ]; do sleep 0.05; done
    echo -e "$1" >"$DIR/map"
    dd if="$DIR/map" of="/proc/$other/uid_map" bs=4096 status=none # in one write
    printf '0 100000 1000' >"/proc/$other/gid_map"
    config ".process.user.uid = 0 | .linux.namespaces += [{type: \"user\", path: \"/proc/$other/ns/user\"}]"
}

@test "a user namespace that a container joins is looked at: the host's, one with its root, another" {
    local other
    policy '"user": { "root": "deny" }'
    config '.linux.namespaces += [{type: "user", path: "/proc/1/ns/user"}] | .process.capabilities.ambient = ["CAP_SETUID"]'
    create
    refused 'could act as root on this host'
    config '.linux.namespaces += [{type: "user", path: "/nonexistent"}] | .process.capabilities.ambient = ["CAP_SETUID"]'
    create
    refused 'could act as root on this host|are not known'
    joins '0 100000 1000'
    create
    kill "$other"
    passed
    rm "$DIR/low.config"
    joins '0 1001 1\n1 0 1'
    create
    kill "$other"
    refused "uid 1 of the container's user namespace is root's on this host"
}

@test "groups that are not the user's own on the host are refused, or taken away" {
    policy '"user": { "groups": "own" }'
    config '.process.user = {uid: 7777001, gid: 0}'
    create
    refused 'security.user: the container.s process would have the group 0 \(root\), which is root.s on this host: run it with a group'
    config '.process.user = {uid: 7777001, gid: 42}'
    create
    refused 'the group 42.*, which is'
    config '.process.user = {uid: 7777001, gid: 7777001, additionalGids: [0, 7777002, 42, 6]}'
    create
    passed
    [ "$(gojq -c .process.user "$DIR/low.config")" = '{"additionalGids":[7777002],"gid":7777001,"uid":7777001}' ]
    rm "$DIR/low.config"
    config '.process.user = {uid: 7777001, gid: 42} | .linux.namespaces += [{type: "user", path: "/nonexistent"}]'
    create
    refused 'the container joins a user namespace whose mapping is not known'
    config '.process.user = {uid: 5, gid: 5} | .linux.namespaces += [{type: "user"}]
        | .linux.uidMappings = [{containerID: 5, hostID: 7777001, size: 1}] | .linux.gidMappings = [{containerID: 5, hostID: 42, size: 1}]'
    create
    refused 'the group 42'
    config '.process.user = {uid: 5, gid: 5} | .linux.namespaces += [{type: "user"}]
        | .linux.uidMappings = [{containerID: 5, hostID: 7777001, size: 1}]
        | .linux.gidMappings = [{containerID: 5, hostID: 7777001, size: 1}, {containerID: 6, hostID: 42, size: 1}]'
    create
    refused 'has gids 42 to 42 of this host'
}

@test "root is denied: an idmapped mount of the user's is refused, a volume is not" {
    local change
    policy '"user": { "root": "deny" }'
    for change in '{uidMappings: [{containerID: 0, hostID: 1234, size: 1}]}' '{options: ["rbind", "idmap"]}' \
        '{options: ["bind", "ridmap=uids=0-1234-1;gids=0-1234-1"]}'; do
        config ".mounts = [{destination: \"/x\", type: \"bind\", source: \"/srv\", options: [\"rbind\"]} + $change]"
        create
        refused "security.user: files of the mount on /x can be root's on this host"
    done
    config '.mounts = [{destination: "/x", type: "bind", source: "/srv", options: ["rbind"]}]'
    create
    passed
}

@test "devices are identified by number, not by name" {
    policy '"devices": { "allow": ["/dev/fu*", "/dev/none/*"] }'
    [ -e /dev/full ] || skip "no /dev/full"
    mknod "$DIR/special" c 250 7
    config '.linux.devices = [{path: "/dev/fuse", type: "c", major: 250, minor: 7}]'
    create
    refused '/dev/fuse \(c 250:7\) is not allowed'
    policy "\"devices\": { \"allow\": [\"$DIR/spec*\"] }"
    create
    passed
}

@test "a node is made in /dev alone, and in no mount of the user" {
    policy '"devices": { "allow": [] }'
    for path in /mnt/tty /dev/here/tty /dev/../mnt/tty /dev dev/tty; do
        config ".linux.devices = [{path: \"$path\", type: \"c\", major: 136, minor: 3}] |
            .mounts += [{destination: \"/dev/here\", type: \"bind\", source: \"$DIR\", options: [\"rbind\"]}]"
        create
        refused "the node $path is not in the container's own /dev: name a path in /dev"
    done
    config '.linux.devices = [{path: "/dev/there/tty", type: "c", major: 136, minor: 3}]'
    create
    passed
}

@test "a mode that makes another type of a node is refused: crun hands it to mknod(2) as it is" {
    policy '"devices": { "allow": [] }'
    for mode in 060777 040777 '"0666"' 1.5 -1; do
        [[ $mode == 0* ]] && mode=$((mode))
        config ".linux.devices = [{path: \"/dev/n\", type: \"c\", major: 1, minor: 3, fileMode: $mode}]"
        create
        refused "the node /dev/n has a fileMode that is not of its type: leave it out"
    done
    for mode in 0666 020666 null; do
        [[ $mode == 0* ]] && mode=$((mode))
        config ".linux.devices = [{path: \"/dev/n\", type: \"c\", major: 1, minor: 3, fileMode: $mode}]"
        create
        passed
    done
}

@test "capabilities are dropped, no_new_privileges is set, and a second edit changes nothing" {
    local before
    policy '"capabilities": { "max": ["CHOWN"] }, "no_new_privileges": true'
    create
    passed
    [ "$(gojq -c '.process.capabilities.bounding' "$DIR/low.config")" = '["CAP_CHOWN"]' ]
    [ "$(gojq -c '.process.noNewPrivileges' "$DIR/low.config")" = true ]
    before=$(sha256sum <"$BUNDLE/config.json")
    create
    [ "$(sha256sum <"$BUNDLE/config.json")" = "$before" ]
}

@test "a container without a seccomp filter is refused, or gets the filter of the policy" {
    config 'del(.linux.seccomp)'
    policy '"seccomp": { "require": true }'
    create
    refused 'no filter for system calls'
    echo '{ "defaultAction": "SCMP_ACT_ERRNO", "syscalls": [ { "names": ["read"], "action": "SCMP_ACT_ALLOW" } ] }' >"$DIR/profile.json"
    policy "\"seccomp\": { \"require\": true, \"profile\": \"$DIR/profile.json\", \"deny\": [\"mount\"] }"
    chmod 0666 "$DIR/profile.json"
    create
    refused "seccomp profile $DIR/profile.json: not a file that only root can write"
    chmod 0644 "$DIR/profile.json"
    create
    passed
    [ "$(gojq -c .linux.seccomp "$DIR/low.config")" = "$(gojq -c . "$DIR/profile.json")" ]
    policy "\"seccomp\": { \"profile\": \"$DIR/profile.json\", \"deny\": [\"read\"] }"
    rm "$DIR/low.config"
    create
    refused 'filter allows read'
}

@test "a filter that allows a denied call is refused" {
    policy '"seccomp": { "deny": ["mount", "bpf"] }'
    config '.linux.seccomp.syscalls += [{names: ["mount"], action: "SCMP_ACT_ALLOW", args: [{index: 3, value: 4096, op: "SCMP_CMP_EQ"}]}]'
    create
    refused "the container's filter allows mount \($DIR/policy.json:"
    config 'del(.linux.seccomp)'
    create
    refused "filter allows mount, bpf"
    config '.linux.seccomp.defaultAction = "SCMP_ACT_NONE"'
    create
    refused 'linux.seccomp: an unknown default action'
}

@test "a privileged container is refused, or left unchanged" {
    config '.process.capabilities.bounding += ["CAP_SYS_ADMIN"] | .linux.resources.devices = [{allow: true, access: "rwm"}] | del(.linux.seccomp)'
    policy '"privileged": "deny"'
    create
    refused 'security.privileged: the container is privileged'
    policy '"privileged": "allow", "capabilities": { "max": [] }, "devices": { "allow": [] }, "seccomp": { "require": true, "deny": ["bpf"] }'
    create
    passed
    cmp "$BUNDLE/config.json" "$DIR/low.config"
}

@test "denied annotations and hooks are refused, also for the pause container of a pod" {
    policy '"annotations": { "deny": ["run.oci.*"] }, "hooks": "deny"'
    config '.annotations = {"run.oci.handler": "x", "io.kubernetes.cri.container-type": "sandbox"}'
    create
    refused "'run.oci.handler' may not be set"
    config '.hooks = {prestart: [{path: "/bin/true"}]}'
    create
    refused 'the container has prestart hooks'
}

@test "each refusal says what is allowed, or what to do" {
    local change section says
    while IFS='|' read -r change section says; do
        config "${change/@/|}"
        policy "$section"
        create
        refused "$says"
    done <<'END'
.process.capabilities.bounding += ["CAP_SYS_ADMIN"] @ del(.linux.resources)|"privileged": "deny"|leave out --privileged
.process.user.uid = 0|"user": { "root": "deny" }|would be root on this host: run it as a user, as with --user
del(.linux.seccomp)|"seccomp": { "require": true }|leave out --security-opt seccomp
.linux.namespaces @= map(select(.type != "network"))|"namespaces": { "host": ["ipc", "uts"] }|namespaces of the host that may be shared: ipc, uts
.linux.namespaces @= map(select(.type != "network"))|"namespaces": { "host": [] }|namespaces of the host that may be shared: none .*--network=host
.linux.devices = [{path: "/dev/x", type: "b", major: 8, minor: 0}]|"devices": { "allow": ["/dev/null", "/dev/fuse", "/dev/null"] }|allowed devices: /dev/null, /dev/fuse$
del(.linux.resources)|"devices": { "allow": [] }|allowed devices: none
.annotations["run.oci.handler"] = "x"|"annotations": { "deny": ["run.oci.*", "x"] }|denied annotations: run.oci.\*, x
.hooks = {prestart: [{path: "/bin/true"}]}|"hooks": "deny"|.*ask the administrator
.linux.readonlyPaths = []|"system_paths": "deny"|leave out --security-opt systempaths=unconfined
.linux.devices = [{path: "/x", type: "c", major: 1, minor: 3}]|"devices": { "allow": [] }|name a path in /dev .*policy.json:2.$
.linux.seccomp.listenerPath = "/s"|"seccomp": { "require": true }|leave out listenerPath .*policy.json:2.$
.annotations["run.oci.handler"] = "x"|"devices": { "allow": [] }, "annotations": { "deny": ["x"] }|leave it out .*policy.json:2.$
.linux.cgroupsPath = "/system/c1"|"cgroups": { "parents": ["/docker", "lab.slice"] }|would be in ./system. .*; allowed parents: /docker, lab.slice$
.process.rlimits = [{type: "RLIMIT_NICE", soft: 0, hard: 40}]|"realtime": "deny"|security.realtime: .*, by RLIMIT_NICE above 20 .--ulimit nice.: leave this out .*policy.json:2.$
del(.linux.seccomp)|"seccomp": { "profile": "/nonexistent" }|seccomp profile /nonexistent: .*: ask the administrator .*policy.json:2.$
END
}

@test "an annotation that replaces what the policy judges is refused, also by binds alone" {
    policy '"seccomp": { "deny": ["mount"] }'
    config '.annotations = {"run.oci.seccomp_bpf_data": "BgAAAAAA/38="}'
    create
    refused "security.annotations: 'run.oci.seccomp_bpf_data' replaces the filter for system calls, past security.seccomp"
    echo "{ \"version\": 1, \"runtime\": { \"paths\": [\"$DIR/low\"] }, \"binds\": { \"default\": \"deny\" } }" >"$DIR/policy.json"
    config '.annotations = {"run.oci.hooks.stdout": "/etc/cron.d/x"}'
    create
    refused "'run.oci.hooks.stdout' has root write to a file of the host, past binds: leave it out"
    echo "{ \"version\": 1, \"runtime\": { \"paths\": [\"$DIR/low\"] } }" >"$DIR/policy.json"
    create
    passed
}

@test "names that Go folds, and NUL bytes, are refused at every depth" {
    local count=0 change message
    policy '"devices": { "allow": [] }, "seccomp": { "deny": ["mount"] }, "hooks": "deny", "user": { "root": "deny" }'
    while IFS='|' read -r change message; do
        config "${change/@/|}"
        create
        refused "$message"
        count=$((count + 1))
    done <<'END'
.linux.resources.Devices = [{Allow: true, access: "rwm"}]|linux.resources: the member "Devices" would be read as "devices"
.linux.resources.devices += [{Allow: true, allow: false, access: "rwm"}]|linux.resources.devices\[1\]: the member "Allow"
.linux.seccomp.DefaultAction = "SCMP_ACT_ALLOW"|linux.seccomp: the member "DefaultAction"
.linux.seccomp.syscalls[0].Names = ["mount"]|linux.seccomp.syscalls\[0\]: the member "Names"
.linux.seccomp.syscalls[0].names += ["mount\u0000"]|linux.seccomp.syscalls\[0\].names\[2\]: a NUL byte
.hooks.Prestart = [{path: "/bin/true"}]|hooks: the member "Prestart"
.process.capabilities.ambient = ["CAP_SETUID\u0000"]|process.capabilities.ambient\[0\]: a NUL byte
END
    [ "$count" -eq 7 ]
}

@test "permissive: several denials at once leave config.json unchanged" {
    policy '"user": { "root": "deny" }, "hooks": "deny", "seccomp": { "require": true }' '"mode": "permissive",'
    config '.process.user.uid = 0 | .hooks = {prestart: [{path: "/bin/true"}]} | del(.linux.seccomp)'
    create
    passed
    cmp "$BUNDLE/config.json" "$DIR/low.config"
}

@test "permissive: each denial alone leaves config.json unchanged" {
    local denials=0 change section
    while IFS='|' read -r change section; do
        config "${change/@/|}"
        rm -f "$DIR/low.config"
        policy "$section"
        create
        refused 'security\.'
        policy "$section" '"mode": "permissive",'
        cp "$BUNDLE/config.json" "$DIR/before"
        create
        passed
        cmp "$DIR/before" "$DIR/low.config"
        denials=$((denials + 1))
    done <<'END'
.process.capabilities.bounding += ["CAP_SYS_ADMIN"] @ del(.linux.resources)|"privileged": "deny"
.process.user.uid = 0|"user": { "root": "deny" }
.process.capabilities.ambient = ["CAP_DAC_READ_SEARCH"]|"user": { "root": "deny" }
del(.linux.seccomp)|"seccomp": { "require": true }
.linux.seccomp.defaultAction = "SCMP_ACT_TRACE"|"seccomp": { "deny": ["mount"] }
.linux.namespaces @= map(select(.type != "network"))|"namespaces": { "host": [] }
.linux.devices = [{path: "/dev/x", type: "b", major: 8, minor: 0}]|"devices": { "allow": [] }
del(.linux.resources)|"devices": { "allow": [] }
.annotations["run.oci.handler"] = "x"|"annotations": { "deny": ["run.oci.*"] }
.hooks = {prestart: [{path: "/bin/true"}]}|"hooks": "deny"
.linux.readonlyPaths = []|"system_paths": "deny"
.process.rlimits = [{type: "RLIMIT_RTPRIO", soft: 1, hard: 1}]|"realtime": "deny"
END
    [ "$denials" -eq 12 ]
}

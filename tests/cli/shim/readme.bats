#!/usr/bin/env bats
# The policy that README prints, on what Docker 20.10 and podman 4.3 write into config.json (lib/recorded: `run --user
# 1001:1001 IMAGE true`; @DIR@ is the directory of data-root and exec-root, @ID@ the container's ID, @PID@ that of
# dockerd). The policies of the man page and of the Chinese README say the same.
#
# shellcheck disable=SC2154  # status and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/config_recorder

ID=069f8087cff1e03257a1d8f3edcbb9412f664b3189467ef71ba1e5044283ecf3
OTHER=2276fee25a45fb414f756f229e0449acc7cb64f4e607f3f171b152bcaf7fdff6
SOURCE=$BATS_TEST_DIRNAME/../../..

setup() {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-readme.XXXXXX")
    chmod 0755 "$DIR"
    mkdir -p "$DIR"/srv/data/imagenet "$DIR"/srv/{logs,cache} "$DIR"/home/1001 "$DIR"/log "$DIR/lib/prometheus/node-exporter"
    chown 1001:1001 "$DIR/home/1001"
    printf '#!/bin/sh\ncp "$3/config.json" "%s/low.config"\n' "$DIR" >"$DIR/low"
    chmod 0755 "$DIR/low"
    cp "$(readlink -f "$(command -v sleep)")" "$DIR/dockerd"
    "$DIR/dockerd" 600 3>&- &
    DOCKERD=$!
    until [ "$(readlink "/proc/$DOCKERD/exe")" = "$DIR/dockerd" ]; do sleep 0.02; done
    policy README.md
    docker
    unset FLATBED_DEPTH
}

teardown() {
    [ -z "${DOCKERD-}" ] || kill "$DOCKERD"
    [ -z "${DIR-}" ] || rm -rf --one-file-system "$DIR"
}

# policy FILE: the policy of that file, for directories of this test; those of engines are not in it.
policy() {
    python3 "$BATS_TEST_DIRNAME/lib/readme_policy.py" "$SOURCE/$1" |
        sed -E -e "s#\"/(srv|home)/#\"$DIR/\1/#g" -e "s#\"/var/l(og|ib)/#\"$DIR/l\1/#g" \
            -e "s#\"version\": 1,#\"version\": 1, \"runtime\": { \"paths\": [\"$DIR/low\"] },#" >"$DIR/policy.json"
    chmod 0644 "$DIR/policy.json"
}

# recorded FILE: its config.json, for this test.
recorded() { sed -e "s#@DIR@#$DIR#g" -e "s#@ID@#$ID#g" -e "s#@PID@#$DOCKERD#" -e "s#@SHORT@#${ID:0:12}#g" "$BATS_TEST_DIRNAME/lib/recorded/$1.json"; }

# A container of Docker, and what Docker has of this and another one.
docker() {
    local id
    BUNDLE=$DIR/exec/containerd/daemon/io.containerd.runtime.v2.task/moby/$ID
    mkdir -p "$BUNDLE"
    for id in "$ID" "$OTHER"; do
        mkdir -p "$DIR/docker/containers/$id/mounts/shm" "$DIR/docker/volumes/named/_data"
        touch "$DIR/docker/containers/$id"/{resolv.conf,hostname,hosts,config.v2.json}
        chmod 0710 "$DIR/docker/containers/$id"
    done
    recorded docker-20.10 >"$BUNDLE/config.json"
}

podman() {
    local id
    BUNDLE=$DIR/podman/root/overlay-containers/$ID/userdata
    for id in "$ID" "$OTHER"; do
        mkdir -p "$DIR/podman/root/overlay-containers/$id/userdata/shm" "$DIR/podman/run/overlay-containers/$id/userdata" \
            "$DIR/podman/root/volumes/named/_data"
        touch "$DIR/podman/run/overlay-containers/$id/userdata"/{resolv.conf,hostname,hosts,.containerenv}
    done
    recorded podman-4.3 >"$BUNDLE/config.json"
}

# edit FILTER: as the engine writes it under other options.
edit() {
    gojq "$@" "$BUNDLE/config.json" >"$DIR/new"
    mv "$DIR/new" "$BUNDLE/config.json"
}

# bind SOURCE TARGET: -v SOURCE:TARGET
bind() {
    edit --arg s "$1" --arg d "$2" '.mounts |= map(select(.destination != $d)) +
        [{destination: $d, type: "bind", source: $s, options: ["rbind", "rprivate"]}]'
}

create() {
    rm -f "$DIR/low.config"
    run --separate-stderr "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" "$ID"
}

@test "the READMEs have the same policy, and check finds nothing but notes" {
    cp "$DIR/policy.json" "$DIR/english.json"
    policy README.zh-CN.md
    diff <(sed 's#//.*##' "$DIR/english.json" | gojq .) <(sed 's#//.*##' "$DIR/policy.json" | gojq .)
    run "$FLATBED" check --json "$DIR/policy.json"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(gojq '.errors, .warnings' <<<"$output")" = $'0\n0' ]
}

@test "docs/examples/lab.json, which the package installs, is the policy of the README" {
    diff <(python3 "$BATS_TEST_DIRNAME/lib/readme_policy.py" "$SOURCE/README.md" | sed 's#//.*##' | gojq .) \
        <(sed 's#//.*##' "$SOURCE/docs/examples/lab.json" | gojq .)
}

# literal HEADING: the first literal block of JSON behind that line of flatbed-policy(5).
literal() {
    awk -v h="$1" '$0 == h { on = 1 } on && /^\.Ed/ { exit } on && text { print } on && /^\.Bd -literal/ { text = 1 }' \
        "$SOURCE/docs/man/flatbed-policy.5"
}

@test "flatbed-policy(5) shows the preset as it is, and its example passes check" {
    diff <(literal '.Ss Presets' | gojq .) <(sed 's#^ *//.*##' "$SOURCE/shim/policy/read/decode/presets/shared-lab.json" | gojq .)
    literal '.Sh EXAMPLES' >"$DIR/example.json"
    chmod 0644 "$DIR/example.json"
    run "$FLATBED" check --json "$DIR/example.json"
    echo "$output"
    [ "$(gojq -c '[.findings[] | select(.rule | IN("source-missing", "source-refused", "audit-refused", "runtime-missing", "runtime-follows-links") | not) | .rule]' <<<"$output")" = '["out-of-reach"]' ]
}

@test "a container of Docker passes, with a home, a named volume and a request, and keeps the engine's files" {
    bind "$DIR/home/1001" /home
    bind "$DIR/docker/volumes/named/_data" /vol
    bind /dev/null /run/flatbed/request/data/imagenet
    create
    passed
    [ "$(gojq -c '[.mounts[] | select(.destination | startswith("/etc/")) | .options] | unique' "$BUNDLE/config.json")" = '[["rbind","rprivate"]]' ]
    [ "$(gojq -c '.process.capabilities.bounding' "$BUNDLE/config.json")" = '["CAP_NET_BIND_SERVICE"]' ]
    [ "$(gojq -c '.process.noNewPrivileges' "$BUNDLE/config.json")" = true ]
    gojq -e '.mounts[] | select(.destination == "/workspace/data/imagenet")' "$BUNDLE/config.json"
    bind "$DIR/docker/containers/$ID/mounts/shm" /dev/shm # --ipc=shareable
    create
    passed
}

@test "a container of podman passes, with its /dev/shm, hosts and .containerenv" {
    podman
    create
    passed
    bind "$DIR/podman/root/volumes/named/_data" /vol
    create
    passed
    for file in "run/overlay-containers/$OTHER/userdata/hosts" "root/overlay-containers/$OTHER/userdata/shm" \
        "root/overlay-containers/$ID/userdata/config.json" "run/overlay-containers/$ID/userdata"; do
        podman
        bind "$DIR/podman/$file" /etc/hosts
        create
        refused "$file is not allowed"
    done
}

@test "capabilities that a user adds are taken from all sets, as podman writes them" {
    podman
    edit '.process.capabilities |= map_values(. + ["CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_SETGID"]) |
        .process.capabilities.ambient = ["CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_SETGID"]'
    create
    passed
    [ "$(gojq -c '[.process.capabilities[]] | add | unique' "$BUNDLE/config.json")" = '["CAP_NET_BIND_SERVICE"]' ]
}

@test "raw disks are refused: by rules for devices, by a node with its group" {
    local denials=0 filter message
    while IFS='|' read -r filter message; do
        docker
        edit "${filter/@/|}"
        create
        refused "security.devices: $message"
        denials=$((denials + 1))
    done <<'END'
.linux.resources.devices += [{allow: true, type: "b", major: 7, minor: 0, access: "rwm"}]|the container could use the device b 7:0
.linux.resources.devices += [{allow: true, type: "b", major: -1, minor: -1, access: "rwm"}]|the container could use all devices
.linux.resources.devices += [{allow: true, type: "a", major: -1, minor: -1, access: "rwm"}]|the container could use all devices
.linux.resources.devices += [{allow: true, type: "c", major: -1, minor: -1, access: "rwm"}]|the container could use the device c
.linux.resources.devices += [{allow: true, type: "b", major: 7, minor: -1, access: "r"}]|the container could use the device b 7
.linux.devices = [{path: "/dev/loop0", type: "b", major: 7, minor: 0, fileMode: 384, uid: 0, gid: 0}] @ .process.user.additionalGids += [6]|/dev/loop0 .b 7:0. is not allowed
END
    [ "$denials" -eq 6 ]
}

@test "files of another container are refused, whatever the target, and so are an engine's other files" {
    local file
    for file in "$OTHER/hosts" "$OTHER/mounts/shm" "$OTHER/mounts" "$OTHER/config.v2.json" "$ID/config.v2.json" "$ID" ''; do
        docker
        bind "$DIR/docker/containers/$file" /etc/hosts
        create
        refused "is not allowed"
    done
    docker
    bind "$DIR/docker/containers/$OTHER/hosts" /etc/hosts
    create
    refused 'hosts is not allowed: it belongs to another container'
}

@test "an ID in a path that users can make, or that is not the engine's choice, gives nothing" {
    mkdir -p "$DIR/home/1001/containers/$ID/mounts/shm"
    touch "$DIR/home/1001/containers/$ID/hosts"
    sed -i 's#"access": "allow", "options"#"access": "deny", "options"#' "$DIR/policy.json"
    bind "$DIR/home/1001/containers/$ID/hosts" /etc/hosts
    create
    refused 'hosts is not allowed'
    # Nor does it if the user's id is mapped in the container.
    chown -R 1001 "$DIR/home/1001"
    edit '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 1001, hostID: 1001, size: 1}]
        | .linux.gidMappings = .linux.uidMappings'
    create
    refused 'hosts is not allowed'
    # ctr: the user chooses the ID and the root.
    docker
    BUNDLE=$DIR/ctr/io.containerd.runtime.v2.task/default/$ID
    mkdir -p "$BUNDLE"
    recorded docker-20.10 >"$BUNDLE/config.json"
    bind "$DIR/docker/containers/$ID/mounts/shm" /x
    create
    refused 'mounts/shm is not allowed'
}

@test "the engine's files are not recognized below a directory that users can change, and the message says so" {
    chmod 0777 "$DIR/docker"
    create
    refused "resolv.conf is not allowed: it could be the engine's own, but users can replace a directory above it"
}

@test "the sockets of engines are refused with a reason, also where a rule would allow their directory" {
    sed -i "s#\"rules\": \[#\"rules\": [ { \"path\": \"/run\", \"access\": \"allow\" },#" "$DIR/policy.json"
    for socket in /run /run/podman /run/podman/podman.sock /run/docker.sock /run/containerd/containerd.sock; do
        [ -e "$socket" ] || continue
        docker
        bind "$socket" /s
        create
        refused "the engine's socket is root on this host"
    done
    docker
    bind "$DIR/home/1001" /dev/x
    create
    refused 'nothing may be mounted over /dev'
}

@test "an annotation that replaces a judged setting is refused, podman's own are not" {
    local key
    podman
    edit '.annotations += {"org.systemd.property.KillSignal": "15", "org.systemd.property.TimeoutStopUSec": "uint64 10000000"}'
    create
    passed
    for key in run.oci.seccomp_bpf_data run.oci.handler run.oci.keep_original_groups org.criu.config \
        org.systemd.property.DeviceAllow org.systemd.property.Slice; do
        podman
        edit --arg k "$key" '.annotations[$k] = "x"'
        create
        refused "'$key'"
    done
}

@test "docs/shared-lab.md has each key of the preset, with a value that changes it, and README names propagation" {
    local key value
    sed 's#^ *//.*##' "$SOURCE/shim/policy/read/decode/presets/shared-lab.json" |
        gojq -r 'to_entries[] | .key as $section | .value | keys[] | "\($section).\(.)"' >"$DIR/keys"
    grep -oE '^\| `(binds|security)\.[a-z_]+`' "$SOURCE/docs/shared-lab.md" | tr -d '|` ' | sort >"$DIR/documented"
    diff <(sort "$DIR/keys") "$DIR/documented"
    grep -q 'binds.propagation' "$SOURCE/README.md"
    grep -q 'binds.propagation' "$SOURCE/README.zh-CN.md"
    while IFS='|' read -r _ key _ value _; do
        value=$(grep -oE '`("[a-z]+"|true|false|\{[^.]*\})`' <<<"$value" | head -n 1 | tr -d '`')
        [ -n "$value" ] || continue
        key=$(tr -d '` ' <<<"$key")
        printf '{ "version": 1, "runtime": { "paths": ["%s"] }, "%s": { "preset": "shared-lab", "%s": %s } }\n' \
            "$DIR/low" "${key%.*}" "${key#*.}" "$value" >"$DIR/policy.json"
        "$FLATBED" check "$DIR/policy.json" || { cat "$DIR/policy.json" && false; }
    done < <(grep -E '^\| `(binds|security)\.' "$SOURCE/docs/shared-lab.md")
}

@test "keys beside the preset override it, in the policy and in a profile" {
    sed -i -e 's#"security": { "preset": "shared-lab" }#"security": { "preset": "shared-lab", "devices": { "allow": ["/dev/full"] } }#' \
        -e 's#"tuning": { "shm_size": "80%" } }#"security": { "namespaces": { "host": ["net"] } } }#' "$DIR/policy.json"
    edit '.linux.resources.devices += [{allow: true, type: "c", major: 1, minor: 7, access: "rwm"}] | del(.linux.namespaces[] | select(.type == "network"))'
    create
    passed
    docker
    edit '.process.user.uid = 2001 | del(.linux.namespaces[] | select(.type == "network"))'
    create
    refused "share the host's net namespace"
    docker
    edit 'del(.linux.namespaces[] | select(.type == "pid"))'
    create
    refused "share the host's pid namespace"
}

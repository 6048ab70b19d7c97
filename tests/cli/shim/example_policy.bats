#!/usr/bin/env bats
# A policy with every key: it loads, it has the expected effects, and each key is documented.
#
# shellcheck disable=SC2154  # status and stderr are set by bats' run

load lib/shim

EXAMPLE=$BATS_TEST_DIRNAME/lib/policy.example.json

# The example, with the paths and the runtime of the test.
policy() {
    sed -E -e "s#\"/(srv|home|run|var/lib|var/log)/#\"$DIR/\1/#g" \
        -e "s#\"paths\": \[[^]]*\]#\"paths\": [\"$DIR/low\"]#" "$EXAMPLE" >"$DIR/policy.json"
    chmod 0644 "$DIR/policy.json"
    mkdir -p "$DIR"/srv/{data/imagenet,models,logs,cache,cache-pool/{torch,huggingface,pip}} \
        "$DIR"/home/1234/{notebooks,work} "$DIR"/var/{log/flatbed,lib/prometheus/node-exporter} "$DIR/run"
    [ "$(id -u)" -ne 0 ] || chown -R 1234:1234 "$DIR/home/1234"
    : >"$DIR/run/docker.sock"
}

# config DIRECTORY: the config.json of an engine for a user's container. edit FILTER changes it.
config() {
    cat >"$1/config.json" <<'END'
{ "ociVersion": "1.0.2",
  "process": { "user": { "uid": 1234, "gid": 1234 }, "env": ["A=1"], "cwd": "/", "args": ["sh"],
    "rlimits": [ { "type": "RLIMIT_NOFILE", "hard": 1024, "soft": 1024 } ],
    "capabilities": { "bounding": ["CAP_CHOWN", "CAP_NET_RAW"], "effective": ["CAP_CHOWN", "CAP_NET_RAW"] } },
  "root": { "path": "rootfs" },
  "annotations": { "flatbed.data": "imagenet", "flatbed.cache": "pip" },
  "mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" },
    { "destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "size=65536k"] } ],
  "linux": {
    "resources": { "memory": { "limit": 1073741824 }, "cpu": { "quota": 400000, "period": 100000, "cpus": "0-7" },
      "devices": [ { "allow": false, "access": "rwm" } ] },
    "seccomp": { "defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
      "syscalls": [ { "names": ["read", "write"], "action": "SCMP_ACT_ALLOW" } ] },
    "namespaces": [ { "type": "pid" }, { "type": "network" }, { "type": "ipc" }, { "type": "uts" }, { "type": "mount" } ] } }
END
}

edit() {
    gojq "$@" "$BUNDLE/config.json" >"$DIR/new"
    mv "$DIR/new" "$BUNDLE/config.json"
}

# says FILTER: applies FILTER to the edited config.json.
says() { gojq -c "$1" "$BUNDLE/config.json"; }

create() {
    rm -f "$DIR/low.words"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
}

explain() { run "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$BUNDLE/config.json" "$@"; }

@test "check reports no error, and reports needless settings" {
    as_root
    run "$FLATBED" check --json "$DIR/policy.json"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(gojq -c '[.findings[].rule]' <<<"$output")" = '["drop-needless","out-of-reach"]' ]
}

@test "a user's container gets everything that the policy offers, and a second edit changes nothing" {
    as_root
    explain --id=c1
    echo "$output"
    [ "$status" -eq 0 ]
    create
    echo "status $status: $stderr"
    [ "$status" -eq 7 ]
    [ "$(says '[.mounts[2:][].destination]')" = '["/workspace/logs","/workspace/notebooks","/workspace/data/imagenet","/var/cache/flatbed/torch","/var/cache/flatbed/huggingface","/var/cache/flatbed/pip"]' ]
    [ "$(says '[.mounts[] | select(.destination | startswith("/var/cache")) | .type] | unique')" = '["overlay"]' ]
    [ "$(says '.mounts[1].options')" = '["nosuid","size=536870912"]' ] # half of the container's memory
    [ "$(says '[.process.rlimits[].type]')" = '["RLIMIT_NOFILE","RLIMIT_MEMLOCK"]' ]
    [ "$(says '.process.capabilities.bounding')" = '["CAP_CHOWN"]' ]
    [ "$(says .process.noNewPrivileges)" = true ]
    for variable in FLATBED_WORKERS=1 OMP_NUM_THREADS=4 TORCH_HOME=/var/cache/flatbed/torch HF_HOME=/var/cache/flatbed/huggingface \
        PIP_CACHE_DIR=/var/cache/flatbed/pip; do
        gojq -e --arg v "$variable" '.process.env | index($v)' "$BUNDLE/config.json"
    done
    [ "$(stat -c %u "$DIR/srv/logs/1234/c1")" = 1234 ]
    sum=$(sha256sum <"$BUNDLE/config.json")
    create
    [ "$status" -eq 7 ]
    untouched "$sum"
    [ "$(gojq -c '[.verdict, .user, .uid]' "$DIR/var/log/flatbed/audit.jsonl")" = $'["changed","1234",1234]\n["allowed","1234",1234]' ]
    grep -q '^flatbed_containers_total{verdict="changed"} 1$' "$DIR/var/lib/prometheus/node-exporter/flatbed.prom"
}

@test "a forbidden setting is refused, and the message says what to do" {
    as_root
    while IFS='|' read -r filter message; do
        config "$BUNDLE"
        edit "$filter"
        create
        refused "$message"
        explain --id=c1
        [ "$status" -eq 1 ]
    done <<END
.process.user.uid = 0|run with --user \\\$\(id -u\):\\\$\(id -g\)
.mounts += [{destination: "/s", type: "bind", source: "$DIR/run/docker.sock", options: ["bind"]}]|use the build service
.mounts += [{destination: "/e", type: "bind", source: "/etc", options: ["bind"]}]|/etc
.mounts += [{destination: "/etc/ld.so.preload", type: "bind", source: "$DIR/home/1234/work", options: ["bind"]}]|ld.so.preload
.linux.namespaces -= [{type: "pid"}]|pid
.linux.seccomp.syscalls[0].names += ["bpf"]|bpf
del(.linux.seccomp)|seccomp
.annotations["run.oci.keep_original_groups"] = "1"|run.oci.keep_original_groups
.annotations["flatbed.data"] = "secret"|'secret' is not offered .*; there are: imagenet, coco-\*
.annotations["flatbed.data"] = "imagenet:rw"|read-only
.annotations["flatbed.shm"] = "2g"|2g is more than is offered: at most 512m
.annotations["flatbed.off"] = "mounts"|cannot be switched off here
.annotations["flatbed.profile"] = "root"|the profile 'root' cannot be requested here
END
}

@test "the profile is available only to the listed users" {
    as_root
    edit '.annotations += {"flatbed.profile": "interactive", "io.kubernetes.cri.image-name": "docker.io/jupyter/base:1"}'
    create
    echo "$stderr"
    [ "$status" -eq 7 ]
    [ "$(says '.mounts[1].options')" = '["nosuid","size=8589934592"]' ]
    [ "$(says '[.mounts[].destination] | index("/workspace/logs")')" = null ]
    [ "$(gojq -r .profile "$DIR/var/log/flatbed/audit.jsonl")" = interactive ]
    config "$BUNDLE"
    edit '.annotations += {"flatbed.profile": "interactive"}'
    create
    refused "'interactive' is not for this container"
}

@test "each key of the example is in flatbed-policy(5)" {
    # Names chosen by administrators are not keys.
    sed 's|//.*||' "$EXAMPLE" | gojq -r 'del(.profiles[].match.annotation[]?) |
        [paths | map(strings)] | unique[] | select(.[0] != "volumes" or length != 2) | last // empty' | sort -u >"$DIR/keys"
    [ "$(wc -l <"$DIR/keys")" -gt 50 ]
    sed 's/[",]/ /g; s/\\[-&]//g; s/(dq/ /g; s/\\/ /g; s/[:.]/ /g' "$MAN_DIR/flatbed-policy.5" | tr -s ' ' '\n' | sort -u >"$DIR/words"
    run comm -23 "$DIR/keys" "$DIR/words"
    [ "$output" = "" ] || { echo "not documented: $output"; false; }
}

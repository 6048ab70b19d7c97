#!/usr/bin/env bats
# flatbed install and check on a host with NVIDIA's runtime.
# shellcheck disable=SC2154  # status and output are set by bats' run

bats_require_minimum_version 1.5.0

load gpu_host

# ---- nvidia ----

@test "nvidia: the toolkit calls flatbed-runtime alone in the mode cdi, and everything is restored" {
    spec
    chmod 0640 "$TOOLKIT"
    cp -p "$TOOLKIT" "$DIR/before"
    put nvidia --dry-run
    exits 0
    has '+runtimes = ["'"$DIR"'/bin/flatbed-runtime"]'
    has '+mode = "cdi"'
    cmp "$TOOLKIT" "$DIR/before"
    put nvidia
    exits 0
    has "NVIDIA's runtime calls $DIR/bin/flatbed-runtime, in the mode cdi"
    has_not "CDI specification"
    [ "$(grep -c '^runtimes' "$TOOLKIT")" = 1 ]
    grep -qF "runtimes = [\"$DIR/bin/flatbed-runtime\"]" "$TOOLKIT"
    grep -q '^mode = "cdi"' "$TOOLKIT"
    grep -q '^#flatbed was# mode = "auto" # the mode$' "$TOOLKIT"
    cmp "$TOOLKIT.flatbed-backup" "$DIR/before"
    inode=$(stat -c %i "$TOOLKIT")
    put nvidia
    exits 0
    has "nothing was changed"
    [ "$inode" = "$(stat -c %i "$TOOLKIT")" ]
    take nvidia
    exits 0
    cmp "$TOOLKIT" "$DIR/before"
    [ "$(stat -c %a "$TOOLKIT")" = 640 ]
    [ ! -e "$TOOLKIT.flatbed-backup" ]
    take nvidia
    exits 0
    has "nothing was changed"
}

@test "nvidia: configurations of other forms are edited and restored" {
    for text in '' '[nvidia-container-runtime.modes.cdi]' $'[nvidia-container-runtime]\nruntimes = [\n  "runc", # x\n]' \
        $'[nvidia-container-runtime]\nmode = "cdi"\n' '# no newline'; do
        printf '%s' "$text" >"$TOOLKIT"
        cp "$TOOLKIT" "$DIR/before"
        put nvidia
        exits 0
        python3 - "$TOOLKIT" "$DIR/bin/flatbed-runtime" <<'END'
import sys, tomllib
section = tomllib.load(open(sys.argv[1], "rb"))["nvidia-container-runtime"]
assert section["mode"] == "cdi" and section["runtimes"] == [sys.argv[2]], section
END
        take nvidia
        exits 0
        cmp "$TOOLKIT" "$DIR/before"
    done
    for text in 'nvidia-container-runtime = { mode = "auto" }' 'nvidia-container-runtime.mode = "auto"' '[x'; do
        echo "$text" >"$TOOLKIT"
        put nvidia
        exits 5
        [ "$(cat "$TOOLKIT")" = "$text" ]
    done
}

@test "nvidia: options of engines and a missing toolkit are refused" {
    put nvidia --default
    exits 2
    has "nvidia: --default is for engines only"
    put nvidia --name=x
    exits 2
    rm "$TOOLKIT"
    put nvidia
    exits 3
    has "install NVIDIA's container toolkit"
    [ ! -e "$TOOLKIT" ]
}

@test "nvidia: a missing CDI specification is reported with the command that makes it" {
    put nvidia
    exits 0
    has "there is no CDI specification of nvidia.com/gpu (/etc/cdi, /var/run/cdi)"
    has "next: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"
    spec vendor.com/net
    put nvidia
    has "there is no CDI specification"
    spec
    put nvidia
    has_not "there is no CDI specification"
}

@test "nvidia: a policy whose low-level runtime is NVIDIA's is refused, since the two would call each other" {
    ln -s nvidia-container-runtime "$DIR/bin/gpu-runtime"
    for name in nvidia-container-runtime gpu-runtime nvidia-container-runtime.cdi; do
        printf '{ "version": 1,\n "runtime": { "paths": ["%s/bin/%s", "runc"] } }\n' "$DIR" "$name" >"$POLICY"
        cp "$TOOLKIT" "$DIR/before"
        put nvidia
        exits 9
        has "/etc/flatbed/policy.json:2: runtime.paths has $DIR/bin/$name: the two would call each other"
        cmp "$TOOLKIT" "$DIR/before"
        [ ! -e "$TOOLKIT.flatbed-backup" ]
    done
    # also if the policy has an error behind it
    printf '{ "version": 1, "runtime": { "paths": ["nvidia-container-runtime"] }, "bindz": {} }\n' >"$POLICY"
    put nvidia
    exits 9
    printf '{ "version": 1, "runtime": { "paths": ["runc"] } }\n' >"$POLICY"
    put nvidia
    exits 0
}

@test "nvidia: an edit whose marks another program removed is not restored by guessing" {
    put nvidia
    sed -i 's/ # flatbed install$//; /^#flatbed was#/d' "$TOOLKIT"
    cp "$TOOLKIT" "$DIR/before"
    take nvidia
    exits 5
    has "another program wrote the file"
    cmp "$TOOLKIT" "$DIR/before"
}

# ---- docker ----

@test "docker: the default runtime of NVIDIA stays the default, and has to call flatbed-runtime" {
    daemon_json
    cp "$DAEMON" "$DIR/before"
    put docker --default
    exits 8
    has "the default runtime is 'nvidia', NVIDIA's"
    has "run 'flatbed install nvidia'"
    cmp "$DAEMON" "$DIR/before"
    put docker --default --dry-run
    exits 8
    spec
    put nvidia
    exits 0
    has_not "next:"
    put docker --default
    exits 0
    [ "$(gojq -r '."default-runtime", .runtimes.flatbed.path' "$DAEMON" | tr '\n' ' ')" = "nvidia $DIR/bin/flatbed-runtime " ]
    has "the default stays 'nvidia': NVIDIA's runtime provides the GPUs, then calls $DIR/bin/flatbed-runtime"
    has_not "and the default"
    take docker
    exits 0
    cmp "$DAEMON" "$DIR/before"
}

@test "docker: a runtime of NVIDIA that bypasses flatbed-runtime is reported" {
    daemon_json runc
    put docker --default
    exits 0
    [ "$(gojq -r '."default-runtime"' "$DAEMON")" = flatbed ]
    has "containers of the runtime 'nvidia' start without the policy: NVIDIA's runtime calls $DIR/bin/runc"
    put nvidia
    put docker --default
    exits 0
    has "for GPUs there is 'nvidia'"
    has_not "without the policy"
}

@test "docker: the toolkit's configuration beside its runtime is the one that counts" {
    mkdir -p "$DIR/bin/.config/nvidia-container-runtime"
    daemon_json
    ours
    put docker --default
    exits 0
    cp "$TOOLKIT" "$DIR/bin/.config/nvidia-container-runtime/config.toml"
    put docker --default
    exits 0
    sed -i 's/flatbed-runtime/runc/' "$DIR/bin/.config/nvidia-container-runtime/config.toml"
    put docker --default
    exits 8
}

# ---- podman ----

@test "podman: the default runtime of NVIDIA stays the default, and a later file is reported" {
    mkdir -p "$DIR/etc/containers/containers.conf.d"
    printf '[engine]\nruntime = "gpu"\n[engine.runtimes]\ngpu = ["%s/bin/nvidia-container-runtime"]\n' "$DIR" \
        >"$DIR/etc/containers/containers.conf"
    put podman --default
    exits 8
    has "the default runtime is 'gpu', NVIDIA's"
    [ -z "$(ls -A "$DIR/etc/containers/containers.conf.d")" ]
    put nvidia
    put podman --default
    exits 0
    [ "$(grep -c '^runtime = ' "$DIR/etc/containers/containers.conf.d/flatbed.conf")" = 0 ]
    has "the default stays 'gpu'"
    rm "$DIR/etc/containers/containers.conf"
    printf '[engine]\nruntime = "crun"\n' >"$DIR/etc/containers/containers.conf.d/zz.conf"
    put podman --default
    exits 0
    has "/etc/containers/containers.conf.d/zz.conf has another \"runtime\", and podman reads it later"
    mv "$DIR"/etc/containers/containers.conf.d/{zz,aa}.conf
    put podman --default
    has_not "reads it later"
}

# ---- check ----

# finds RULES: check finds exactly these, as "level:rule …".
finds() {
    host check --json
    [ "$(gojq -r '.findings | map("\(.level):\(.rule)") | join(" ")' <<<"$output")" = "$1" ] || { echo "$output"; return 1; }
    host check
}

@test "check: after the documented installs nothing is found" {
    policy "$DIR/bin/runc"
    daemon_json
    spec
    put nvidia
    put docker --default
    finds ""
    exits 0
    [ "$output" = "1 file, 0 errors, 0 warnings" ]
}

@test "check: flatbed-runtime before NVIDIA's runtime is found" {
    policy "$DIR/bin/nvidia-container-runtime"
    toolkit_toml cdi
    spec
    finds "warning:nvidia-order"
    exits 0
    has "/etc/flatbed/policy.json:2:"
    has "$DIR/bin/nvidia-container-runtime adds GPUs after the policy has judged"
    has "run 'flatbed install nvidia'"
    has '"paths": ['
}

@test "check: two runtimes that call each other are an error" {
    policy "$DIR/bin/nvidia-container-runtime"
    ours
    spec
    finds "error:nvidia-loop"
    exits 1
    has "which calls it again: no container can start"
    sed -i 's/"version": 1,/& "mode": "off",/' "$POLICY"
    finds "warning:mode-off error:nvidia-loop"
}

@test "check: the mode legacy is found, and auto" {
    policy "$DIR/bin/runc"
    daemon_json
    ours
    spec
    sed -i 's/"cdi" # the mode/"legacy"/' "$TOOLKIT"
    finds "warning:nvidia-legacy"
    has '/etc/nvidia-container-runtime/config.toml: warning: "mode" is "legacy": a hook gives containers their GPUs after'
    sed -i 's/"legacy"/"auto"/' "$TOOLKIT"
    finds "warning:nvidia-legacy"
    sed -i 's/"auto"/"jit-cdi"/' "$TOOLKIT"
    finds ""
    sed -i 's/skip-mode-detection = false/skip-mode-detection = true/' "$TOOLKIT"
    finds "warning:nvidia-legacy"
    has "skip-mode-detection"
}

@test "check: a runtime of docker, containerd or podman that bypasses the policy is found" {
    policy "$DIR/bin/runc"
    daemon_json runc
    toolkit_toml cdi
    spec
    host check --json
    [ "$(gojq -r '.findings[0].file' <<<"$output")" = /etc/docker/daemon.json ]
    finds "warning:nvidia-around"
    has "/etc/docker/daemon.json: warning: containers of the runtime 'nvidia' start without the policy: NVIDIA's runtime calls $DIR/bin/runc; run 'flatbed install nvidia'"
    rm "$DAEMON"
    containerd_toml 2
    drop_in "$DIR/etc/containerd/conf.d/99-nvidia.toml"
    finds "warning:nvidia-around"
    has "/etc/containerd/conf.d/99-nvidia.toml: warning: containers of the runtime 'nvidia'"
    rm -r "$DIR/etc/containerd"
    mkdir -p "$DIR/etc/containers/containers.conf.d"
    printf '[engine.runtimes]\ngpu = ["%s/bin/nvidia-container-runtime"]\n' "$DIR" >"$DIR/etc/containers/containers.conf.d/gpu.conf"
    finds "warning:nvidia-around"
    has "/etc/containers/containers.conf.d/gpu.conf: warning: containers of the runtime 'gpu'"
    rm -r "$DIR/etc/containers"
    mkdir -p "$DIR/etc/crio/crio.conf.d"
    printf '[crio.runtime.runtimes.nvidia]\nruntime_path = "%s/bin/nvidia-container-runtime"\n' "$DIR" >"$DIR/etc/crio/crio.conf.d/99-nvidia.conf"
    finds "warning:nvidia-around"
    has "/etc/crio/crio.conf.d/99-nvidia.conf: warning: containers of the runtime 'nvidia'"
    put nvidia
    finds ""
}

@test "check: a toolkit's configuration that others can write, and hooks of podman, are found" {
    policy "$DIR/bin/runc"
    ours
    spec
    chmod 0666 "$TOOLKIT"
    finds "warning:nvidia-writable"
    chmod 0644 "$TOOLKIT"
    chown 1234 "$TOOLKIT"
    finds "warning:nvidia-writable"
    chown 0 "$TOOLKIT"
    mkdir -p "$DIR/etc/containers/oci/hooks.d"
    echo '{ "version": "1.0.0", "hook": { "path": "/usr/bin/nvidia-container-runtime-hook", "args": ["x", "prestart"] } }' \
        >"$DIR/etc/containers/oci/hooks.d/oci-nvidia-hook.json"
    finds "warning:nvidia-legacy"
    has "/etc/containers/oci/hooks.d/oci-nvidia-hook.json: warning: podman adds NVIDIA's hook"
}

@test "check: a list of runtimes that falls through to runc is found, and one that leads nowhere" {
    policy "$DIR/bin/runc"
    daemon_json
    spec
    toolkit_toml cdi "[\"$DIR/bin/flatbed-runtime\", \"runc\"]"
    finds "warning:nvidia-falls-through"
    has "without $DIR/bin/flatbed-runtime containers start without the policy"
    toolkit_toml cdi "[\"$DIR/gone/flatbed-runtime\"]"
    finds "error:nvidia-missing"
    exits 1
    toolkit_toml cdi "[\"$DIR/gone/flatbed-runtime\", \"$DIR/bin/runc\"]"
    finds "warning:nvidia-around"
}

@test "check: a name that leads to flatbed-runtime counts as flatbed-runtime" {
    policy "$DIR/bin/runc"
    daemon_json
    spec
    mkdir "$DIR/diverted"
    ln -s ../bin/flatbed-runtime "$DIR/diverted/runc"
    toolkit_toml cdi "[\"$DIR/diverted/runc\"]"
    finds ""
}

@test "check: scripts around the runtimes are looked into" {
    script() { printf '#!/bin/sh\n# flatbed-runtime nvidia-container-runtime\n%s "$@"\n' "$2" >"$DIR/bin/$1"; chmod 0755 "$DIR/bin/$1"; }
    daemon_json
    spec
    script gpu "exec '$DIR/bin/nvidia-container-runtime'"
    policy "$DIR/bin/gpu"
    toolkit_toml cdi
    finds "warning:nvidia-order warning:nvidia-around"
    script judge "PATH=/x exec $DIR/bin/flatbed-runtime --flatbed-policy=/x"
    toolkit_toml cdi "[\"$DIR/bin/judge\"]"
    finds "error:nvidia-loop"
    policy "$DIR/bin/runc"
    finds ""
    script hook "exec nvidia-container-runtime-hook"
    policy "$DIR/bin/hook"
    finds ""
    # the script of the GPU operator
    script nvidia-container-runtime "[ -e /proc/x ] || exec runc \"\$@\"; NVIDIA_CTK_CONFIG_FILE_PATH=/x $DIR/bin/nvidia-container-runtime.real"
    finds "warning:nvidia-falls-through"
    has "the runtime 'nvidia' is the script $DIR/bin/nvidia-container-runtime, which starts runc itself"
}

@test "check: a missing CDI specification and a toolkit that cannot be read are found" {
    policy "$DIR/bin/runc"
    daemon_json
    ours
    finds "warning:nvidia-no-spec"
    echo '[x' >"$TOOLKIT"
    finds "warning:nvidia-unread"
    has "/etc/nvidia-container-runtime/config.toml: warning: line 1: not TOML"
}

@test "check: a runtime that an import of containerd replaces is found" {
    policy "$DIR/bin/runc"
    ours
    spec
    containerd_toml 2
    put containerd
    finds ""
    drop_in "$DIR/etc/containerd/conf.d/99-nvidia.toml"
    finds "warning:runtime-shadowed"
    has "/etc/containerd/config.toml: warning: containerd 1.x ignores the runtime 'flatbed' there, because /etc/containerd/conf.d/99-nvidia.toml replaces the section; run 'flatbed install containerd' again"
    put containerd
    finds ""
}

@test "doctor tells the order of NVIDIA's runtime and flatbed-runtime" {
    daemon_json
    printf '{ "version": 1, "runtime": { "paths": ["runc"] } }\n' >"$POLICY"
    host doctor --only=gpu-order
    exits 10
    has "warning  /etc/docker/daemon.json: containers of the runtime 'nvidia' start without the policy: NVIDIA's"
    has "costs: the policy does not decide who gets which GPU"
    spec
    put nvidia
    exits 0
    host doctor --only=gpu-order
    exits 0
    has "NVIDIA's runtime and flatbed-runtime call each other in order"
    toolkit_toml cdi "[\"$DIR/bin/nvidia-container-runtime\"]"
    host doctor --only=gpu-order --json
    exits 11
    gojq -e '[.diagnoses[] | select(.level == "error") | .cost] == ["containers with GPUs do not start"]' <<<"$output"
}

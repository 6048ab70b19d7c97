#!/usr/bin/env bats
# flatbed install and check on a host with GPUs: NVIDIA's runtime, imports of containerd. The host's /etc is one
# that a test makes; no toolkit is needed.
# shellcheck disable=SC2154  # status and output are set by bats' run

bats_require_minimum_version 1.5.0

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-nvidia.XXXXXX")
    mkdir -p "$DIR"/bin "$DIR"/etc/{nvidia-container-runtime,docker,containerd,cdi,flatbed}
    chmod 0755 "$DIR"
    for program in flatbed-runtime nvidia-container-runtime runc; do
        printf '#!/bin/sh\n' >"$DIR/bin/$program"
        chmod 0755 "$DIR/bin/$program"
    done
    TOOLKIT=$DIR/etc/nvidia-container-runtime/config.toml
    DAEMON=$DIR/etc/docker/daemon.json
    CONTAINERD=$DIR/etc/containerd/config.toml
    POLICY=$DIR/etc/flatbed/policy.json
    toolkit_toml
}

teardown() { [ -z "${DIR-}" ] || rm -rf --one-file-system "$DIR"; }

# host COMMAND...: flatbed where $DIR/etc is /etc.
host() {
    # shellcheck disable=SC2016
    run unshare --mount --propagation private sh -c 'mount --bind "$1/etc" /etc && shift && exec "$@"' sh \
        "$DIR" "$FLATBED" "$@"
}

put() { host install "$1" --runtime="$DIR/bin/flatbed-runtime" "${@:2}"; }
take() { host uninstall "$@"; }

has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }
has_not() { [[ $output != *"$1"* ]] || { printf 'this has %s:\n%s\n' "$1" "$output"; return 1; }; }
exits() { [ "$status" -eq "$1" ] || { echo "status $status: $output"; return 1; }; }

# The form that nvidia-ctk config writes, shortened. $1: mode, $2: runtimes.
toolkit_toml() {
    cat >"$TOOLKIT" <<END
#accept-nvidia-visible-devices-as-volume-mounts = false
disable-require = false
supported-driver-capabilities = "compat32,compute,display,graphics,ngx,utility,video"

[nvidia-container-cli]
environment = []
ldconfig = "@/sbin/ldconfig"
load-kmods = true

[nvidia-container-runtime]
#debug = "/var/log/nvidia-container-runtime.log"
log-level = "info"
mode = "${1-auto}" # the mode
runtimes = ${2-[\"docker-runc\", \"$DIR/bin/runc\", \"crun\"]}

[nvidia-container-runtime.modes.cdi]
annotation-prefixes = ["cdi.k8s.io/"]
default-kind = "nvidia.com/gpu"
spec-dirs = ["/etc/cdi", "/var/run/cdi"]

[nvidia-container-runtime-hook]
path = "nvidia-container-runtime-hook"
skip-mode-detection = false
END
}

ours() { toolkit_toml cdi "[\"$DIR/bin/flatbed-runtime\"]"; }

spec() { printf -- '---\ncdiVersion: 0.5.0\nkind: %s\ndevices: []\n' "${1-nvidia.com/gpu}" >"$DIR/etc/cdi/gpu.yaml"; }

# daemon_json [DEFAULT]: a daemon.json with NVIDIA's runtime.
daemon_json() {
    cat >"$DAEMON" <<END
{
  "runtimes": { "nvidia": { "path": "$DIR/bin/nvidia-container-runtime", "args": [] } },
  "default-runtime": "${1-nvidia}"
}
END
}

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
    [ "$(jq -r '."default-runtime", .runtimes.flatbed.path' "$DAEMON" | tr '\n' ' ')" = "nvidia $DIR/bin/flatbed-runtime " ]
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
    [ "$(jq -r '."default-runtime"' "$DAEMON")" = flatbed ]
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

# ---- containerd ----

# containerd_toml VERSION [IMPORTS]
containerd_toml() {
    PLUGIN=io.containerd.grpc.v1.cri
    [ "$1" = 2 ] || PLUGIN=io.containerd.cri.v1.runtime
    cat >"$CONTAINERD" <<END
version = $1
imports = [${2-\"/etc/containerd/conf.d/*.toml\"}]
[plugins."$PLUGIN".containerd]
  default_runtime_name = "runc"
[plugins."$PLUGIN".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
END
}

# drop_in FILE [DEFAULT]: as nvidia-ctk runtime configure writes it.
drop_in() {
    mkdir -p "${1%/*}"
    cat >"$1" <<END
version = 2

[plugins."io.containerd.grpc.v1.cri".containerd]
  default_runtime_name = "${2-runc}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
      BinaryName = "$DIR/bin/nvidia-container-runtime"
END
}

# What containerd makes of the files, if it is here: the program of the runtime flatbed, and the default.
effective() {
    command -v containerd >/dev/null || { echo "$DIR/bin/flatbed-runtime $1"; return; }
    # shellcheck disable=SC2016
    unshare --mount --propagation private sh -c 'mount --bind "$1/etc" /etc && containerd config dump' sh "$DIR" >"$DIR/dump"
    python3 - "$DIR/dump" <<'END'
import sys, tomllib
cri = tomllib.load(open(sys.argv[1], "rb"))["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]
print(cri["runtimes"].get("flatbed", {}).get("options", {}).get("BinaryName"), cri["default_runtime_name"])
END
}

@test "containerd: the edit goes into the imported file that replaces the section, and is restored" {
    containerd_toml 2
    drop_in "$DIR/etc/containerd/conf.d/99-nvidia.toml"
    echo 'oom_score = 1' >"$DIR/etc/containerd/conf.d/zz-other.toml"
    cp -r "$DIR/etc/containerd" "$DIR/before"
    put containerd --default --dry-run
    exits 0
    has "+++ /etc/containerd/conf.d/99-nvidia.toml"
    has_not "config.toml"
    diff -r "$DIR/etc/containerd" "$DIR/before"
    put containerd --default
    exits 0
    has "/etc/containerd/conf.d/99-nvidia.toml: the runtime 'flatbed' is $DIR/bin/flatbed-runtime, and the default"
    has_not "not verified"
    [ "$(effective flatbed)" = "$DIR/bin/flatbed-runtime flatbed" ]
    cmp "$CONTAINERD" "$DIR/before/config.toml"
    put containerd
    exits 0
    has "nothing was changed"
    take containerd
    exits 0
    diff -r "$DIR/etc/containerd" "$DIR/before"
}

@test "containerd: an edit that a later import made void is moved, with the default" {
    containerd_toml 2
    cp "$CONTAINERD" "$DIR/before"
    put containerd --default
    exits 0
    [ "$(effective flatbed)" = "$DIR/bin/flatbed-runtime flatbed" ]
    drop_in "$DIR/etc/containerd/conf.d/99-nvidia.toml"
    put containerd
    exits 0
    has "/etc/containerd/config.toml: an older 'flatbed' was taken out"
    [ "$(effective flatbed)" = "$DIR/bin/flatbed-runtime flatbed" ]
    cmp "$CONTAINERD" "$DIR/before"
    [ "$(find "$DIR/etc/containerd" -name '*.flatbed-backup' | wc -l)" = 1 ]
}

@test "containerd: imports are followed in containerd's order: relative, nested, hidden, each once" {
    containerd_toml 2 '"conf.d/b.toml", "/etc/containerd/conf.d/a*.toml", "config.toml"'
    drop_in "$DIR/etc/containerd/conf.d/b.toml"
    sed -i '1a imports = ["../deep/c.toml"]' "$DIR/etc/containerd/conf.d/b.toml"
    drop_in "$DIR/etc/containerd/conf.d/a1.toml"
    drop_in "$DIR/etc/containerd/deep/c.toml"
    put containerd
    exits 0
    has "/etc/containerd/deep/c.toml: the runtime 'flatbed'" # imports of imports come last
    has_not "not verified"
    [ "$(effective runc)" = "$DIR/bin/flatbed-runtime runc" ]
    take containerd
    rm -r "$DIR/etc/containerd/deep"
    sed -i 2d "$DIR/etc/containerd/conf.d/b.toml"
    drop_in "$DIR/etc/containerd/conf.d/a2.toml"
    put containerd
    has "/etc/containerd/conf.d/a2.toml: the runtime 'flatbed'"
    [ "$(effective runc)" = "$DIR/bin/flatbed-runtime runc" ]
    take containerd
    containerd_toml 2
    rm "$DIR"/etc/containerd/conf.d/*
    drop_in "$DIR/etc/containerd/conf.d/.hidden.toml"
    put containerd
    has "/etc/containerd/conf.d/.hidden.toml: the runtime 'flatbed'"
    [ "$(effective runc)" = "$DIR/bin/flatbed-runtime runc" ]
}

@test "containerd: a drop-in of version 2 below a file of version 3 or 4 is edited in its own version" {
    for version in 3 4; do
        rm -rf "$DIR/etc/containerd/conf.d"
        containerd_toml $version
        put containerd
        exits 0
        grep -qF '[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.flatbed]' "$CONTAINERD"
        take containerd
        drop_in "$DIR/etc/containerd/conf.d/99-nvidia.toml"
        put containerd
        exits 0
        has "/etc/containerd/conf.d/99-nvidia.toml: the runtime 'flatbed'"
        grep -qF '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.flatbed]' \
            "$DIR/etc/containerd/conf.d/99-nvidia.toml"
        take containerd
    done
}

@test "containerd: an import that cannot be read is an error, and nothing is changed" {
    containerd_toml 2
    echo '[x' >"$DIR/etc/containerd/bad.toml"
    for imports in '"none.toml"' '"bad.toml"' '1'; do
        containerd_toml 2 "$imports"
        cp "$CONTAINERD" "$DIR/before"
        put containerd
        [ "$status" -ge 3 ]
        cmp "$CONTAINERD" "$DIR/before"
    done
    # uninstall still works on the file itself
    containerd_toml 2
    cp "$CONTAINERD" "$DIR/before"
    put containerd
    sed -i 's/^imports = .*/imports = ["none.toml"]/' "$CONTAINERD"
    take containerd
    exits 0
    has "only /etc/containerd/config.toml is looked at: none.toml" || has "only /etc/containerd/config.toml is looked at: /etc/containerd/none.toml"
    sed -i 's/^imports = .*/imports = ["\/etc\/containerd\/conf.d\/*.toml"]/' "$CONTAINERD"
    cmp "$CONTAINERD" "$DIR/before"
}

# A containerd that shows other runtimes than the files have.
stubborn() {
    cat >"$DIR/containerd" <<END
#!/bin/sh
cat <<TOML
version = 2
$1
[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "runc"
TOML
exit ${2-0}
END
    chmod 0755 "$DIR/containerd"
}

# with_containerd COMMAND...: flatbed where $DIR/containerd is the only containerd.
with_containerd() {
    # shellcheck disable=SC2016
    run unshare --mount --propagation private sh -c '
        mount --bind "$1/etc" /etc && mount -t tmpfs tmpfs /usr/local/sbin && cp "$1/containerd" /usr/local/sbin/ &&
        shift && exec "$@"' sh "$DIR" "$FLATBED" "$@"
}

@test "containerd: an edit that containerd does not take is taken back" {
    containerd_toml 2
    cp -r "$DIR/etc/containerd" "$DIR/before"
    stubborn ''
    with_containerd install containerd --runtime="$DIR/bin/flatbed-runtime"
    exits 8
    has "/etc/containerd/config.toml: the runtime 'flatbed' has no effect there, and the edit is taken back"
    diff -r "$DIR/etc/containerd" "$DIR/before"
    rm "$CONTAINERD"
    with_containerd install containerd --runtime="$DIR/bin/flatbed-runtime"
    exits 8
    [ ! -e "$CONTAINERD" ]
    cp "$DIR/before/config.toml" "$CONTAINERD"
    stubborn 'disabled_plugins = ["io.containerd.grpc.v1.cri"]'
    with_containerd install containerd --runtime="$DIR/bin/flatbed-runtime"
    exits 0
    has '"disabled_plugins" has io.containerd.grpc.v1.cri'
    take containerd
    stubborn '' 1
    with_containerd install containerd --runtime="$DIR/bin/flatbed-runtime"
    exits 0
    has "not verified: 'containerd --config /etc/containerd/config.toml config dump' fails"
}

@test "containerd: the default runtime of NVIDIA stays the default" {
    containerd_toml 2
    drop_in "$DIR/etc/containerd/conf.d/99-nvidia.toml" nvidia
    cp -r "$DIR/etc/containerd" "$DIR/before"
    put containerd --default
    exits 8
    has "the default runtime is 'nvidia', NVIDIA's"
    diff -r "$DIR/etc/containerd" "$DIR/before"
    put nvidia
    put containerd --default
    exits 0
    [ "$(effective nvidia)" = "$DIR/bin/flatbed-runtime nvidia" ]
    has "the default stays 'nvidia'"
}

@test "containerd: a runtime whose marks another program removed is reported by uninstall" {
    containerd_toml 2
    put containerd
    sed -i '/^# >>>/d; /^# <<</d' "$CONTAINERD"
    cp "$CONTAINERD" "$DIR/before"
    take containerd
    exits 5
    has "line 11 has the runtime 'flatbed', but no mark of flatbed install"
    cmp "$CONTAINERD" "$DIR/before"
}

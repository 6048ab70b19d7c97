# A host with NVIDIA's container toolkit, as files: $DIR/etc, which is /etc for flatbed. No toolkit is needed.
# shellcheck shell=bash
# shellcheck disable=SC2154  # status and output are set by bats' run

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

# policy RUNTIME...: a policy with these in runtime.paths.
policy() {
    printf '{ "version": 1,\n "runtime": { "paths": [%s] } }\n' "$(printf '"%s",' "$@" | sed 's/,$//')" >"$POLICY"
}

# Runs flatbed-runtime before, after and without NVIDIA's toolkit. nvidia/nvidia-container-runtime stands in for the toolkit,
# and makes recorded edits; runc stores config.json. $FLATBED_RUNTIME is the program.
# shellcheck shell=bash disable=SC2154  # status and stderr are set by bats' run

bats_require_minimum_version 1.5.0

# shellcheck source=tests/cli/shim/lib/config_recorder.bash
source "${BASH_SOURCE[0]%/*}/config_recorder.bash"

NVIDIA=${BASH_SOURCE[0]%/*}/nvidia

setup() {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-gpus.XXXXXX")
    chmod 0755 "$DIR"
    BUNDLE=$DIR/bundle
    mkdir -p "$BUNDLE/rootfs" "$DIR/gpus" "$DIR/over"
    printf '#!/bin/sh\ncp "%s/config.json" "%s/low.config"\n' "$BUNDLE" "$DIR" >"$DIR/runc"
    cp "$NVIDIA/nvidia-container-runtime" "$DIR/"
    chmod 0755 "$DIR/runc"
    printf 'Character devices:\n  1 mem\n195 nvidia\n237 nvidia-caps\n510 nvidia-uvm\n\nBlock devices:\n  8 sd\n' >"$DIR/devices"
    card 0000:01:00.0 0
    card 0000:02:00.0 1
    config .
    order_b 1.19.1 cdi
    unset FLATBED_DEPTH
}

teardown() { [ -z "${DIR-}" ] || rm -rf --one-file-system "$DIR"; }

# card ADDRESS MINOR: a GPU of the host.
card() {
    mkdir -p "$DIR/gpus/$1"
    printf 'Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-0000000%s-0000-0000-0000-000000000000\nDevice Minor: \t %s\n' "$2" "$2" \
        >"$DIR/gpus/$1/information"
}

# config JQ-FILTER: an ordinary container, changed by the filter.
config() {
    gojq "$1" >"$BUNDLE/config.json" <<'END'
{ "ociVersion": "1.0.2", "root": { "path": "rootfs" },
  "process": { "user": { "uid": 1234, "gid": 1234 }, "env": ["PATH=/bin"], "cwd": "/", "args": ["sh"] },
  "mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" },
    { "destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": [ "nosuid", "mode=755" ] } ],
  "linux": { "resources": { "devices": [ { "allow": false, "access": "rwm" } ] } } }
END
}

# The filter that sets NVIDIA_VISIBLE_DEVICES.
asks() { config ".process.env += [\"NVIDIA_VISIBLE_DEVICES=$1\"]"; }

# policy GPUS [TOP-MEMBERS]
policy() {
    cat >"$DIR/policy.json" <<END
{ "version": 1, "runtime": { "paths": ["$LOW"] }, "gpus": { $1 } ${2:+, $2} }
END
    chmod 0644 "$DIR/policy.json"
}

toolkit() {
    printf 'VERSION=%q\nMODE=%q\nLOW=%q\nRECORDED=%q\n' "$1" "$2" "$3" "$NVIDIA/recorded.json" \
        >"$DIR/nvidia-container-runtime.settings"
}

# order_b VERSION MODE: engine, NVIDIA's runtime, flatbed-runtime, runc.
order_b() {
    LOW=$DIR/runc
    FIRST=$DIR/nvidia-container-runtime
    toolkit "$1" "$2" "$DIR/flatbed"
    printf '#!/bin/sh\nexec "%s" "--flatbed-policy=%s/policy.json" "$@"\n' "$FLATBED_RUNTIME" "$DIR" >"$DIR/flatbed"
    chmod 0755 "$DIR/flatbed"
}

# order_a VERSION MODE: engine, flatbed-runtime, NVIDIA's runtime, runc.
order_a() {
    order_b "$1" "$2"
    LOW=$DIR/nvidia-container-runtime
    FIRST=$DIR/flatbed
    toolkit "$1" "$2" "$DIR/runc"
}

# without_toolkit: engine, flatbed-runtime, runc.
without_toolkit() {
    order_b 1.19.1 cdi
    FIRST=$DIR/flatbed
}

# on_host COMMAND…: runs it with the GPUs of this test, and with the files of $DIR/root over those of this host. They are
# over all of "/", as an overlay elsewhere is no place to mount from.
on_host() {
    # shellcheck disable=SC2016
    unshare --mount --propagation private sh -euc '
        mount --bind "$1/devices" /proc/devices
        mount -t tmpfs none /proc/driver
        mkdir /proc/driver/nvidia
        cp -r "$1/gpus" /proc/driver/nvidia/
        [ ! -d "$1/capabilities" ] || cp -r "$1/capabilities" /proc/driver/nvidia/
        root=
        if [ -d "$1/root" ]; then
            mount -t tmpfs none "$1/over"
            root=$1/over/merged
            mkdir "$1/over/work" "$root"
            cp -a "$1/root" "$1/over/upper"
            mount -t overlay -o "lowerdir=/,upperdir=$1/over/upper,workdir=$1/over/work" none "$root"
            # /run has the sockets of the driver: those of this host stay out.
            for mount in /*; do
                [ "$mount" = /run ] || ! mountpoint -q "$mount" || mount --rbind "$mount" "$root$mount"
            done
            mkdir -p "$root$1"
            mount --bind "$1" "$root$1"
        fi
        shift
        exec ${root:+chroot "$root"} "$@"' sh "$DIR" "$@"
}

# driver: installs the files that recorded.json has mounts of, and the programs of the hooks.
driver() {
    local file
    for file in bin/nvidia-smi bin/nvidia-ctk bin/nvidia-cdi-hook bin/nvidia-container-runtime-hook \
        lib/x86_64-linux-gnu/libcuda.so.550.54.15 lib/x86_64-linux-gnu/libnvidia-ml.so.550.54.15 \
        lib/firmware/nvidia/550.54.15/gsp_ga10x.bin; do
        mkdir -p "$DIR/root/usr/${file%/*}"
        : >"$DIR/root/usr/$file"
        chmod 0755 "$DIR/root/usr/$file"
    done
    for file in nvidia-persistenced nvidia-fabricmanager; do
        mkdir -p "$DIR/root/run/$file"
        (cd "$DIR/root/run/$file" && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")')
    done
}

# specification FILE NAME [MODE]: installs a CDI specification of lib/nvidia as /etc/cdi/NAME.
specification() {
    mkdir -p "$DIR/root/etc/cdi"
    cp "$NVIDIA/$1" "$DIR/root/etc/cdi/$2"
    chmod "${3:-0644}" "$DIR/root/etc/cdi/$2"
}

create() {
    rm -f "$DIR/low.config"
    run --separate-stderr on_host "$FIRST" create --bundle "$BUNDLE" c1
}

# The minor numbers of the GPUs that the low-level runtime sees, by nodes and by rules.
has_gpus() {
    local nodes rules
    nodes=$(gojq -r '[.linux.devices[]? | select(.major == 195 and .minor < 254) | .minor] | sort | join(" ")' "$DIR/low.config")
    rules=$(gojq -r '[.linux.resources.devices[]? | select(.major == 195 and .minor < 254) | .minor] | sort | join(" ")' \
        "$DIR/low.config")
    echo "nodes '$nodes', rules '$rules', expected '$1'"
    [ "$nodes" = "$1" ] && [ "$rules" = "$1" ]
}

# The values of the variable that the low-level runtime sees.
variable_is() {
    local values
    values=$(gojq -r '[.process.env[] | select(startswith("NVIDIA_VISIBLE_DEVICES="))] | join(" ")' "$DIR/low.config")
    echo "'$values', expected '$1'"
    [ "$values" = "$1" ]
}

# instance MINOR PATH: a right of the host's MIG devices.
instance() {
    mkdir -p "$DIR/capabilities/${2%/*}"
    printf 'DeviceFileMinor: %s\nDeviceFileMode: 292\nDeviceFileModify: 1\n' "$1" >"$DIR/capabilities/$2"
}

#!/usr/bin/env bats
# README's policy with the preset shared-lab: ways to root of the host that need no mount, no capability and no device.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker battery

file_require() { require_tool python3 gojq crun runc; }

policy() { battery_policy; }

# crun needs a host that is not hybrid. nvidia-ctk is not installed: a script stands for it.
file_ready() {
    mkdir -p "$FB_DIR/toolkit"
    printf '#!/bin/sh\necho "$@" >>%s/hooked\n' "$FB_DIR" >"$FB_DIR/toolkit/nvidia-ctk"
    chmod 0755 "$FB_DIR/toolkit/nvidia-ctk"
    ln -s /proc/self "$FB_DIR/rootfs/self"
    ln -s /sys "$FB_DIR/rootfs/system"
    namespace_hold "mount -t overlay -o lowerdir=$FB_DIR/toolkit:/usr/bin none /usr/bin;"
}

test_begin() { battery_files; }

# setgid_made WHERE: prints the group of the program WHERE if it is setgid, as a user of the host would execute it.
setgid_made() { [ ! -g "$1" ] || stat --format %g "$1"; }

# makes_setgid GROUP ARGS…: a container with these arguments makes a setgid program in the home of its user.
makes_setgid() {
    local group=$1
    shift
    rm -f "$HOMES/1001/program"
    # shellcheck disable=SC2016  # for the container's shell
    run docker_run --rm -v "$HOMES/1001:/x" "$@" "$FB_IMAGE" /bin/sh -c \
        'busybox cp /bin/busybox /x/program && busybox chgrp "$0" /x/program && chmod 2755 /x/program' "$group"
    run setgid_made "$HOMES/1001/program"
    expect_equal "$output" ''
}

@test "docker: no container makes a setgid program of a privileged group in its user's home" {
    makes_setgid 42 --user 1001:1001 --group-add 42
    makes_setgid 6 --user 1001:1001 --group-add 6
    makes_setgid 42 --user 1001:42
}

@test "docker: an exec makes no setgid program of a privileged group in its user's home" {
    rm -f "$HOMES/1001/program"
    docker_cli run --runtime=flatbed --network=none --detach --user 1001:1001 -v "$HOMES/1001:/x" --name held "$FB_IMAGE" sleep 3600 >/dev/null
    run docker_cli exec --user 1001:42 held /bin/sh -c \
        'busybox cp /bin/busybox /x/program && chmod 2755 /x/program'
    run setgid_made "$HOMES/1001/program"
    expect_equal "$output" ''
}

@test "docker: a node in an image does not open the console of the host" {
    mkdir -p "$FB_DIR/console"
    cp -a "$FB_DIR/rootfs/." "$FB_DIR/console"
    mknod --mode=0666 "$FB_DIR/console/tty" c 5 1
    tar -C "$FB_DIR/console" -c . | docker_cli import - fb-console:1 >/dev/null
    run docker_run --rm --user 1001:1001 fb-console:1 /bin/sh -c ': </tty && echo opened'
    expect_no_match opened
}

# runc before 1.2 allows /dev/net/tun to each container.
@test "docker: a node of /dev/net/tun in an image makes no interface" {
    mkdir -p "$FB_DIR/tunnel"
    cp -a "$FB_DIR/rootfs/." "$FB_DIR/tunnel"
    mknod --mode=0666 "$FB_DIR/tunnel/tun" c 10 200
    tar -C "$FB_DIR/tunnel" -c . | docker_cli import - fb-tunnel:1 >/dev/null
    run docker_run --rm --user 1001:1001 fb-tunnel:1 /bin/sh -c 'busybox tunctl -f /tun -t fb0; ls /sys/class/net; echo ran'
    expect_match ran
    expect_no_match '(^|[[:space:]])fb0($|[[:space:]])'
    # The busybox of Debian 13 crashes where it should print the error.
    expect_match 'Operation not permitted|Segmentation fault'
}

# bundle_policy LOW: the policy, for this low-level runtime.
bundle_policy() {
    gojq -n --slurpfile policy <(sed 's#^ *//.*##; s# //.*##' "$FB_POLICY") --arg low "$1" \
        '$policy[0] + {runtime: {paths: [$low]}}' >"$FB_DIR/policy-$1.json"
    chmod 0644 "$FB_DIR/policy-$1.json"
}

# opens_console LOW FILTER: a container with a node of the console runs, and does not open it.
opens_console() {
    [ -e "$FB_DIR/rootfs/tty5" ] || mknod --mode=0666 "$FB_DIR/rootfs/tty5" c 5 1
    bundle_policy "$1"
    battery_bundle_base
    gojq '.process.args = ["/bin/sh", "-c", "(: </tty5) && echo opened; echo ran"]' "$FB_DIR/base.json" >"$FB_DIR/other.json"
    mv "$FB_DIR/other.json" "$FB_DIR/base.json"
    run battery_bundle "$1" "$FB_DIR/id" "$2"
    expect_match ran
    expect_no_match opened
}

# crun itself allows 5:1 to each container.
@test "crun and runc: a node in an image does not open the console of the host" {
    opens_console crun .
    opens_console crun '.root.readonly = true'
    opens_console runc .
}

@test "crun and runc: a rule for the console of the host does not open it" {
    local low
    for low in crun runc; do
        opens_console "$low" '.linux.resources.devices += [{allow: true, type: "c", major: 5, minor: 1, access: "rwm"}]'
    done
}

# bundle_refused LOW FILTER TELLS: flatbed-runtime refuses the config.json, and says why.
bundle_refused() {
    bundle_policy "$1"
    battery_bundle_base
    run battery_bundle "$1" "$FB_DIR/id" "$2"
    expect_failure
    expect_match "$3"
}

@test "runc: a masked root does not keep the container from /proc/sys, and is refused" {
    bundle_refused runc '.linux.maskedPaths = ["/"] | .linux.readonlyPaths = []' 'flatbed: .*system_paths'
}

@test "runc: a read-only root does not keep the container from /proc/sys, and is refused" {
    bundle_refused runc '.linux.readonlyPaths = ["/"]' 'flatbed: .*system_paths'
}

@test "crun: a volume is not mounted over /proc by a link in the image" {
    bundle_refused crun '.annotations["flatbed.cache"] = "torch:rw:/self"' 'flatbed: '
}

@test "runc: a volume is not mounted over /sys by a link in the image" {
    bundle_refused runc '.annotations["flatbed.cache"] = "torch:rw:/system/fs"' 'flatbed: '
}

@test "a hook of the toolkit with arguments that a user chose is refused" {
    bundle_refused runc '.hooks.createContainer = [{path: "/usr/bin/nvidia-ctk",
        args: ["nvidia-ctk", "hook", "chmod", "--mode", "777", "--path", "/self"]}]' 'flatbed: .*hooks'
    expect_equal "$(cat "$FB_DIR/hooked" 2>/dev/null)" ''
}

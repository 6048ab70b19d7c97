#!/usr/bin/env bats
# flatbed-runtime under rootless podman: it is root of the user's namespace, in which the root of the host,
# who owns the policy, is the overflow uid.

bats_require_minimum_version 1.5.0

load lib/frame
frame rootless

policy() { policy_rootless crun; }

test_begin() {
    mkdir "$FB_SRV/home/$FB_UID" "$FB_SRV/secret"
    chown "$FB_UID:$FB_UID" "$FB_SRV/home/$FB_UID"
    chmod 0700 "$FB_SRV/home/$FB_UID"
    chmod 0711 "$FB_SRV/secret"
}

# policy_rootless RUNTIME: writes a policy in which {uid} is the user on the host.
policy_rootless() {
    policy_write <<EOF
{
  "version": 1,
  "runtime": { "paths": ["$1"] },
  "volumes": {
    "data": { "source": "$FB_SRV/data/{name}", "target": "/workspace/data/{name}", "names": ["imagenet"] },
    "work": { "source": "$FB_SRV/home/{uid}/work", "target": "/work", "access": "rw", "always": true,
              "create": { "mode": "0700" }, "env": { "WORK": "{target}" } }
  },
  "binds": { "default": "deny", "rules": [
    { "path": "$FB_SRV/home/{uid}", "access": "allow" }, { "path": "$FB_DIR/home", "access": "allow" }, { "path": "$FB_DIR/xdg", "access": "allow" } ] }
}
EOF
}

worker_run() { worker_podman run --rm --network=none "$@"; }

on_host() { stat -c '%u:%g' "$FB_SRV/home/$FB_UID/$1"; }

sees_data() {
    policy_rootless "$1"
    run worker_run --annotation flatbed.data=imagenet "$FB_IMAGE" \
        sh -c 'cat /workspace/data/imagenet/hello; echo mine >/work/f; echo $WORK'
    expect_status 0
    expect_output $'imagenet text\n/work'
    expect_equal "$(stat -c '%a' "$FB_SRV/home/$FB_UID/work") $(on_host work) $(on_host work/f)" \
        "700 $FB_UID:$FB_UID $FB_UID:$FB_UID"
    run worker_run --annotation flatbed.data=imagenet "$FB_IMAGE" touch /workspace/data/imagenet/new
    expect_failure
    expect_match 'Read-only file system'
}

@test "rootless: data sets, and a directory that is owned by the user, over crun" { sees_data crun; }

@test "rootless: data sets, and a directory that is owned by the user, over runc" { sees_data runc; }

@test "rootless: files of another user of the container have a subordinate id on the host" {
    mkdir "$FB_SRV/home/$FB_UID/work"
    chmod 0777 "$FB_SRV/home/$FB_UID/work"
    run worker_run --user 1234:1234 "$FB_IMAGE" sh -c 'echo mine >/work/f'
    expect_status 0
    expect_equal "$(on_host work/f)" "$((FB_SUBID + 1233)):$((FB_SUBID + 1233))"
}

@test "rootless: with the user's own id in the container it is the same directory" {
    run worker_run --userns=keep-id "$FB_IMAGE" sh -c 'id -u; echo mine >/work/f'
    expect_status 0
    expect_output "$FB_UID"
    expect_equal "$(on_host work/f)" "$FB_UID:$FB_UID"
}

# (An exec gets no variables of create, as /run is owned by root.)
@test "rootless: exec, stop, start again and rm, over crun and runc" {
    local runtime
    for runtime in crun runc; do
        policy_rootless "$runtime"
        worker_podman run --detach --name "box-$runtime" --network=none "$FB_IMAGE" \
            sh -c 'trap "exit 5" TERM; echo ready >/work/ready; while :; do sleep 0.05; done' >/dev/null
        wait_for test -e "$FB_SRV/home/$FB_UID/work/ready"
        run worker_podman exec "box-$runtime" sh -c 'cat /work/ready; exit 9'
        expect_status 9
        expect_output ready
        worker_podman stop -t 10 "box-$runtime" >/dev/null
        expect_equal "$(worker_podman inspect --format '{{.State.ExitCode}}' "box-$runtime")" 5
        rm "$FB_SRV/home/$FB_UID/work/ready"
        worker_podman start "box-$runtime" >/dev/null
        wait_for test -e "$FB_SRV/home/$FB_UID/work/ready"
        worker_podman rm --force -t 0 "box-$runtime" >/dev/null
        rm "$FB_SRV/home/$FB_UID/work/ready"
    done
}

# refuses REGEX OPTION…
refuses() {
    local regex=$1
    shift
    run worker_run "$@" "$FB_IMAGE" true
    expect_failure
    expect_match "$regex"
    expect_match 'Error: '
}

@test "rootless: names that are not offered and mounts that are not allowed are refused, and podman shows them" {
    refuses "'secret' is not offered .*; there are: imagenet" --annotation flatbed.data=secret
    refuses "$FB_SRV/secret on /x: $FB_SRV/secret is not allowed" -v "$FB_SRV/secret:/x"
    run worker_run -v "$FB_SRV/home/$FB_UID:/x" "$FB_IMAGE" touch /x/new
    expect_status 0
    expect_equal "$(on_host new)" "$FB_UID:$FB_UID"
}

# policy_lab DEVICES: the preset, with these devices.
policy_lab() {
    policy_write <<EOF
{ "version": 1, "runtime": { "paths": ["crun", "runc"] }, "binds": { "preset": "shared-lab" },
  "security": { "preset": "shared-lab", "devices": { "allow": [$1] } } }
EOF
}

@test "rootless: devices are judged by security.devices, although podman mounts them" {
    local one
    policy_lab '"/dev/fuse"'
    run worker_run --device /dev/fuse "$FB_IMAGE" stat -c %t:%T /dev/fuse
    expect_status 0
    expect_output a:e5
    run worker_run --device /dev/null:/dev/nul2 --device /dev/zero:/dev/dir/zero "$FB_IMAGE" head -c 2 /dev/dir/zero
    expect_status 0
    policy_lab ''
    refuses 'security.devices: /dev/fuse \(c 10:229\) is not allowed' --device /dev/fuse
    refuses 'leave out --device' -v /dev/fuse:/dev/fuse
    refuses 'leave out --device, or --privileged' --privileged
    policy_lab '"/dev/fuse"'
    for one in /dev/null /dev/tty /dev/pts/0 /dev/shm/x /dev/console /dev/mqueue/x /dev/../proc/x; do
        refuses 'nothing may be mounted over' -v "/dev/fuse:$one"
    done
    refuses '/dev/fuse is not allowed' -v /dev/fuse:/mnt/fuse
    refuses 'nothing may be mounted over /dev' -v "$FB_DIR/home:/dev/home"
    refuses 'nothing may be mounted over /dev' -v "/dev:/dev/host"
}

@test "rootless: a device of a CDI specification, with its files" {
    within mkdir -p /etc/cdi
    echo text >"$FB_DIR/driver" # for /etc: it must not lie below a directory where users of the host make files
    within install -m 0644 "$FB_DIR/driver" /etc/cdi/driver
    printf '{ "cdiVersion": "0.5.0", "kind": "flatbed.test/fuse", "devices": [ { "name": "one", "containerEdits": {
        "deviceNodes": [ { "path": "/dev/fuse" } ],
        "mounts": [ { "hostPath": "/etc/cdi/driver", "containerPath": "/driver", "options": ["ro", "bind"] } ] } } ] }' >"$FB_DIR/cdi.json"
    within install -m 0644 "$FB_DIR/cdi.json" /etc/cdi/fuse.json
    policy_lab '"/dev/fuse"'
    run worker_run --device flatbed.test/fuse=one "$FB_IMAGE" sh -c 'stat -c %t:%T /dev/fuse; cat /driver'
    expect_status 0
    expect_output $'a:e5\ntext'
    policy_lab ''
    refuses 'security.devices' --device flatbed.test/fuse=one
    within rm /etc/cdi/fuse.json /etc/cdi/driver
}

@test "rootless: the ipc namespace of another container, with its /dev/shm, and so pods" {
    policy_lab ''
    worker_podman run --detach --name first --network=none --ipc shareable "$FB_IMAGE" sh -c 'echo shared >/dev/shm/x; sleep 600' >/dev/null
    wait_for worker_podman exec first test -e /dev/shm/x
    run worker_run --ipc container:first "$FB_IMAGE" cat /dev/shm/x
    expect_status 0
    expect_output shared
    refuses 'nothing may be mounted over /dev' -v "$FB_DIR/home:/dev/shm"
    worker_podman rm --force -t 0 first >/dev/null
    worker_podman pod create --name both --network none --infra-image "$FB_IMAGE" --infra-command '/bin/sleep 600' >/dev/null
    worker_podman run --rm --pod both "$FB_IMAGE" sh -c 'echo of the pod >/dev/shm/y'
    run worker_podman run --rm --pod both "$FB_IMAGE" cat /dev/shm/y
    worker_podman pod rm --force -t 0 both >/dev/null
    expect_output 'of the pod'
}

@test "rootless: nothing starts under a policy that is broken or owned by the user" {
    policy_syntax_error crun
    refuses "$FB_TELLS_SYNTAX"
    policy_rootless crun
    chown "$FB_SUBID" "$FB_POLICY" # neither root nor an id outside of the namespace
    worker_podman unshare true
    refuses 'policy\.json'
}

@test "rootless: under the preset an image is built" {
    policy_write <<EOF
{ "version": 1, "runtime": { "paths": ["crun"] }, "binds": { "preset": "shared-lab" }, "security": { "preset": "shared-lab" } }
EOF
    mkdir -p "$FB_DIR/step"
    chmod 0755 "$FB_DIR/step"
    printf 'FROM %s\nRUN test -e /run/.containerenv && test -d /sys/class && echo made-$((40 + 2))\n' "$FB_IMAGE" >"$FB_DIR/step/Dockerfile"
    run worker_podman build --no-cache --network=none "$FB_DIR/step"
    expect_status 0
    expect_match "made-42"
}

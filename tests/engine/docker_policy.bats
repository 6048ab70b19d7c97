#!/usr/bin/env bats
# README's policy, as printed there, under a real dockerd with a data-root of its own: ordinary containers run, and
# each known way to the host's disks, files and privileges is refused.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker

file_require() { require_tool python3 gojq losetup; }

# Only paths of volumes, homes and logs are changed: those of engines are found.
policy() {
    python3 "$BATS_TEST_DIRNAME/../cli/shim/lib/readme_policy.py" "$BATS_TEST_DIRNAME/../../README.md" |
        sed -E -e "s#\"/(srv|home)/#\"$FB_SRV/\1/#g" -e "s#\"/var/l(og|ib)/#\"$FB_DIR/l\1/#g" | policy_write
}

test_begin() {
    mkdir -p "$FB_SRV"/srv/data/{imagenet,secret} "$FB_SRV"/home/1001 "$FB_SRV"/srv/{logs,cache} "$FB_DIR/log" "$FB_DIR/lib/prometheus/node-exporter"
    chown 1001:1001 "$FB_SRV/home/1001"
}

worker() { docker_run --rm --user 1001:1001 "$@"; }

# refuses REGEX ARGS…: docker run fails and shows the message.
refuses() {
    local tells=$1
    shift
    run worker "$@" "$FB_IMAGE" true
    echo "docker run $*"
    expect_failure
    expect_match 'OCI runtime create failed'
    expect_match "$tells"
}

@test "README's policy: an ordinary container runs, with its volumes, a home and a named volume" {
    run worker -v /dev/null:/run/flatbed/request/data/imagenet -v "$FB_SRV/home/1001:/home" -v named:/vol --tmpfs /scratch --init \
        --shm-size 100m "$FB_IMAGE" sh -c 'touch /home/mine; ls -d /workspace/data/imagenet /workspace/logs /var/cache/flatbed/torch /vol;
            cat /etc/hostname /etc/hosts /etc/resolv.conf >/dev/null && grep -E "CapBnd|CapAmb|NoNewPrivs" /proc/self/status'
    expect_status 0
    expect_match '/workspace/data/imagenet'
    expect_match 'CapBnd:[[:space:]]*0000000000000400'
    expect_match 'NoNewPrivs:[[:space:]]*1'
    [ -e "$FB_SRV/home/1001/mine" ]
    [[ $(ls "$FB_SRV/srv/logs/1001") =~ ^20[0-9]{2}-[0-9]{2}-[0-9]{2}_[0-9a-f]{12}$ ]]
    docker_cli volume rm named >/dev/null
}

@test "README's first example works with this version of Docker" {
    local -a words
    read -ra words < <(sed -n 's/^    docker run //p' "$BATS_TEST_DIRNAME/../../README.md" | head -n 1)
    [ "${words[0]}" = --runtime=flatbed ]
    [ "${words[-2]} ${words[-1]}" = "python train.py" ]
    run docker_cli run --rm --network=none --user 1001:1001 "${words[@]:0:${#words[@]}-3}" "$FB_IMAGE" ls -d /workspace/data/imagenet
    expect_status 0
    expect_output /workspace/data/imagenet
}

@test "README's policy: a shareable /dev/shm, another container's network and its /dev/shm work" {
    docker_run --detach --user 1001:1001 --ipc=shareable --name other "$FB_IMAGE" sleep 600 >/dev/null
    run worker --ipc=container:other "$FB_IMAGE" sh -c 'touch /dev/shm/x'
    expect_status 0
    run docker_cli run --runtime=flatbed --rm --user 1001:1001 --network=container:other "$FB_IMAGE" cat /etc/hosts
    expect_status 0
}

@test "README's policy: raw disks are refused by rule, by node and by group" {
    refuses 'could use the device b 7:0' --device-cgroup-rule 'b 7:0 rwm'
    refuses 'security.devices' --device-cgroup-rule 'b *:* rwm'
    refuses 'security.devices' --device-cgroup-rule 'c *:* rwm'
    refuses 'all devices of this host' --device-cgroup-rule 'a *:* rwm'
    refuses 'security.devices' --device-cgroup-rule 'b 7:* r'
    [ -e /dev/loop0 ] || mknod "$FB_DIR/loop0" b 7 0
    local node=/dev/loop0
    [ -e "$node" ] || node=$FB_DIR/loop0
    refuses 'security.devices: /dev/loop0 \(b 7:0\) is not allowed' --device "$node:/dev/loop0" --group-add 6
    refuses 'security.devices' --device /dev/tty:/dev/null2 --device /dev/full:/dev/sda --device "$node:/dev/null"
}

@test "README's policy: root, privileges, filters and namespaces are refused" {
    run docker_run --rm "$FB_IMAGE" true
    expect_match 'would be root on this host: run with --user'
    refuses 'security.privileged' --privileged
    refuses "filter allows" --cap-add SYS_ADMIN
    refuses "filter allows" --cap-add ALL
    refuses "filter allows open_by_handle_at" --cap-add DAC_READ_SEARCH
    refuses 'no filter' --security-opt seccomp=unconfined
    refuses '/proc/sys' --security-opt systempaths=unconfined
    refuses "host's pid namespace" --pid=host
    refuses "host's ipc namespace" --ipc=host
    refuses "host's uts namespace" --uts=host
}

@test "README's policy: mounts of the host are refused" {
    local other
    refuses '/ is not allowed' -v /:/host
    refuses '/etc is not allowed' -v /etc:/x
    refuses 'is not allowed' -v "$FB_DIR/docker.sock:/s"
    refuses 'is not allowed' -v "$FB_SRV/home:/x"
    refuses 'where /proc/self/attr leads cannot be told' --tmpfs /proc/self/attr
    refuses 'nothing may be mounted over /dev' -v "$FB_SRV/home/1001:/dev/x"
    docker_cli volume create --driver local -o type=none -o o=bind -o "device=$(guard_secret)" sly >/dev/null
    refuses "/secret is not allowed" -v sly:/x
    docker_cli volume rm sly >/dev/null
}

@test "README's policy: the engine's files of another container are refused" {
    local other dir
    other=$(docker_run --detach --user 1001:1001 --ipc=shareable --name other "$FB_IMAGE" sleep 600)
    dir=$FB_DIR/docker/containers/$other
    refuses "$other/hosts is not allowed.*belongs to another container" -v "$dir/hosts:/etc/hosts"
    refuses "nothing may be mounted over /dev" -v "$dir/mounts/shm:/dev/shm"
    refuses "$other/mounts/shm is not allowed" -v "$dir/mounts/shm:/x"
    refuses "$other/config.v2.json is not allowed" -v "$dir/config.v2.json:/etc/hosts"
    refuses "$other is not allowed" -v "$dir:/x"
    refuses "containers is not allowed" -v "$FB_DIR/docker/containers:/x"
    # Joining the network gives the files of the network, and no others.
    run docker_cli run --runtime=flatbed --rm --user 1001:1001 --network=container:other -v "$dir/mounts/shm:/x" "$FB_IMAGE" true
    expect_match "$other/mounts/shm is not allowed"
}

# SECURITY.md and flatbed-policy(5), "Out of reach", say so. If one of these fails, the documents are out of date.
@test "README's policy: dockerd makes missing sources and fills volumes, whatever the policy" {
    refuses "$FB_DIR/missing is not allowed" -v "$FB_DIR/missing:/x"
    expect_equal "$(stat -c %u "$FB_DIR/missing")" 0
    rmdir "$FB_DIR/missing"
    refuses 'security.devices' -v filled:/bin --device-cgroup-rule 'b 7:0 rwm'
    [ -e "$FB_DIR/docker/volumes/filled/_data/busybox" ]
    docker_run --detach --user 1001:1001 --name other "$FB_IMAGE" sleep 600 >/dev/null
    docker_cli cp other:/etc/passwd "$FB_DIR/copied"
    docker_cli volume rm filled >/dev/null 2>&1 || true
}

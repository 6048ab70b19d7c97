#!/usr/bin/env bats
# Every option of docker run, podman run and exec that touches users, privileges, devices, mounts, namespaces, limits,
# networks or processes, harmless and hostile, under README's policy with the presets as shipped. The variants are lines
# of tables in battery/; the head of battery/docker.txt says how to read one.

bats_require_minimum_version 1.5.0

load lib/frame
export FB_DOCKER_NET=own
frame docker podman battery

file_require() { require_tool python3 gojq crun runc; }

policy() { battery_policy; }

test_begin() { battery_files; }

# ------------------------------------------------------------------ docker

docker_version() { docker_cli version --format '{{.Server.Version}}' | cut -d . -f 1; }

# The image has a user who is root by another name, and asks for all GPUs, for no rules and for another user's data.
docker_hostile_image() {
    local id
    export HOSTILE=fb-hostile:1
    id=$(docker_cli create "$FB_IMAGE")
    mkdir -p "$FB_DIR/hostile/etc"
    printf 'root:x:0:0::/:/bin/sh\ntoor:x:0:0::/:/bin/sh\n' >"$FB_DIR/hostile/etc/passwd"
    printf 'root:x:0:\n1001:x:42:\n' >"$FB_DIR/hostile/etc/group"
    docker_cli cp "$FB_DIR/hostile/etc" "$id:/"
    docker_cli commit --change 'USER toor' --change 'ENV FLATBED_OFF=binds,security FLATBED_DATA=secret NVIDIA_VISIBLE_DEVICES=all' \
        "$id" "$HOSTILE" >/dev/null
    docker_cli rm "$id" >/dev/null
}

docker_volumes() {
    local name
    for name in named kept; do docker_cli volume create "$name"; done
    docker_cli volume create -o type=none -o o=bind -o "device=$(guard_secret)" sly
    docker_cli volume create -o type=none -o o=bind -o device="$HOMES/1001" own
    docker_cli volume create -o type=tmpfs -o device=tmpfs memory
    mkdir -p "$FB_DIR/upper" "$FB_DIR/work"
    docker_cli volume create -o type=overlay -o device=overlay \
        -o o="lowerdir=/etc,upperdir=$FB_DIR/upper,workdir=$FB_DIR/work" layered
}

docker_others() {
    nsenter --net --target "$FB_DOCKERD_PID" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' # else docker warns at each run
    docker_cli network create --subnet 10.99.0.0/24 lab
    docker_cli run --runtime=flatbed --detach --user 1002:1002 --ipc=shareable --network=lab --name other "$FB_IMAGE" sleep 3600
    docker_cli run --runtime=flatbed --detach --user 1002:1002 --ipc=private --name alone "$FB_IMAGE" sleep 3600
    docker_cli create --runtime=flatbed --user 1001:1001 -v kept:/kept --name keeper "$FB_IMAGE"
    docker_cli create --runtime=flatbed --user 1001:1001 -v /etc:/x --name sneaky "$FB_IMAGE"
    OTHER=$(docker_cli inspect --format '{{.Id}}' other)
    export OTHER THEIRS=$FB_DIR/docker/containers/$OTHER
}

@test "docker run: each variant is allowed or refused as the table says, and leaves nothing" {
    local before
    { docker_volumes && docker_hostile_image && docker_others; } >/dev/null
    before=$(battery_mounts "$FB_DOCKERD_PID" $$)
    export -f docker_cli
    export DOCKER BATTERY_DIRECTORIES="/run/flatbed $FB_DIR/exec $FB_DIR/docker/containers"
    battery_run docker "$(docker_version)" docker_cli run --runtime=flatbed --rm --cidfile '{id}' --user 1001:1001 '{arguments}' '{after}'
    wait_seconds 10 expect_equal "$(docker_cli ps --all --format '{{.Names}}' | sort | xargs)" "alone keeper other sneaky"
    expect_equal "$(battery_mounts "$FB_DOCKERD_PID" $$)" "$before"
}

# ------------------------------------------------------------------ podman

podman_major() { podman_cli version --format '{{.Client.Version}}' | cut -d . -f 1; }

podman_volumes() {
    podman_cli volume create named
    podman_cli volume create kept
    podman_cli volume create -o type=none -o o=bind -o "device=$(guard_secret)" sly
    podman_cli volume create -o type=tmpfs -o device=tmpfs memory
    echo secret | podman_cli secret create token -
}

podman_others() {
    podman_cli run --detach --user 1002:1002 --ipc=shareable --name other "$FB_IMAGE" sleep 3600
    podman_cli create --user 1001:1001 -v kept:/kept --name keeper "$FB_IMAGE"
    podman_cli create --user 1001:1001 -v /etc:/x --name sneaky "$FB_IMAGE"
    OTHER=$(podman_cli inspect --format '{{.Id}}' other)
    export OTHER THEIRS=$FB_DIR/podman/run/overlay-containers/$OTHER/userdata
}

@test "podman run: each variant is allowed or refused as the table says, and leaves nothing" {
    local before
    { podman_volumes && podman_others; } >/dev/null
    before=$(battery_mounts "${FB_NAMESPACE_PID:-$$}")
    export -f podman_cli within
    export BATTERY_DIRECTORIES="/run/flatbed /run/runc /run/crun $FB_DIR/podman"
    # podman 4.3 may wait for itself for ever if several run at once.
    BATTERY_PARALLEL=1 battery_run podman "$(podman_major)" podman_cli run --rm --cidfile '{id}' --user 1001:1001 '{arguments}' '{after}'
    wait_seconds 10 expect_equal "$(podman_cli ps --all --format '{{.Names}}' | sort | xargs)" "keeper other sneaky"
    expect_equal "$(battery_mounts "${FB_NAMESPACE_PID:-$$}")" "$before"
}

# ------------------------------------------------------------------ exec

@test "docker exec: each variant is allowed or refused as the table says" {
    docker_cli run --runtime=flatbed --detach --user 1001:1001 --name held "$FB_IMAGE" sleep 3600 >/dev/null
    export -f docker_cli
    export DOCKER
    battery_run exec "$(docker_version)" docker_cli exec '{arguments}' held '{probe}'
    expect_equal "$(docker_cli top held -eo pid,args | wc -l)" 2
}

@test "podman exec: each variant is allowed or refused as the table says" {
    podman_cli run --detach --user 1001:1001 --name held "$FB_IMAGE" sleep 3600 >/dev/null
    export -f podman_cli within
    BATTERY_PARALLEL=1 battery_run exec "$(podman_major)" podman_cli exec '{arguments}' held '{probe}'
    expect_equal "$(podman_cli top held args | wc -l)" 2
}

# The name is looked up in the image's /etc/passwd: the uid decides.
@test "docker exec: a name to which the image gives uid 0 is refused" {
    docker_hostile_image >/dev/null
    docker_cli run --runtime=flatbed --detach --user 1001:1001 --name held "$HOSTILE" sleep 3600 >/dev/null
    run docker_cli exec --user toor held id
    expect_failure
    expect_match 'would be root on this host'
    expect_no_match 'uid='
}

@test "podman exec: a name to which the image gives uid 0 is refused" {
    mkdir -p "$FB_DIR/hostile/etc"
    printf 'root:x:0:0::/:/bin/sh\ntoor:x:0:0::/:/bin/sh\n' >"$FB_DIR/hostile/etc/passwd"
    podman_cli create --name hostile "$FB_IMAGE" >/dev/null
    podman_cli cp "$FB_DIR/hostile/etc/passwd" hostile:/etc/passwd
    podman_cli commit hostile fb-hostile:2 >/dev/null
    podman_cli run --detach --user 1001:1001 --name held fb-hostile:2 sleep 3600 >/dev/null
    run podman_cli exec --user toor held id
    expect_failure
    expect_match 'would be root on this host'
    expect_no_match 'uid='
}

# ------------------------------------------------------------------ config.json made by hand

# bundles_of LOW
bundles_of() {
    battery_bundle_base
    gojq -n --slurpfile policy <(sed 's#^ *//.*##; s# //.*##' "$FB_POLICY") --arg low "$1" '$policy[0] + {runtime: {paths: [$low]}}' >"$FB_DIR/policy-$1.json"
    chmod 0644 "$FB_DIR/policy-$1.json"
    export -f battery_bundle within
    export BATTERY_DIRECTORIES="/run/flatbed $FB_DIR/state"
    battery_run bundle 0 battery_bundle "$1" '{id}' '{arguments}'
}

@test "runc: each config.json is allowed or refused as the table says, and leaves nothing" { bundles_of runc; }

@test "crun: each config.json is allowed or refused as the table says, and leaves nothing" { bundles_of crun; }

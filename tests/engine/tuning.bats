#!/usr/bin/env bats
# The policy's "tuning" and "rootfs" as containers see them, under real engines: defaults of an engine are
# replaced, choices of the user stay.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker podman containerd bundle

policy() { tuned; }

# tuned [SECTION…]: writes a policy that tunes, over runc, with further sections.
tuned() {
    policy_write <<END_OF_POLICY
{ "version": 1, "runtime": { "paths": ["${LOW-runc}"] },
  "requests": ["annotations", "mounts", "environment"],
  "tuning": { "shm_size": { "default": "50%", "max": "1g" }, "memlock": { "default": "1m", "max": "2m" },
              "nofile": 4096, "stack": "4m", "threads": true,
              "workers": { "default": "75%", "max": 5 } }${1-} }
END_OF_POLICY
}

# A script that prints, one a line: KiB of /dev/shm, locked and stack KiB, files, variables.
# shellcheck disable=SC2016
SHOW='df -k /dev/shm | awk "END { print \$2 }"; ulimit -l; ulimit -s; ulimit -n
      echo "$OMP_NUM_THREADS $MKL_NUM_THREADS $FLATBED_WORKERS"'

# sees WORD…: compares the output of $SHOW.
sees() { expect_equal "$(tr '\n' ' ' <<<"$output")" "$* "; }

host_cpus() { nproc; }

# ------------------------------------------------------------------ docker

@test "docker: half of the memory limit, the policy's limits, and one CPU's threads and workers" {
    run docker_run --rm --memory=512m --cpus=1 "$FB_IMAGE" sh -c "$SHOW"
    expect_status 0
    sees 262144 1024 4096 4096 1 1 1
}

@test "docker: a cpuset counts, and one GiB of memory for each worker" {
    run docker_run --rm --memory=512m --cpuset-cpus=0 "$FB_IMAGE" sh -c "$SHOW"
    sees 262144 1024 4096 4096 1 1 1
    run docker_run --rm --memory=512m "$FB_IMAGE" sh -c "$SHOW"
    sees 262144 1024 4096 4096 "$(host_cpus)" "$(host_cpus)" 1
}

@test "docker: settings of the user stay" {
    run docker_run --rm --memory=512m --cpus=1 --shm-size=32m --ulimit memlock=524288 --ulimit nofile=512:1024 \
        --env OMP_NUM_THREADS=7 --env FLATBED_WORKERS=9 "$FB_IMAGE" sh -c "$SHOW"
    expect_status 0
    sees 32768 512 4096 512 7 "" 9
}

@test "docker: /dev/shm that is shared stays as it is" {
    run docker_run --rm --ipc=shareable "$FB_IMAGE" sh -c "$SHOW"
    expect_status 0
    expect_equal "${lines[0]}" 65536
    run docker_run --rm --ipc=none "$FB_IMAGE" true
    expect_status 0
}

@test "docker: variables and /dev/null mounts request values, up to the maximum" {
    run docker_run --rm --memory=512m --cpus=1 --env FLATBED_SHM=1g \
        -v /dev/null:/run/flatbed/request/memlock/2m -v /dev/null:/run/flatbed/request/workers/5 \
        "$FB_IMAGE" sh -c "$SHOW; ls /run/flatbed/request 2>&1 | grep -c ."
    sees 1048576 2048 4096 4096 1 1 5 1
    run docker_run --rm --env FLATBED_SHM=2g "$FB_IMAGE" true
    expect_failure
    expect_match 'FLATBED_SHM: 2g is more than is offered: at most 1g'
    run docker_run --rm --env FLATBED_MEMLOCK=lots "$FB_IMAGE" true
    expect_failure
    expect_match "FLATBED_MEMLOCK: 'lots': expected a size"
}

@test "docker: an exec, and a restarted container, have the same values" {
    docker_run --detach --name box --memory=512m --cpus=1 "$FB_IMAGE" sleep 600 >/dev/null
    run docker_cli exec box sh -c "$SHOW"
    sees 262144 1024 4096 4096 1 1 1
    docker_cli restart -t 0 box
    run docker_cli exec box sh -c "$SHOW"
    sees 262144 1024 4096 4096 1 1 1
}

@test "docker: limits never exceed those of the runtime" {
    has_cap 24 && skip "root has CAP_SYS_RESOURCE here: nothing is clamped"
    sed -i 's|"nofile": 4096|"nofile": 1048576|; s|"default": "1m", "max": "2m"|"default": "unlimited"|' "$FB_POLICY"
    run docker_run --rm "$FB_IMAGE" sh -c 'ulimit -n; ulimit -l'
    expect_status 0
    expect_output "$(ulimit -H -n)"$'\n'"$(ulimit -H -l)"
}

# ------------------------------------------------------------------ the depth of the root

# The number of lower layers of the container's root in the mount table.
layers() {
    docker_cli run --rm --network=none "$FB_IMAGE" cat /proc/mounts |
        awk '$2 == "/" && $3 == "overlay"' | grep -o 'lowerdir=[^,]*' | tr ':' '\n' | wc -l
}

@test "docker: a root that is too deep is refused, or starts with a warning" {
    local depth
    depth=$(layers)
    [ "$depth" -gt 1 ] || skip "the storage driver is not overlay2"
    tuned ", \"rootfs\": { \"max_depth\": $((depth - 1)), \"beyond\": \"deny\" }"
    run docker_run --rm "$FB_IMAGE" true
    expect_failure
    expect_match "the container's root has $depth layers"
    expect_match "flatten IMAGE"
    tuned ", \"rootfs\": { \"max_depth\": $depth, \"beyond\": \"deny\" }"
    run docker_run --rm "$FB_IMAGE" true
    expect_status 0
    tuned ", \"rootfs\": { \"max_depth\": 1, \"beyond\": \"warn\" }"
    run docker_run --rm "$FB_IMAGE" true
    expect_status 0
    expect_output ""
}

# ------------------------------------------------------------------ containerd

@test "ctr: nofile and /dev/shm of containerd are replaced; annotations request values" {
    run ctr_run c1 --memory-limit 536870912 --cpus 1 -- sh -c "$SHOW"
    expect_status 0
    sees 262144 1024 4096 4096 1 1 1
    run ctr_run c2 --memory-limit 536870912 --cpus 1 --annotation flatbed.shm=512m \
        --annotation flatbed.memlock=2m --annotation flatbed.workers=3 -- sh -c "$SHOW"
    expect_status 0
    sees 524288 2048 4096 4096 1 1 3
}

@test "ctr: an exec has the same values" {
    ctr_start c1 --memory-limit 536870912 --cpus 1 -- sleep 600
    wait_for ctr_is c1 RUNNING
    # ctr may lose the output of a process that ends at once.
    run ctr_cli task exec --exec-id e1 --fifo-dir "$FB_DIR/fifo" c1 sh -c "$SHOW; sleep 1"
    expect_status 0
    sees 262144 1024 4096 4096 1 1 1
}

@test "ctr: a root of one layer is not deep" {
    tuned ', "rootfs": { "max_depth": 1, "beyond": "deny" }'
    run ctr_run c1 -- true
    expect_status 0
}

# ------------------------------------------------------------------ podman

# podman mounts its own /dev/shm from outside, and sets nofile by itself.
tunes_podman() {
    LOW=$1 tuned
    run podman_run --rm --shm-size=96m --env MKL_NUM_THREADS=3 "$FB_IMAGE" sh -c "$SHOW"
    expect_status 0
    expect_equal "${lines[0]}" 98304
    expect_equal "${lines[1]}" 1024
    expect_equal "${lines[2]}" 4096
    expect_equal "${lines[4]% *}" "$(host_cpus) 3"
    run podman_run --rm --annotation flatbed.shm=512m "$FB_IMAGE" true
    expect_failure
    expect_match 'flatbed.shm: /dev/shm is mounted from elsewhere'
}

@test "podman: limits and threads over crun; /dev/shm is podman's" { tunes_podman crun; }

@test "podman: limits and threads over runc; /dev/shm is podman's" { tunes_podman runc; }

@test "podman: an exec has the limits and threads" {
    podman_start_container box 'sleep 600'
    run podman_cli exec box sh -c "$SHOW"
    expect_equal "${lines[1]} ${lines[2]}" "1024 4096"
    expect_equal "${lines[4]% *}" "$(host_cpus) $(host_cpus)"
}

@test "podman: a nofile that podman sets without configuration is replaced, that of the user stays" {
    has_cap 24 || sed -i 's/"nofile=[0-9:]*", //' "$FB_DIR/containers.conf"
    run podman_run --rm "$FB_IMAGE" sh -c 'ulimit -n'
    expect_status 0
    expect_output 4096
    run podman_run --rm --ulimit nofile=512:512 --ulimit nproc=1000:1000 "$FB_IMAGE" sh -c 'ulimit -n'
    expect_output 512
}

# ------------------------------------------------------------------ bundles

@test "crun and runc: a bundle is tuned, and a second flatbed-runtime changes nothing more" {
    local bundle low digest
    for low in runc crun; do
        LOW=$low tuned
        bundle=$(bundle_make "tuned-$low" null "$SHOW")
        for _ in 1 2; do
            run shim run --bundle "$bundle" "$ID"
            expect_status 0
            expect_equal "${lines[1]} ${lines[2]} ${lines[3]}" "1024 4096 4096"
            [ "${digest-}" = "" ] || expect_equal "$(sha256sum <"$bundle/config.json")" "$digest"
            digest=$(sha256sum <"$bundle/config.json")
        done
        digest=
    done
}

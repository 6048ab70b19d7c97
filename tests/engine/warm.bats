#!/usr/bin/env bats
# "warm" under real engines: the first start is recorded, the next cold one read ahead, and nothing of it holds a
# container back.
# shellcheck disable=SC2154  # status and output are set by bats' run

bats_require_minimum_version 1.5.0

load lib/frame
frame docker podman

file_require() {
    require_flatbed
    require_tool gojq python3 fincore
    overlay_works || refuse "no overlay mounts here"
}

WARM=flatbed-warm:1

policy() {
    policy_write <<END
{
  "version": 1,
  "runtime": { "paths": ["runc"] },
  "volumes": { "weights": { "source": "$FB_DIR/weights", "target": "/weights", "access": "ro", "always": true } },
  "warm": { "for": 2, "cache": "$FB_DIR/warm" },
  "audit": { "file": "$FB_DIR/audit.jsonl" }
}
END
}

file_ready() {
    mkdir -p "$FB_DIR/weights" "$FB_DIR/more/data"
    head -c 20M /dev/urandom >"$FB_DIR/weights/model"
    for i in 1 2 3 4 5 6 7 8; do head -c 400000 /dev/urandom >"$FB_DIR/more/data/f$i"; done
    head -c 1M /dev/urandom >"$FB_DIR/more/data/unread"
    tar -c -C "$FB_DIR/rootfs" . -C "$FB_DIR/more" data | tee "$FB_DIR/warm.tar" | docker_cli import - "$WARM" >/dev/null
    podman_cli import --quiet "$FB_DIR/warm.tar" "localhost/$WARM" >/dev/null
    sync -f "$FB_DIR"
}

test_end() {
    wait_for nobody_records
    rm -rf "$FB_DIR/warm"
}

READS='cat /data/f* >/dev/null; dd if=/weights/model of=/dev/null bs=1M count=1 2>/dev/null'
HELD='while [ ! -e /go ]; do sleep 0.1; done; '$READS'; echo done; sleep 60'

# layer STORE: the directory of the image's data in a store.
layer() { dirname "$(find "$1" -path '*/diff/data/unread' -print -quit)"; }
cached() { fincore --bytes --noheadings --raw --output RES "$1"; }
has_cached() { [ "$(cached "$1")" -ge "$2" ]; }
# cold STORE: drops the image's data and the volume from the page cache.
cold() {
    python3 - "$(layer "$1")" "$FB_DIR/weights" <<'END'
import os, sys
for top in sys.argv[1:]:
    for name in os.listdir(top):
        fd = os.open(os.path.join(top, name), os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
END
    [ "$(cached "$(layer "$1")/unread")" -eq 0 ]
}

# The processes behind launches hold their records.
nobody_records() {
    local pid
    for pid in $(pgrep -x flatbed-warm); do
        ! find "/proc/$pid/fd" -lname "$FB_DIR/*" 2>/dev/null | grep -q . || return 1
    done
}
# shown CLI STORE NAME FILTER: applies the filter to the records of a container.
shown() { "$FLATBED" warm --policy "$FB_POLICY" --store "$2" --show --json "$3" | gojq -e "$4"; }
has_records() { [ "$(find "$FB_DIR/warm" -name record 2>/dev/null | wc -l)" -eq "$1" ]; }

# judge RUN STORE IMAGE LOGS-HAVE REMOVE
judge() {
    cold "$2"
    "$1" --detach --name first "$3" sh -c "$READS; sleep 60" >/dev/null
    wait_for has_records 2
    wait_for nobody_records
    shown "$1" "$2" first '.records[] | select(.kind == "image") | .whole and
        ([.files[].path | select(startswith("data/f"))] | length == 8) and ([.files[].path] | index("data/unread") == null)'
    shown "$1" "$2" first '.records[] | select(.kind == "volume") | .bytes >= 1048576 and .bytes < 8000000'

    cold "$2"
    "$1" --detach --name second "$3" sh -c "$HELD" >/dev/null
    wait_for has_cached "$(layer "$2")/f8" 400000
    wait_for has_cached "$FB_DIR/weights/model" 1048576
    [ "$(cached "$(layer "$2")/unread")" -eq 0 ]
    "$4" exec second touch /go
    wait_for nobody_records
    shown "$1" "$2" second '.records | length == 2 and all(.judged == 1 and .gain >= 50)'
}

@test "docker: the first start is recorded, the next cold one is read ahead" {
    judge docker_run "$FB_DIR/docker" "$WARM" docker_cli
}

@test "podman: the first start is recorded, the next cold one is read ahead" {
    judge podman_run "$FB_DIR/podman/root" "localhost/$WARM" podman_cli
}

@test "docker: containers that are restarted, killed and removed while they are recorded, two at once" {
    cold "$FB_DIR/docker"
    docker_run --detach --name one "$WARM" sh -c "$READS; sleep 60" >/dev/null
    docker_run --detach --name two "$WARM" sh -c "$READS; sleep 60" >/dev/null
    docker_cli restart --time 0 one >/dev/null
    docker_cli exec one cat /data/f1 >/dev/null
    docker_cli rm --force one two >/dev/null
    [ -z "$(docker_cli ps --all --quiet)" ]
    # Nothing holds their directories.
    run find "$FB_DIR/docker/overlay2" -maxdepth 1 -name '*-init'
    [ -z "$output" ]
    wait_for nobody_records
    run docker_run --rm "$WARM" echo works
    expect_status 0
    expect_output works
}

@test "docker: by hand, of a container that runs, with its volume" {
    docker_cli run --network=none --detach --name plain --volume "$FB_DIR/weights:/w:ro" "$WARM" sh -c 'sleep 0.5; while :; do cat /data/f[12] >/dev/null; dd if=/w/model of=/dev/null bs=1M count=1 2>/dev/null; sleep 0.2; done' >/dev/null
    cold "$FB_DIR/docker"
    run --separate-stderr "$FLATBED" warm --policy "$FB_POLICY" --store "$FB_DIR/docker" --record plain --for 2s
    expect_status 0
    [[ $output == *data/f1* && $output == *data/f2* && $output == *model* && $output != *data/f3* ]]
    docker_cli rm --force plain >/dev/null
    cold "$FB_DIR/docker"
    docker_run --detach --name later "$WARM" sleep 60 >/dev/null
    wait_for has_cached "$(layer "$FB_DIR/docker")/f1" 400000
    [ "$(cached "$(layer "$FB_DIR/docker")/f3")" -eq 0 ]
    run "$FLATBED" warm --policy "$FB_POLICY" --store "$FB_DIR/docker" --drop later
    wait_for nobody_records
}

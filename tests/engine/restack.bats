#!/usr/bin/env bats
# rootfs.beyond "restack" under a real dockerd: containers of a deep image get one layer in place of many,
# and nothing else changes for them or for docker.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker

file_require() {
    require_flatbed
    require_tool gojq python3
}

export FB_DOCKER_LIVE=true

file_ready() { deep_image; }

test_begin() {
    mkdir -p "$FB_DIR/log"
    rm -f "$FB_DIR"/log/*
    rm -rf "$FB_DIR/restack"
}

test_end() { docker_cli rmi made-runc made-flatbed >/dev/null 2>&1 || true; }

DEEP=flatbed-deep:1

policy() {
    policy_write <<END
{
  "version": 1,
  "runtime": { "paths": ["runc"] },
  "rootfs": { "max_depth": 5, "beyond": "restack", "cache": "$FB_DIR/restack" },
  "audit": { "file": "$FB_DIR/log/audit.jsonl" }
}
END
}

shares_mounts() { [ "$(readlink "/proc/$1/ns/mnt")" = "$(readlink "/proc/$2/ns/mnt")" ]; }

# Restarts the daemon in the same mounts; with live-restore its containers continue.
docker_again() {
    local holder
    nsenter --mount --target "$(cat "$FB_DIR/docker.pid")" sleep 3600 3>&- &
    holder=$!
    wait_for shares_mounts "$holder" "$(cat "$FB_DIR/docker.pid")"
    kill "$(cat "$FB_DIR/docker.pid")"
    wait_for pid_gone "$FB_DOCKERD_PID"
    FB_DOCKER_WITHIN=$holder docker_spawn overlay2
    daemon_await dockerd "$FB_DOCKERD_PID" "$FB_DIR/dockerd.log" docker_cli version
    kill "$holder"
}

deep_image() {
    [ -z "$FB_REFUSED" ] || return 0
    [ "$(docker_cli info --format '{{.Driver}}')" = overlay2 ] || { refuse "no overlay2 here"; return 0; }
    python3 "$BATS_TEST_DIRNAME/lib/layers.py" "$FB_DIR/rootfs" "$FB_DIR/deep.tar" "$DEEP" 40
    docker_cli load --quiet --input "$FB_DIR/deep.tar" >/dev/null
}

trees() { "$FLATBED" restack --cache "$FB_DIR/restack" --json; }
is_built() { trees | gojq -e '.trees[] | select(.state == "ready")'; }

# said FILTER: applies the filter to the root operation of the last record.
said() { tail -n 1 "$FB_DIR/log/audit.jsonl" | gojq -r ".operations[] | select(.kind == \"rootfs\") | $1"; }

# Builds the tree of the image, by its first container.
build() {
    docker_run --rm "$DEEP" true
    wait_for is_built
}

# The overlay at a container's root in the mount namespace of dockerd.
root_of() { docker_cli inspect --format '{{.GraphDriver.Data.MergedDir}}' "$1"; }
mounts_of() {
    awk -v at="$(root_of "$1")" '$5 == at' "/proc/$(cat "$FB_DIR/docker.pid")/mountinfo"
}

# view CONTAINER: lists the files of its image in the daemon's mount. (docker export of Debian 13 leaves that mount
# behind: moby issue 48516.)
view() {
    local dir
    dir=$(mktemp -d "$FB_DIR/view.XXXXXX")
    nsenter --mount="/proc/$(cat "$FB_DIR/docker.pid")/ns/mnt" tar --numeric-owner -c -C "$(root_of "$1")" . |
        tar --numeric-owner -xp -C "$dir"
    (cd "$dir" && find bin lib etc/passwd tmp -printf '%p %y %m %U %G %T@ %l\n' | sort
        find bin lib etc/passwd -type f -print0 | sort -z | xargs -0 sha256sum)
    rm -rf "$dir"
}

# start NAME [RUNTIME]
start() {
    docker_cli run --runtime="${2-flatbed}" --network=none --detach --name "$1" "$DEEP" sh -c 'sleep 600' >/dev/null
    wait_for docker_is "$1" running
}

is_restacked() { mounts_of "$1" | grep -qF "/restack/"; }

@test "docker: the first container runs on the layers and starts a build; the second one gets the tree" {
    run docker_run --rm "$DEEP" cat /lib/last
    expect_status 0
    expect_output "layer 39 was the last"
    [ "$(said .verdict)" = kept ]
    [[ $(said .reason) =~ "has 41 layers: a tree of them is made in the background" ]]
    wait_for is_built

    run docker_run --rm "$DEEP" cat /lib/last
    expect_status 0
    expect_output "layer 39 was the last"
    [ "$(said .verdict)" = added ]
    [[ $(said .reason) =~ "has 41 layers: a tree of them is mounted in their place" ]]
    [ "$(said .policy)" = "$FB_POLICY:4" ]
}

@test "docker: a restacked container shows the same files as others, and is removed completely" {
    build
    start plain runc
    start restacked
    is_restacked restacked
    run ! is_restacked plain
    diff <(view plain) <(view restacked)
    [ "$(mounts_of restacked | wc -l)" = 1 ]
    diff <(mounts_of plain | cut -d ' ' -f 4,6) <(mounts_of restacked | cut -d ' ' -f 4,6)

    at=$(root_of restacked)
    docker_cli rm --force restacked
    run ! grep -qF "$at" "/proc/$(cat "$FB_DIR/docker.pid")/mountinfo"
    [ ! -e "${at%/merged}" ]
    # The layers are unchanged, although they share files with the tree.
    start again runc
    diff <(view plain) <(view again)
}

@test "docker: exec, writing, diff, commit and cp work as without restack" {
    build
    for how in runc flatbed; do
        start "$how" "$how"
        docker_cli exec "$how" sh -c 'echo changed >/lib/f4; rm /lib/f6 && rm -r /lib/opaque /lib/sub &&
            mkdir /lib/sub && echo new >/lib/sub/new && chmod 700 /lib/f7 && echo more >>/lib/last'
        docker_cli cp "$how:/lib/last" "$FB_DIR/last.$how"
        echo copied >"$FB_DIR/copied"
        docker_cli cp "$FB_DIR/copied" "$how:/lib/copied"
        [ "$(docker_cli exec "$how" cat /lib/copied)" = copied ]
        [ "$(docker_cli exec "$how" cat /lib/f4)" = changed ]
        docker_cli commit "$how" "made-$how" >/dev/null
        docker_cli diff "$how" | sort >"$FB_DIR/diff.$how"
    done
    is_restacked flatbed
    grep -qx 'D /lib/f6' "$FB_DIR/diff.flatbed"
    diff "$FB_DIR/diff.runc" "$FB_DIR/diff.flatbed"
    cmp "$FB_DIR/last.runc" "$FB_DIR/last.flatbed"

    DEEP=made-runc start one runc
    DEEP=made-flatbed start other runc
    diff <(view one | sed 's/ 17[0-9]*\.[0-9]* / /') <(view other | sed 's/ 17[0-9]*\.[0-9]* / /')
    run docker_run --rm "$DEEP" cat /lib/f4
    expect_output "from layer 4"
}

@test "docker: a container with changes is restacked when it starts again" {
    build
    start kept
    docker_cli exec kept sh -c 'echo mine >/lib/f4; rm /lib/f6'
    docker_cli restart --time 0 kept
    is_restacked kept
    [ "$(docker_cli exec kept cat /lib/f4)" = mine ]
    run ! docker_cli exec kept test -e /lib/f6

    # Without its tree it runs on the layers again, later on another tree.
    changes=$(docker_cli diff kept | sort)
    docker_cli stop --time 0 kept >/dev/null
    rm -rf "$FB_DIR/restack"
    docker_cli start kept >/dev/null
    run ! is_restacked kept
    [ "$(docker_cli exec kept cat /lib/f4 /lib/f7)" = $'mine\nfrom layer 7' ]
    expect_equal "$(docker_cli diff kept | sort)" "$changes"
    wait_for is_built
    docker_cli restart --time 0 kept >/dev/null
    is_restacked kept
    [ "$(docker_cli exec kept cat /lib/f4 /lib/f7)" = $'mine\nfrom layer 7' ]
    expect_equal "$(docker_cli diff kept | sort)" "$changes"

    # A container that began without a tree, and has many changes, stays without.
    start plain runc
    docker_cli rm --force plain
    rm -rf "$FB_DIR/restack"
    start early
    docker_cli exec early sh -c 'echo mine >/lib/f4; mkdir /lots && cd /lots && for n in 0 1 2 3 4 5 6 7 8 9; do
        touch "$n"0 "$n"1 "$n"2 "$n"3 "$n"4 "$n"5 "$n"6; done'
    wait_for is_built
    docker_cli restart --time 0 early
    run ! is_restacked early
    [[ $(said .reason) =~ "it stays as the engine mounted it: ".*"has been written to" ]]
    [ "$(said .verdict)" = skipped ]
    [ "$(docker_cli exec early cat /lib/f4)" = mine ]
}

@test "docker: a restarted daemon finds its container" {
    build
    start kept
    docker_cli exec kept sh -c 'echo mine >/lib/f4'
    docker_again
    docker_is kept running
    is_restacked kept
    [ "$(docker_cli exec kept cat /lib/f4 /lib/last)" = "$(printf 'mine\nlayer 39 was the last')" ]
    expect_equal "$(docker_cli diff kept | sort)" "$(printf 'C /lib\nC /lib/f4')"
    at=$(root_of kept)
    docker_cli rm --force kept
    [ ! -e "${at%/merged}" ]
}

@test "docker: launches do not wait, and many at once share one builder" {
    for _ in 1 2 3 4 5 6; do
        docker_run --rm "$DEEP" true &
    done
    wait
    wait_for is_built
    [ "$(trees | gojq '.trees | length')" = 1 ]
    [ "$(gojq -r '.operations[] | select(.kind == "rootfs") | .verdict' "$FB_DIR/log/audit.jsonl" | wc -l)" = 6 ]
    [ -z "$(find "$FB_DIR/restack" -maxdepth 1 -name '.[bo]*')" ]
}

# gc_removes_no_tree OPTION...: what launches left may go.
gc_removes_no_tree() {
    run "$FLATBED" gc --cache "$FB_DIR/restack" "$@"
    expect_status 0
    [ -z "$(grep -v ' of launches that are over$' <<<"$output")" ]
}

@test "docker: gc keeps trees in use, and removes those without layers" {
    build
    start running
    gc_removes_no_tree --unused 0 --max-size 0
    [ "$(docker_cli exec running cat /lib/last)" = "layer 39 was the last" ]
    docker_cli rm --force running
    gc_removes_no_tree
    run "$FLATBED" gc --cache "$FB_DIR/restack" --max-size 1k --dry-run
    expect_match 'would remove [0-9a-f]{32}, .*: there is no room for it'
    is_built

    docker_cli rmi "$DEEP" >/dev/null
    run "$FLATBED" gc --cache "$FB_DIR/restack"
    expect_match 'removed [0-9a-f]{32}, .*: its layers are gone'
    run ! is_built
    docker_cli load --quiet --input "$FB_DIR/deep.tar" >/dev/null
}

@test "docker: flatbed restack --build makes the tree of an image in advance" {
    layers=$(docker_cli image inspect --format '{{.GraphDriver.Data.UpperDir}}:{{.GraphDriver.Data.LowerDir}}' "$DEEP")
    run "$FLATBED" restack --build --cache "$FB_DIR/restack" "$layers"
    expect_status 0
    expect_match '40 layers with [0-9]+ files, [0-9.]+ lookups for each: a tree'
    start first
    is_restacked first
    DOCKER_HOST=unix://$FB_DIR/docker.sock run "$FLATBED" restack --build --cache "$FB_DIR/restack" "$DEEP"
    expect_status 0
    expect_match 'there already'
    run "$FLATBED" restack --cache "$FB_DIR/restack"
    expect_match 'ready +40 .* yes '
}

@test "docker: so many layers that docker names them by links in another directory" {
    python3 "$BATS_TEST_DIRNAME/lib/layers.py" "$FB_DIR/rootfs" "$FB_DIR/deeper.tar" flatbed-deeper:1 110
    docker_cli load --quiet --input "$FB_DIR/deeper.tar" >/dev/null
    DEEP=flatbed-deeper:1
    build
    start plain runc
    mounts_of plain | grep -qE 'lowerdir=l/[A-Z0-9]{26}:l/'
    start restacked
    is_restacked restacked
    diff <(view plain) <(view restacked)
    docker_cli rm --force restacked plain
    docker_cli rmi "$DEEP" >/dev/null
}

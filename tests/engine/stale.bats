#!/usr/bin/env bats
# flatbed stale on the stores of real engines: orphans go, and all that the engines know stays and works.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker podman

file_require() {
    require_flatbed
    require_tool gojq python3
    overlay_works || refuse "no overlay mounts here"
}

test_begin() {
    D=$FB_DIR/docker
    P=$FB_DIR/podman/root
}

DEEP=flatbed-deep:1

file_ready() {
    python3 "$BATS_TEST_DIRNAME/lib/layers.py" "$FB_DIR/rootfs" "$FB_DIR/deep.tar" "docker.io/library/$DEEP" 8
    docker_cli load --quiet --input "$FB_DIR/deep.tar" >/dev/null
    podman_cli load --quiet --input "$FB_DIR/deep.tar" >/dev/null
}

orphan() { printf "%062d%02d" 0 "$1"; }

# copy_orphan LAYERS NUMBER: a copy of one of the layers under a name that nobody knows.
copy_orphan() {
    local one
    one=$(find "$1" -mindepth 1 -maxdepth 1 -type d -name '????????????????????????????????*' ! -name '*-init' | sort | head -n 1)
    cp -a "$one" "$1/$(orphan "$2")"
    printf 'ORPHAN%s' "$2" >"$1/$(orphan "$2")/link"
    ln -s "../$(orphan "$2")/diff" "$1/l/ORPHAN$2"
}

# listed STORE: the names of what is stale there, sorted.
listed() { "$FLATBED" stale --store="$1" --json | gojq -er '.stale[].path | sub(".*/"; "")' | sort; }

has_none() { [ "$("$FLATBED" stale --store="$1" --json | gojq -c '[.stale, .left_out]')" = '[[],[]]' ] || { "$FLATBED" stale --store="$1"; return 1; }; }

# has_more COUNT: more than so many directories are stale.
has_more() { [ "$("$FLATBED" stale --store="$D" --json | gojq '.stale | length')" -gt "$1" ]; }

# directories STORE: their names.
directories() { find "$1" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort; }

# has_strangers COUNT: so many directories were not there "before".
has_strangers() { [ "$(directories "$D/overlay2" | grep -cvxFf <(echo "$before"))" -ge "$1" ]; }

# remove_all_the_time STORE: removes what is stale there, again and again, until end_removal.
remove_all_the_time() {
    (while :; do "$FLATBED" stale --store="$1" --remove --older=0 || true; done) >"$FB_DIR/loop.log" 2>&1 3>&- &
    REMOVER=$!
}

end_removal() {
    [ -n "${REMOVER-}" ] || return 0
    kill "$REMOVER"
    wait "$REMOVER" || true
    REMOVER=
}

test_end() { end_removal; }

@test "docker: images, containers and the build cache are known, orphans are found; they go when it is stopped" {
    local before
    docker_cli create --name kept "$DEEP" true >/dev/null
    docker_run --detach --name running "$DEEP" sleep 600 >/dev/null
    mkdir "$FB_DIR/context" "$FB_DIR/half"
    head -c 3000000 /dev/urandom >"$FB_DIR/half/data"
    tar -C "$FB_DIR/half" -c . | head -c 2000000 >"$FB_DIR/half.tar"
    printf 'FROM %s\nRUN echo one >/one\nRUN echo two >/two\n' "$DEEP" >"$FB_DIR/context/Dockerfile"
    DOCKER_BUILDKIT=1 docker_cli build --network=none --quiet "$FB_DIR/context" >/dev/null 2>&1 || fb_note "no BuildKit here"
    has_none "$D"
    before=$(directories "$D/overlay2")
    copy_orphan "$D/overlay2" 1
    copy_orphan "$D/overlay2" 2
    expect_equal "$(listed "$D")" "$(orphan 1)"$'\n'"$(orphan 2)"
    run "$FLATBED" stale --store="$D" --remove --older=0
    expect_status 1
    expect_match "Docker runs and may be making it"
    [ -d "$D/overlay2/$(orphan 1)/diff" ]
    docker_cli rm -f running >/dev/null
    # A layer that is being made: it is not known yet, and must not go.
    (cat "$FB_DIR/half.tar" && exec sleep 30) | docker_cli import - flatbed-half:1 >"$FB_DIR/import.log" 2>&1 3>&- &
    # Docker's unpacker mounts it, so that it may be listed for a moment, or not at all.
    wait_for has_strangers 3
    run "$FLATBED" stale --store="$D" --remove --older=0
    expect_status 1
    expect_no_match "removed:"
    kill -9 "$FB_DOCKERD_PID"
    wait_for pid_gone "$FB_DOCKERD_PID"
    FB_DOCKERD_PID=
    fb_reap
    rm -f "$FB_DIR/docker.pid" "$FB_DIR/exec/containerd/containerd.pid"
    wait_for has_more 2
    run "$FLATBED" stale --store="$D" --remove --older=0
    expect_status 0
    [ ! -e "$D/overlay2/$(orphan 1)" ]
    [ ! -e "$D/overlay2/$(orphan 2)" ]
    [ ! -L "$D/overlay2/l/ORPHAN1" ]
    [ -z "$(find "$D/overlay2" -maxdepth 1 -name '.flatbed*')" ]
    docker_start
    expect_equal "$(directories "$D/overlay2" | grep -vxFf <(echo "$before"))" ""
    docker_cli start --attach kept
    expect_equal "$(docker_run --rm "$DEEP" sh -c 'echo works')" works
    docker_cli rm -f kept >/dev/null
    has_none "$D"
}

@test "docker: nothing is lost while containers come and go" {
    local i
    remove_all_the_time "$D"
    for i in $(seq 15); do
        docker_cli create --name "c$i" "$DEEP" sh -c 'cat /lib/f4 >/dev/null && echo fine' >/dev/null
        expect_equal "$(docker_cli start --attach "c$i")" fine
        [ $((i % 2)) -eq 0 ] || docker_cli rm "c$i" >/dev/null
    done
    end_removal
    for i in $(seq 2 2 14); do
        expect_equal "$(docker_cli start --attach "c$i")" fine
        docker_cli rm "c$i" >/dev/null
    done
}

@test "podman: orphans go under its locks, all else stays" {
    local before
    podman_cli create --name kept "$DEEP" true >/dev/null
    podman_run --detach --name running "$DEEP" sleep 600 >/dev/null
    has_none "$P"
    before=$(directories "$P/overlay")
    copy_orphan "$P/overlay" 1
    expect_equal "$(listed "$P")" "$(orphan 1)"
    run "$FLATBED" stale --store="$P" --remove
    expect_status 0
    [ -d "$P/overlay/$(orphan 1)" ] # too young
    run "$FLATBED" stale --store="$P" --remove --older=0
    expect_status 0
    expect_equal "$(directories "$P/overlay")" "$before"
    podman_cli start --attach kept
    expect_equal "$(podman_run --rm "$DEEP" sh -c 'echo works')" works
    podman_cli exec running true
    podman_cli rm -f -t 0 running kept >/dev/null
}

@test "podman: nothing is lost while containers come and go" {
    local i
    copy_orphan "$P/overlay" 3
    remove_all_the_time "$P"
    for i in $(seq 15); do
        podman_cli create --name "c$i" "$DEEP" sh -c 'cat /lib/f4 >/dev/null && echo fine' >/dev/null
        expect_equal "$(podman_cli start --attach "c$i")" fine
        [ $((i % 2)) -eq 0 ] || podman_cli rm "c$i" >/dev/null
    done
    end_removal
    for i in $(seq 2 2 14); do
        expect_equal "$(podman_cli start --attach "c$i")" fine
        podman_cli rm "c$i" >/dev/null
    done
    [ ! -e "$P/overlay/$(orphan 3)" ]
    has_none "$P"
}

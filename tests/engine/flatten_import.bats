#!/usr/bin/env bats
# A daemon with a graph driver takes the new layer while it is made: nothing is in TMPDIR, and no other image
# stays in the daemon.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/frame
load lib/engine_proxy
frame docker flatten

FB_RUNS=$'shared\nshared\nfile' # what $FB_LAYERS prints

file_ready() { docker_cli save --output "$FB_DIR/layers.tar" "$FB_LAYERS"; }

# no_room ARGS…: flatten with a TMPDIR that does not exist.
no_room() {
    DOCKER_HOST="${FB_HOST:-unix://$FB_DIR/docker.sock}" TMPDIR=$FB_DIR/none "$FLATTEN" "$@" 3>&-
}

@test "import: the new layer needs no room in TMPDIR; the image is that of docker load, and nothing else stays" {
    local before loaded
    flatten --quiet "$FB_DIR/layers.tar" "docker-archive:$FB_DIR/out/flat.tar:fb-loaded:1" >/dev/null
    docker_cli load --quiet --input "$FB_DIR/out/flat.tar" >/dev/null
    loaded=$(daemon_id fb-loaded:1)
    docker_cli rmi fb-loaded:1 >/dev/null
    before=$(images_seen)
    run --separate-stderr no_room --quiet "$FB_DIR/layers.tar" docker-daemon:fb-import:1
    expect_status 0
    expect_equal "$stderr" ""
    expect_equal "${lines[0]}" "$loaded"
    expect_equal "$(daemon_id fb-import:1)" "$loaded"
    expect_equal "$(images_seen)" "$(sort -u <<<"$before"$'\n'"$loaded")"
    expect_equal "$(docker_cli run --rm --network=none fb-import:1)" "$FB_RUNS"
    expect_same_image "$FB_LAYERS" fb-import:1
    docker_cli rmi fb-import:1 >/dev/null
    expect_equal "$(images_seen)" "$before"
}

@test "import: flatten NAME needs no room in TMPDIR, neither to read nor to write" {
    local before
    before=$(images_seen)
    run --separate-stderr no_room --quiet "$FB_LAYERS" docker-daemon:fb-in-place:1
    expect_status 0
    expect_equal "$stderr" ""
    expect_equal "$(daemon_id fb-in-place:1)" "${lines[0]}"
    expect_same_image "$FB_LAYERS" fb-in-place:1
    docker_cli rmi fb-in-place:1 >/dev/null
    expect_equal "$(images_seen)" "$before"
}

@test "import: gzip works as well, and twice gives the same image" {
    local once
    once=$(no_room --quiet "$FB_DIR/layers.tar" docker-daemon:fb-twice:1)
    expect_equal "$(no_room --quiet "$FB_DIR/layers.tar" docker-daemon:fb-twice:2)" "$once"
    run no_room --quiet --compression=gzip "$FB_DIR/layers.tar" docker-daemon:fb-twice:3
    expect_status 0
    expect_equal "${lines[0]}" "$(head -n 1 <<<"$once")"
    expect_same_image "$FB_LAYERS" fb-twice:3
    docker_cli rmi --force fb-twice:1 fb-twice:2 fb-twice:3 >/dev/null
}

# ------------------------------------------------------------------ what can go wrong

test_begin() {
    docker_cli tag "$FB_IMAGE" fb-old:1
    FB_BEFORE=$(images_seen)
}

# expect_old: fb-old:1 is the old image, and the daemon has no new one.
expect_old() {
    expect_equal "$(daemon_id fb-old:1)" "$(daemon_id "$FB_IMAGE")"
    expect_equal "$(images_seen)" "$FB_BEFORE"
    expect_nothing_left
}

# expect_leftover: there is one image more, without a name.
expect_leftover() {
    expect_equal "$(docker_cli images --quiet --filter label=dev.flatbed.unfinished | wc -l)" 1
    expect_equal "$(daemon_id fb-old:1)" "$(daemon_id "$FB_IMAGE")"
}

# expect_new: a run without a fault replaces fb-old:1, and removes all that faulty ones have left.
expect_new() {
    local id
    run flatten --quiet "$FB_DIR/layers.tar" docker-daemon:fb-old:1
    expect_status 0
    id=$(daemon_id fb-old:1)
    expect_equal "${lines[0]}" "$id"
    expect_equal "$(images_seen)" "$(sort -u <<<"$FB_BEFORE"$'\n'"$id")"
    docker_cli rmi --force fb-old:1 >/dev/null
    expect_nothing_left
}

# The command of a proxy that kills the daemon. A test may have started it again, so the file has its pid.
kills() { echo "kill -KILL $(cat "$FB_DIR/docker.pid")"; }

# daemon_again: starts the daemon after it was killed.
daemon_again() {
    wait_for pid_gone "$(cat "$FB_DIR/docker.pid")"
    fb_reap
    # dockerd would wait for a containerd that still ends, instead of starting one.
    rm -f "$FB_DIR/docker.pid" "$FB_DIR/exec/containerd/containerd.pid"
    docker_spawn "$(ls "$FB_DIR/docker/image")"
    daemon_await dockerd "$FB_DOCKERD_PID" "$FB_DIR/dockerd.log" docker_cli version
}

@test "import: a daemon that is killed before the load keeps the old image, and the next run cleans up" {
    proxy_start "POST /images/load" 1 "$(kills)"
    run flatten --quiet "$FB_DIR/layers.tar" docker-daemon:fb-old:1
    fake_stop
    expect_status 3
    expect_match 'loading fb-old:1 into the daemon'
    daemon_again
    expect_leftover
    expect_new
}

@test "import: a daemon that is killed during the import keeps the old image, and no part of a new one" {
    large_archive
    proxy_start "POST /images/create" 5000000 "$(kills)"
    run flatten --quiet "$FB_DIR/large.tar" docker-daemon:fb-old:1
    fake_stop
    expect_status 3
    expect_match 'importing the new layer into the daemon'
    daemon_again
    expect_old
    expect_new
}

@test "import: an image that is pruned before the load is an error that says what to do" {
    large_archive
    proxy_start "POST /images/load" 1 "DOCKER_CONFIG=$FB_DIR $DOCKER -H unix://$FB_DIR/docker.sock image prune --force"
    run flatten --quiet "$FB_DIR/large.tar" docker-daemon:fb-old:1
    fake_stop
    cat "$FB_DIR/proxy.log"
    expect_status 3
    expect_match 'loading fb-old:1 into the daemon: the new layer was removed.*: run flatten again'
    expect_old
    expect_new
}

@test "import: flatten, killed between import and load, leaves an image that the next run removes" {
    proxy_start "POST /images/load" 1 "$(waits)"
    flatten_spawn --quiet "$FB_DIR/layers.tar" docker-daemon:fb-old:1
    wait_for test -e "$FB_DIR/reached"
    expect_leftover
    kill -KILL "$FB_FLATTEN_PID"
    wait_for pid_gone "$FB_FLATTEN_PID"
    fake_stop
    expect_leftover
    expect_new
}

@test "import: after a signal flatten removes its image itself" {
    local signal
    for signal in INT TERM; do
        proxy_start "POST /images/load" 1 "$(waits)"
        flatten_spawn --quiet "$FB_DIR/layers.tar" docker-daemon:fb-old:1
        wait_for test -e "$FB_DIR/reached"
        [ "$signal" = INT ] || expect_leftover # a job in the background ignores SIGINT
        kill -"$signal" "$FB_FLATTEN_PID"
        [ "$signal" != INT ] || touch "$FB_DIR/go"
        wait_for pid_gone "$FB_FLATTEN_PID"
        touch "$FB_DIR/go"
        fake_stop
        expect_equal "$(docker_cli images --quiet --filter label=dev.flatbed.unfinished)" ""
        docker_cli rmi --force fb-old:1 >/dev/null
        docker_cli tag "$FB_IMAGE" fb-old:1
    done
    expect_new
}

@test "import: two runs at once: neither removes the image of the other" {
    proxy_start "POST /images/load" 1 "$(waits)"
    flatten_spawn --quiet "$FB_DIR/layers.tar" docker-daemon:fb-old:1
    wait_for test -e "$FB_DIR/reached"
    FB_HOST='' run flatten --quiet "$FB_DIR/layers.tar" docker-daemon:fb-other:1
    expect_status 0
    expect_leftover
    touch "$FB_DIR/go"
    wait_for pid_gone "$FB_FLATTEN_PID"
    fake_stop
    expect_equal "$(cat "$FB_DIR/spawned.log")" "$output"
    expect_equal "$(daemon_id fb-old:1)" "${lines[0]}"
    expect_equal "$(daemon_id fb-other:1)" "${lines[0]}"
    docker_cli rmi --force fb-other:1 fb-old:1 >/dev/null
    expect_equal "$(images_seen)" "$FB_BEFORE"
}

@test "import: images of others stay: built from one of flatten, with its label, of another host" {
    local own foreign
    own=$(docker_cli import --change "LABEL dev.flatbed.unfinished=none" "$FB_DIR/context/rootfs.tar")
    foreign=$(docker_cli import --message "an unfinished image of flatten" --change \
        "LABEL dev.flatbed.unfinished=00000000-0000-0000-0000-000000000000.1.1.1" "$FB_DIR/context/rootfs.tar")
    FB_BEFORE=$(images_seen)
    expect_new
    expect_equal "$(images_seen)" "$FB_BEFORE"
    docker_cli rmi "$own" "$foreign" >/dev/null
}

@test "import: an image that somebody builds from that of this run stays" {
    local container built
    proxy_start "POST /images/load" 1 "$(waits)"
    flatten_spawn --quiet "$FB_DIR/layers.tar" docker-daemon:fb-old:1
    wait_for test -e "$FB_DIR/reached"
    container=$(docker_cli create "$(docker_cli images --quiet --filter label=dev.flatbed.unfinished)" sh)
    built=$(docker_cli commit "$container")
    docker_cli rm "$container" >/dev/null
    touch "$FB_DIR/go"
    wait_for pid_gone "$FB_FLATTEN_PID"
    fake_stop
    expect_equal "$(docker_cli inspect --format '{{.Id}}' "$built")" "$built"
    docker_cli rmi "$built" >/dev/null
    docker_cli rmi --force fb-old:1 >/dev/null
    docker_cli tag "$FB_IMAGE" fb-old:1
    expect_new
}

@test "import: a reader that dies makes no image" {
    large_archive
    proxy_start "POST /images/create" 5000000 "$(waits)"
    flatten_spawn --quiet "$FB_DIR/large.tar" docker-daemon:fb-old:1
    wait_for test -e "$FB_DIR/reached"
    kill -KILL "$(pgrep -P "$FB_FLATTEN_PID")"
    wait_for pid_gone "$FB_FLATTEN_PID"
    touch "$FB_DIR/go"
    fake_stop
    expect_match 'died of signal 9.*; nothing was published' "$(cat "$FB_DIR/spawned.log")"
    expect_old
    expect_new
}

@test "import: a source with a wrong digest makes no image" {
    large_archive
    cp "$FB_DIR/large.tar" "$FB_DIR/out/wrong.tar"
    printf x | dd of="$FB_DIR/out/wrong.tar" bs=1 seek=20000000 conv=notrunc status=none
    run flatten --quiet "$FB_DIR/out/wrong.tar" docker-daemon:fb-old:1
    rm "$FB_DIR/out/wrong.tar"
    expect_status 6
    expect_old
}

@test "import: over TCP as over the socket" {
    local port
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    rm -f "$FB_DIR/proxy.log" # one of an earlier proxy says that it listens, too
    python3 "$BATS_TEST_DIRNAME/lib/engine_proxy.py" "tcp:$port" "$FB_DIR/docker.sock" "POST /images/create" 1 \
        "touch $FB_DIR/reached" >"$FB_DIR/proxy.log" 2>&1 </dev/null 3>&- &
    export FB_FAKE_PID=$! FB_HOST=tcp://127.0.0.1:$port
    wait_for grep -q listens "$FB_DIR/proxy.log"
    run no_room --quiet "$FB_DIR/layers.tar" docker-daemon:fb-tcp:1
    fake_stop
    expect_status 0
    test -e "$FB_DIR/reached"
    expect_equal "$(daemon_id fb-tcp:1)" "${lines[0]}"
    docker_cli rmi fb-tcp:1 >/dev/null
    expect_old
}

test_end() {
    fake_stop
    docker_cli rmi --force fb-old:1 >/dev/null 2>&1 || true
}

# ------------------------------------------------------------------ layers that stay

# Docker 26 keeps the layers of an image until it ends, once a container of it was exported: that comes last.
@test "kept: an image whose layers are kept may be removed and pruned meanwhile" {
    large_load
    proxy_start "POST /images/load" 9000000 "exec >$FB_DIR/prune.log 2>&1; export DOCKER_CONFIG=$FB_DIR; D='$DOCKER -H unix://$FB_DIR/docker.sock'; \$D rmi fb-large:1"
    run flatten --quiet --keep-base=1 "$FB_DIR/large.tar" docker-daemon:fb-kept:1
    fake_stop
    expect_status 0
    expect_match 'Deleted' "$(cat "$FB_DIR/prune.log")"
    expect_equal "$(daemon_id fb-kept:1)" "${lines[0]}"
    docker_cli rmi fb-kept:1 >/dev/null
    expect_old
}

@test "kept: layers that the daemon has are not sent; without them all are sent" {
    local id before
    large_load
    before=$(images_seen)
    proxy_start none 1 true
    run flatten --quiet --keep-base=1 "$FB_DIR/large.tar" docker-daemon:fb-kept:1
    fake_stop
    expect_status 0
    id=${lines[0]}
    expect_equal "$(daemon_id fb-kept:1)" "$id"
    expect_equal "$(images_seen)" "$(sort -u <<<"$before"$'\n'"$id")"
    [ "$(sent_bytes)" -gt 12000000 ]
    [ "$(sent_bytes)" -lt 13000000 ]
    docker_cli rmi fb-kept:1 fb-large:1 >/dev/null
    proxy_start none 1 true
    run flatten --quiet --keep-base=1 "$FB_DIR/large.tar" docker-daemon:fb-kept:1
    fake_stop
    expect_equal "${lines[0]}" "$id"
    [ "$(sent_bytes)" -gt 24000000 ]
    large_load
    expect_same_image fb-large:1 fb-kept:1 2
    docker_cli rmi fb-kept:1 fb-large:1 >/dev/null
    expect_old
}

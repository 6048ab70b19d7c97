#!/usr/bin/env bats
# A daemon with a graph driver takes the new layer while it is made: nothing is in TMPDIR, and no other image
# stays in the daemon.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/frame
frame docker flatten

FB_RUNS=$'shared\nshared\nfile' # what $FB_LAYERS prints

file_ready() { docker_cli save --output "$FB_DIR/layers.tar" "$FB_LAYERS"; }

# no_room ARGS…: flatten with a TMPDIR that does not exist.
no_room() {
    DOCKER_HOST="${FB_HOST:-unix://$FB_DIR/docker.sock}" TMPDIR=$FB_DIR/none "$FLATTEN" "$@" 3>&-
}

# images_seen: the Ids of all images in the daemon, intermediate ones included.
images_seen() { docker_cli images --all --quiet --no-trunc | sort -u; }

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

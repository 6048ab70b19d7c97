#!/usr/bin/env bats
# flatten with a dockerd that keeps images in containerd's store: the Id of an image is the digest of its manifest
# there, layers are the blobs as loaded, and a loaded image must be a whole OCI layout. Docker has such a store from 24.0 on;
# an older one keeps its graph driver, and must pass the same tests.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/frame
load lib/engine_proxy
frame docker flatten

export FB_DOCKER_SNAPSHOTTER=true

FB_RUNS=$'shared\nshared\nfile' # what $FB_LAYERS prints

@test "store: from Docker 24 on, it is that of containerd" {
    if docker_has_annotations; then # which came with the same version
        expect_equal "$(docker_store)" containerd
    else
        expect_equal "$(docker_store)" graph
    fi
}

@test "store: flatten NAME: the daemon has NAME:TAG-flat, which runs and shows the same" {
    run --separate-stderr flatten "$FB_LAYERS"
    expect_status 0
    expect_match 'layers became 1' "$stderr"
    run docker_cli run --rm --network=none "$FB_LAYERS-flat"
    expect_status 0
    expect_output "$FB_RUNS"
    expect_same_image "$FB_LAYERS" "$FB_LAYERS-flat"
    run flatten verify "$FB_LAYERS" "docker-daemon:$FB_LAYERS-flat"
    expect_status 0
    expect_nothing_left
}

@test "store: flatten prints the Id of the daemon" {
    run --separate-stderr flatten --quiet "$FB_LAYERS" docker-daemon:fb-id:1
    expect_status 0
    case $(docker_store) in
        containerd) expect_equal "$(docker_cli inspect --format '{{.Id}}' fb-id:1)" "${lines[1]}" ;;
        graph) expect_equal "$(docker_cli inspect --format '{{.Id}}' fb-id:1)" "${lines[0]}" ;;
    esac
}

@test "store: an image that was loaded compressed is flattened again, from its blobs" {
    local compression
    for compression in gzip zstd; do
        flatten --quiet --compression="$compression" --into=3 "$FB_LAYERS" "docker-daemon:fb-$compression:3" >/dev/null
        run docker_cli run --rm --network=none "fb-$compression:3"
        expect_output "$FB_RUNS"
        run flatten --quiet --verify "fb-$compression:3" "docker-daemon:fb-$compression:1"
        expect_status 0
        run docker_cli run --rm --network=none "fb-$compression:1"
        expect_output "$FB_RUNS"
        expect_same_image "$FB_LAYERS" "fb-$compression:1"
    done
    expect_nothing_left
}

@test "store: a daemon that keeps blobs gets the new layer compressed with zstd, unless told otherwise" {
    local blobs=$FB_DIR/docker/containerd/daemon/io.containerd.content.v1.content/blobs/sha256 id
    flatten --quiet "$FB_LAYERS" docker-daemon:fb-default:1 >/dev/null
    flatten --quiet --compression=none "$FB_LAYERS" docker-daemon:fb-plain:1 >/dev/null
    [ "$(docker_store)" = containerd ] || return 0
    id=$(docker_cli inspect --format '{{.Id}}' fb-default:1)
    expect_equal "$(gojq -r '.layers[].mediaType' "$blobs/${id#sha256:}")" application/vnd.oci.image.layer.v1.tar+zstd
    id=$(docker_cli inspect --format '{{.Id}}' fb-plain:1)
    expect_equal "$(gojq -r '.layers[].mediaType' "$blobs/${id#sha256:}")" application/vnd.oci.image.layer.v1.tar
}

@test "store: --keep-base shares the layers that stay" {
    run flatten --quiet --verify --keep-base=4 "$FB_LAYERS" docker-daemon:fb-kept:1
    expect_status 0
    expect_equal "$(docker_cli inspect fb-kept:1 | gojq -c '.[0].RootFS.Layers[:4]')" \
        "$(docker_cli inspect "$FB_LAYERS" | gojq -c '.[0].RootFS.Layers[:4]')"
    run docker_cli run --rm --network=none fb-kept:1
    expect_output "$FB_RUNS"
    expect_same_image "$FB_LAYERS" fb-kept:1 5
    # An image that loses its name is gone from containerd's store, and stays in a graph driver's.
    docker_cli rmi fb-kept:1 >/dev/null
}

# keeps_large: flattens all but the first layer of the large image, as fb-kept:1, through the proxy.
keeps_large() {
    proxy_start none 1 true
    run flatten --quiet --keep-base=1 --compression=none "$FB_DIR/large.tar" docker-daemon:fb-kept:1
    fake_stop
    expect_status 0
    expect_match "$(daemon_id fb-kept:1)"
}

@test "store: kept layers that the daemon has are not sent; the image is whole, and nothing else stays" {
    local before
    large_load
    before=$(images_seen)
    keeps_large
    expect_equal "$(images_seen)" "$(sort -u <<<"$before"$'\n'"$(daemon_id fb-kept:1)")"
    [ "$(sent_bytes)" -gt 12000000 ]
    [ "$(sent_bytes)" -lt 13000000 ]
    expect_same_image fb-large:1 fb-kept:1 2
    docker_cli rmi fb-large:1 >/dev/null
    docker_cli save --output "$FB_DIR/out/kept.tar" fb-kept:1
    flatten verify "$FB_DIR/large.tar" "$FB_DIR/out/kept.tar"
    rm "$FB_DIR/out/kept.tar"
    docker_cli rmi fb-kept:1 >/dev/null
    keeps_large
    [ "$(sent_bytes)" -gt 24000000 ]
    docker_cli rmi fb-kept:1 >/dev/null
    expect_nothing_left
}

@test "store: an image whose layers are kept may be removed while the new one is loaded" {
    large_load
    proxy_start "POST /images/load" 9000000 "exec >$FB_DIR/prune.log 2>&1; export DOCKER_CONFIG=$FB_DIR; D='$DOCKER -H unix://$FB_DIR/docker.sock'; \$D rmi fb-large:1"
    run flatten --quiet --keep-base=1 --compression=none "$FB_DIR/large.tar" docker-daemon:fb-kept:1
    fake_stop
    expect_status 0
    expect_match 'Deleted|Untagged' "$(cat "$FB_DIR/prune.log")"
    docker_cli save --output "$FB_DIR/out/kept.tar" fb-kept:1
    flatten verify "$FB_DIR/large.tar" "$FB_DIR/out/kept.tar"
    rm "$FB_DIR/out/kept.tar"
    docker_cli rmi fb-kept:1 >/dev/null
}

@test "store: a run that is killed while it loads leaves an image that holds layers; the next run removes it" {
    local before
    large_load
    before=$(images_seen)
    proxy_start "POST /images/load" 9000000 "$(waits)"
    flatten_spawn --quiet --keep-base=1 --compression=none "$FB_DIR/large.tar" docker-daemon:fb-kept:1
    wait_for test -e "$FB_DIR/reached"
    kill -KILL "$FB_FLATTEN_PID"
    wait_for pid_gone "$FB_FLATTEN_PID"
    fake_stop
    expect_equal "$(docker_cli images --quiet --filter label=dev.flatbed.unfinished | wc -l)" 1
    keeps_large
    expect_equal "$(images_seen)" "$(sort -u <<<"$before"$'\n'"$(daemon_id fb-kept:1)")"
    docker_cli rmi fb-large:1 fb-kept:1 >/dev/null
}

@test "store: daemon to OCI layout and back, and archives that docker saves and loads itself" {
    run flatten --quiet "$FB_LAYERS" "oci:$FB_DIR/out/layout:v1"
    expect_status 0
    run flatten --quiet "oci:$FB_DIR/out/layout:v1" docker-daemon:fb-back:1
    expect_status 0
    expect_same_image "$FB_LAYERS" fb-back:1
    docker_cli save --output "$FB_DIR/out/saved.tar" fb-back:1
    run flatten verify "$FB_LAYERS" "$FB_DIR/out/saved.tar"
    expect_status 0
    run flatten --quiet "$FB_DIR/out/saved.tar" "docker-archive:$FB_DIR/out/flat.tar:fb-loaded:1"
    expect_status 0
    run docker_cli load --input "$FB_DIR/out/flat.tar"
    expect_output "Loaded image: fb-loaded:1"
    run docker_cli run --rm --network=none fb-loaded:1
    expect_output "$FB_RUNS"
}

@test "store: the image is read where it lies, with every option and nothing in TMPDIR; else --verbose says why" {
    local content=$FB_DIR/docker/containerd/daemon/io.containerd.content.v1.content
    run flatten_tight 1 --quiet "$FB_LAYERS" "oci:$FB_DIR/out/place:1"
    expect_status 0
    [ "$(docker_store)" = containerd ] || return 0
    run --separate-stderr flatten_tight 1 --verbose --last=2 "$FB_LAYERS" "oci:$FB_DIR/out/place:2"
    expect_status 0
    [[ $stderr != *"docker save"* ]]
    run flatten_tight 1 verify --semantics=spec "$FB_LAYERS" "$FB_LAYERS"
    expect_status 0
    docker_cli save --output "$FB_DIR/out/saved.tar" "$FB_LAYERS"
    # The ID, with the digest of the layer; manifest.json in the archive has no annotations.
    expect_equal "$(flatten --quiet "$FB_LAYERS" "oci:$FB_DIR/out/same:1" | head -n 1)" \
        "$(flatten --quiet "$FB_DIR/out/saved.tar" "oci:$FB_DIR/out/same:2" | head -n 1)"
    run flatten_tight 1 analyze --json "$FB_LAYERS"
    expect_status 0
    chmod o+w "$content"
    run --separate-stderr flatten --verbose "$FB_LAYERS" "oci:$FB_DIR/out/place:3"
    chmod o-w "$content"
    expect_status 0
    expect_match "$FB_LAYERS: read as docker save writes it: containerd has it neither in $FB_DIR/docker/containerd/daemon nor in /var/lib/containerd: $content is not owned by root" "$stderr"
    rm -r "$FB_DIR/out"/*
    expect_nothing_left
}

@test "store: analyze reads the daemon's image" {
    run flatten analyze --json "$FB_LAYERS"
    expect_status 0
    expect_equal "$(gojq '.images[0].layers | length' <<<"$output")" \
        "$(docker_cli inspect --format '{{len .RootFS.Layers}}' "$FB_LAYERS")"
}

@test "store: all images of an archive go into the daemon, which runs them" {
    loads_all
}

@test "store: after a kill at any moment, a name has its old image or the whole new one" {
    killed_loading fb-killed:1 "" 12
    killed_loading fb-killed:2 "$FB_IMAGE" 12
}

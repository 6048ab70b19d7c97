#!/usr/bin/env bats
# flatten with the store of podman, as a source and as a destination: containers-storage:NAME.

bats_require_minimum_version 1.5.0

load lib/frame
frame podman
load lib/flatten
load lib/storage

file_require() { flatten_require; }

file_ready() {
    mkdir "$FB_DIR/out"
    storage_build podman_cli
}

test_begin() { flatten_remove_all; }

test_end() { expect_equal "$(ls -A "$FB_DIR/tmp")" ""; }

@test "podman's store: an image becomes NAME:TAG-flat there, and runs; podman inspects the same" {
    run storage_flatten --verify "containers-storage:$FB_LAYERS"
    expect_status 0
    expect_match 'verified: the same tree'
    expect_match "to podman, as $FB_LAYERS-flat"
    expect_match "podman run --rm -it $FB_LAYERS-flat"
    expect_equal "$(podman_run --rm "$FB_LAYERS-flat")" "$FB_RUNS"
    storage_expect_same "$FB_LAYERS" "$FB_LAYERS-flat"
    expect_match "$(storage_id "$FB_LAYERS-flat")" "$output"
}

@test "podman's store: unpack writes the tree that podman mounts" {
    local box mounted
    box=$(podman_cli create "$FB_LAYERS")
    run storage_flatten unpack --verify "containers-storage:$FB_LAYERS" "$FB_DIR/out/tree"
    expect_status 0
    mounted=$(podman_cli mount "$box")
    within diff -r --no-dereference --exclude=fifo "$mounted" "$FB_DIR/out/tree"
    podman_cli umount "$box" >/dev/null
    rm -r "$FB_DIR/out/tree"
}

@test "podman's store: --json tells the ID that podman has" {
    local id
    id=$(storage_flatten --json "containers-storage:$FB_LAYERS" containers-storage:fb-json:1 2>/dev/null | gojq -r .id)
    expect_equal "$id" "sha256:$(storage_id localhost/fb-json:1)"
}

@test "podman's store: an OCI image, by ID and by digest" {
    local id digest
    podman_cli build --quiet --network=none --format oci --tag fb-oci:1 "$FB_DIR/oci" >/dev/null
    id=$(storage_id fb-oci:1)
    digest=$(podman_cli image inspect --format '{{.Digest}}' fb-oci:1)
    storage_flatten -q "containers-storage:$id" "oci:$FB_DIR/out/l:1"
    storage_flatten -q "containers-storage:@$id" "oci:$FB_DIR/out/l:2"
    storage_flatten -q "containers-storage:localhost/fb-oci@$digest" "oci:$FB_DIR/out/l:3"
    expect_equal "$(gojq -r '.manifests[].digest' "$FB_DIR/out/l/index.json" | sort -u | wc -l)" 1
    run storage_flatten verify "containers-storage:fb-oci:1" "oci:$FB_DIR/out/l:1"
    expect_status 0
    run storage_flatten "containers-storage:${id:0:12}"
    expect_status 2
    expect_match "is an ID or a digest: give a destination, as in containers-storage:NAME:TAG"
}

@test "podman's store: a new tag replaces the old one; kept layers; archives go in and out" {
    storage_flatten -q "containers-storage:$FB_LAYERS" "docker-archive:$FB_DIR/out/flat.tar"
    run storage_flatten "$FB_DIR/out/flat.tar" containers-storage:fb-in:1
    expect_status 0
    printf 'FROM scratch\nADD rootfs.tar /\n' >"$FB_DIR/context/base"
    podman_cli build --quiet --format docker --layers --tag fb-base:1 --file "$FB_DIR/context/base" "$FB_DIR/context" >/dev/null
    run storage_flatten -q "containers-storage:$FB_LAYERS" containers-storage:fb-in:1 --keep-base containers-storage:fb-base:1
    expect_status 0
    expect_equal "$(podman_cli image inspect --format '{{len .RootFS.Layers}}' fb-in:1)" 2
    expect_equal "$(podman_run --rm fb-in:1)" "$FB_RUNS"
}

@test "podman's store: --all-images keeps the names, and replaces no other image" {
    podman_cli save --quiet --multi-image-archive --output "$FB_DIR/out/two.tar" "$FB_LAYERS" "$FB_IMAGE" 2>/dev/null
    # Another test's image, read in place, has another ID and would be in the way.
    podman_cli rmi --force "$FB_LAYERS-flat" >/dev/null 2>&1 || true
    run storage_flatten -q --all-images "$FB_DIR/out/two.tar" containers-storage:
    expect_status 0
    expect_equal "$(podman_run --rm "$FB_LAYERS-flat")" "$FB_RUNS"
    podman_cli tag "$FB_IMAGE" "$FB_LAYERS-flat"
    run storage_flatten -q --all-images "$FB_DIR/out/two.tar" containers-storage:
    expect_status 2
    expect_match "podman has another image localhost/$FB_LAYERS-flat"
}

@test "podman's store: an image is read where its layers lie, where the tree is enough" {
    fake_podman "case \"\$*\" in *save*) kill -KILL \$\$;; esac; exec $(command -v podman) \"\$@\""
    storage_flatten -q "containers-storage:$FB_LAYERS" "oci:$FB_DIR/out/l:walked"
    podman_cli save --quiet --output "$FB_DIR/out/saved.tar" "$FB_LAYERS" 2>/dev/null
    storage_flatten verify -q "containers-storage:$FB_LAYERS" "$FB_DIR/out/saved.tar"
    storage_flatten verify -q "oci:$FB_DIR/out/l:walked" "$FB_DIR/out/saved.tar"
    run storage_flatten -q "containers-storage:$FB_LAYERS" "oci:$FB_DIR/out/l:kept" --last=3
    expect_status 3
    expect_match 'died of signal 9'
}

@test "podman's store: analyze reads each layer where it lies; the figures are those of podman save" {
    fake_podman "case \"\$*\" in *save*) kill -KILL \$\$;; esac; exec $(command -v podman) \"\$@\""
    podman_cli save --quiet --output "$FB_DIR/out/saved.tar" "$FB_LAYERS" 2>/dev/null
    diff <(storage_flatten analyze --quiet --json "containers-storage:$FB_LAYERS" |
        gojq 'del(.images[] | .source, .name, .layers[].digest, .layers[].size)') \
        <(storage_flatten analyze --quiet --json "$FB_DIR/out/saved.tar" |
            gojq 'del(.images[] | .source, .name, .layers[].digest, .layers[].size)')
}

@test "podman's store: 250 layers are read where they lie, from Linux 6.8 on; else -v says why not" {
    python3 -B - "$FB_DIR/out/deep.tar" <<END
import sys
sys.path.insert(0, "$BATS_TEST_DIRNAME/../oracle")
import images
from tarball import d, f, wh
layers = [[d("d"), f("d/%03d" % i, str(i)), f("d/same", str(i))] + [wh("d/%03d" % (i - 7))] * (i > 9) for i in range(250)]
images.write_docker_old(sys.argv[1], images.tars_of(layers), name="fb-deep:1")
END
    podman_cli load --quiet --input "$FB_DIR/out/deep.tar" >/dev/null
    run storage_flatten -v containers-storage:fb-deep:1 "oci:$FB_DIR/out/l:deep"
    expect_status 0
    if [ "$(printf '%s\n6.8\n' "$(uname -r)" | sort -V | head -n 1)" = 6.8 ]; then
        [[ $output != *"podman save"* ]]
    else
        expect_match 'read as podman save writes it: overlayfs of this kernel does not take 250 layers'
    fi
    run storage_flatten verify "oci:$FB_DIR/out/l:deep" "$FB_DIR/out/deep.tar"
    expect_status 0
    run storage_flatten analyze --json containers-storage:fb-deep:1
    expect_equal "$(gojq '.images[0].layers | length' <<<"$output")" 250
    podman_cli rmi --force fb-deep:1 >/dev/null
}

@test "podman's store: a store with options is left to podman" {
    cp "$FB_DIR/storage.conf" "$FB_DIR/out/storage.conf"
    printf '[storage.options.overlay]\nignore_chown_errors = "true"\n' >>"$FB_DIR/out/storage.conf"
    fake_podman "case \"\$*\" in *save*) kill -KILL \$\$;; esac; exec env CONTAINERS_STORAGE_CONF=$FB_DIR/out/storage.conf $(command -v podman) \"\$@\""
    run storage_flatten -q "containers-storage:$FB_LAYERS" "oci:$FB_DIR/out/l:1"
    expect_status 3
    expect_match 'died of signal 9'
}

@test "podman's store: an image that is removed while it is read gives nothing" {
    local id
    id=$(storage_id "$FB_LAYERS")
    fake_podman "case \"\$*\" in *inspect*$id) echo 'Error: $id: image not known' >&2; exit 125;; esac; exec $(command -v podman) \"\$@\""
    run storage_flatten "containers-storage:$FB_LAYERS" containers-storage:fb-removed:1
    expect_status 3
    expect_match 'the image was removed from the store while it was read'
    expect_equal "$(storage_id fb-removed:1)" ""
}

@test "podman's store: another store, with another driver" {
    local store="[vfs@$FB_DIR/vfs+$FB_DIR/vfs-run]"
    storage_flatten -q "containers-storage:$FB_LAYERS" "containers-storage:${store}fb-vfs:1"
    run storage_flatten verify -q "containers-storage:$FB_LAYERS" "containers-storage:${store}fb-vfs:1"
    expect_status 0
    run storage_flatten -q "containers-storage:${store}fb-vfs:1"
    expect_status 0
    storage_flatten verify -q "containers-storage:${store}fb-vfs:1-flat" "containers-storage:$FB_LAYERS"
}

@test "podman's store: a bare name means podman's image where there is no Docker daemon" {
    run storage_alone "$FLATTEN" "$FB_LAYERS"
    expect_status 0
    expect_match "there is no Docker daemon: $FB_LAYERS is podman's, containers-storage:$FB_LAYERS"
    expect_match "to podman, as $FB_LAYERS-flat"
    run storage_alone "$FLATTEN" -q "$FB_LAYERS" fb-bare:1
    expect_status 0
    expect_equal "${#lines[@]}" 2
    run storage_alone "$FLATTEN" verify -q "$FB_LAYERS" fb-bare:1
    expect_status 0
    run storage_alone env DOCKER_HOST=unix:///nowhere "$FLATTEN" "$FB_LAYERS"
    expect_status 3
    expect_match 'there is no Docker daemon at /nowhere'
}

@test "podman's store: what is not there, and names that are options" {
    run storage_flatten containers-storage:nosuch:1
    expect_status 2
    expect_match "containers-storage:nosuch:1: podman has no image nosuch:1: 'podman images' lists them"
    run storage_flatten "containers-storage:$FB_LAYERS" containers-storage:--help
    expect_status 2
    run storage_flatten containers-storage:--root=/x
    expect_status 2
    expect_match "'--root=/x' is not the name of an image"
    run storage_flatten "containers-storage:[overlay@relative]x"
    expect_status 2
    run storage_flatten containers-storage:
    expect_status 2
    expect_match 'containers-storage: needs a name'
    run env PATH=/nowhere "$FLATTEN" "containers-storage:$FB_LAYERS"
    expect_status 3
    expect_match 'podman is not in PATH'
}

@test "podman's store: a podman that fails, is killed or says nonsense" {
    local name
    fake_podman 'echo "Error: the \033[31mdisk is full" >&2; exit 125'
    run storage_flatten "containers-storage:$FB_LAYERS"
    expect_status 3
    expect_match 'podman says: the .*disk is full'
    [[ $output != *$'\033'* ]]
    fake_podman 'kill -KILL $$'
    run storage_flatten "containers-storage:$FB_LAYERS"
    expect_status 3
    expect_match 'podman: died of signal 9'
    fake_podman 'echo "[]"'
    run storage_flatten "containers-storage:$FB_LAYERS"
    expect_status 5
    fake_podman 'yes "[1,"'
    run storage_flatten "containers-storage:$FB_LAYERS"
    expect_status 7
    for name in save load; do # after it has begun
        fake_podman "case \"\$*\" in *$name*) kill -KILL \$\$;; esac; exec $(command -v podman) \"\$@\""
        run storage_flatten "containers-storage:$FB_LAYERS" containers-storage:fb-killed:1 --last=3
        expect_status 3
        expect_match 'died of signal 9'
        expect_equal "$(storage_id fb-killed:1)" ""
    done
}

@test "podman's store: flatten that is told to end takes podman with it" {
    fake_podman "echo \$\$ >$FB_DIR/out/pid; exec sleep 60"
    storage_flatten "containers-storage:$FB_LAYERS" 2>"$FB_DIR/out/log" &
    wait_for test -s "$FB_DIR/out/pid"
    kill -TERM "$(ps -o ppid= -p "$(<"$FB_DIR/out/pid")")"
    wait $! || true
    run cat "$FB_DIR/out/log"
    expect_match 'stopped by signal 15; nothing was published'
    run ! kill -0 "$(<"$FB_DIR/out/pid")"
    rm "$FB_DIR/out/pid"
    storage_flatten "containers-storage:$FB_LAYERS" 2>"$FB_DIR/out/log" &
    wait_for test -s "$FB_DIR/out/pid"
    kill -KILL "$(ps -o ppid= -p "$(<"$FB_DIR/out/pid")")"
    wait $! || true
    wait_for eval '! kill -0 "$(<"$FB_DIR/out/pid")" 2>/dev/null'
}

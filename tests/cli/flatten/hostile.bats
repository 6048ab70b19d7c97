#!/usr/bin/env bats
# flatten with images from somebody who wants to harm the user: files outside a layout, names, bombs.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

# swap FILE COMMAND...: replaces the file of the layout `bad` by what the command makes at that path.
swap() {
    local file=bad/$1
    shift
    rm -rf bad
    cp -r "$IMAGES/layout" bad
    mv "$file" moved
    "$@" "$file"
}

layer_of() { echo "blobs/sha256/$(gojq -r '.layers[0].digest[7:]' "$(manifest_of "$1")")"; }

# ---- files that are not in the layout ----

@test "a symlink in a layout is not followed: not to a blob, not to a directory, not to its documents" {
    local file
    cp -r "$IMAGES/layout" good
    for file in "$(layer_of good)" "$(config_of good)" "$(manifest_of good)" index.json oci-layout \
        blobs/sha256 blobs; do
        file=${file#good/}
        rm -rf moved
        swap "$file" ln -s "$PWD/moved"
        fails 5 "is a symlink, or behind one" oci:bad oci:out
        fails 5 "is a symlink, or behind one" analyze oci:bad
        rm -rf moved
        swap "$file" ln -s "$(realpath --relative-to="bad/$(dirname "$file")" moved)"
        fails 5 "is a symlink, or behind one" verify oci:bad oci:good
    done
    [ ! -e out ]
}

@test "the digest of a file that only the user may read is not told to who made the layout" {
    cp -r "$IMAGES/layout" good
    echo secret >secret
    chmod 600 secret
    swap "$(layer_of good)" ln -s "$PWD/secret"
    fails 5 "is a symlink" oci:bad oci:out
    [[ $stderr != *"$(sha256sum secret | cut -d ' ' -f 1)"* ]]
}

@test "a FIFO, a device or a directory in a layout is refused, and does not block" {
    local file
    cp -r "$IMAGES/layout" good
    for file in "$(layer_of good)" "$(config_of good)" index.json oci-layout; do
        file=${file#good/}
        swap "$file" mkfifo
        run --separate-stderr timeout 20 "$FLATTEN" oci:bad oci:out
        show
        refused 5 "is not a regular file"
        swap "$file" mkdir
        fails 5 "is not a regular file" oci:bad oci:out
        if [ "$(id -u)" -eq 0 ]; then
            swap "$file" sh -c 'mknod "$1" c 1 5' sh
            fails 5 "is not a regular file" oci:bad oci:out
        fi
    done
}

@test "a layout to which an image is added: its index.json is no symlink either" {
    cp -r "$IMAGES/layout" good
    swap index.json ln -s "$PWD/moved"
    cp moved before
    fails 2 "index.json is not a regular file" "$IMAGES/old.tar" oci:bad:new
    cmp moved before
    swap index.json mkfifo
    fails 2 "index.json is not a regular file" "$IMAGES/old.tar" oci:bad:new
    rm -rf bad
    cp -r "$IMAGES/layout" bad
    mv bad/blobs moved-blobs
    ln -s "$PWD/moved-blobs" bad/blobs
    find moved-blobs >before
    fails 3 "blobs" "$IMAGES/old.tar" oci:bad:new
    diff before <(find moved-blobs)
}

@test "the path of a layout on the command line may lead through symlinks" {
    mkdir real
    cp -r "$IMAGES/layout" real/layout
    ln -s real/layout link
    ln -s real dir
    ok -q oci:link oci:out
    ok -q oci:dir/layout oci:dir/out
    ln -s out again
    ok -q "$IMAGES/old.tar" oci:again:second
    same oci:again:second "$IMAGES/old.tar"
    ok analyze -q link
}

# ---- names ----

# evil NAME: makes evil.tar, an archive whose image is called NAME, and evil, a layout with that tag.
evil() {
    rm -rf evil evil.tar unpacked
    cp -r "$IMAGES/layout" evil
    gojq --arg name "$1" '.manifests[0].annotations = {"org.opencontainers.image.ref.name": $name}' \
        "$IMAGES/layout/index.json" >evil/index.json
    mkdir unpacked
    tar -xf "$IMAGES/new.tar" -C unpacked
    gojq -c --arg name "$1" '.[0].RepoTags = [$name]' unpacked/manifest.json >manifest.json
    mv manifest.json unpacked
    tar -cf evil.tar -C unpacked .
}

# tags LAYOUT: prints its tags with their digests.
tags() {
    gojq -r '.manifests[] | "\(.annotations["org.opencontainers.image.ref.name"]) \(.digest)"' "$1/index.json" | sort
}

@test "the name in an archive replaces no image of a layout that the command line does not name" {
    ok -q "oci:$IMAGES/divergent" oci:lay:stable
    ok -q "oci:$IMAGES/divergent" oci:lay:other/app:v2
    before=$(tags lay)
    evil some/where:stable
    fails 2 "it has another image called stable: end the destination with :TAG" evil.tar oci:lay
    fails 2 "it has another image called stable" docker-archive:evil.tar:@0 oci:lay
    evil stable
    fails 2 "it has another image called stable" oci:evil oci:lay
    fails 2 "it has another image called stable" oci:evil:stable oci:lay
    fails 2 "it has another image called stable" squash -a oci:evil oci:lay
    evil other/app:v2
    fails 2 "it has another image called docker.io/other/app:v2" evil.tar oci:lay
    fails 2 "it has another image called other/app:v2" squash -a evil.tar oci:lay
    [ "$(tags lay)" = "$before" ]
    ok -q evil.tar oci:lay:stable
    [ "$(tags lay | grep -c -v -xF "$before")" -eq 1 ]
    ok -q evil.tar oci:lay:mine
    [ "$(tags lay | wc -l)" -eq 3 ]
    same oci:lay:other/app:v2 "oci:$IMAGES/divergent"
}

@test "the same image may be added again without a name, and another image without a name may not" {
    evil some/where:stable
    ok -q evil.tar oci:lay
    ok -q evil.tar oci:lay
    [ "$(tags lay | wc -l)" -eq 1 ]
    ok -q "oci:$IMAGES/divergent" oci:lay:x
    cp -r "$IMAGES/layout" a
    gojq '.manifests[0] |= del(.annotations)' "$IMAGES/layout/index.json" >a/index.json
    cp -r "$IMAGES/divergent" b
    gojq '.manifests[0] |= del(.annotations)' "$IMAGES/divergent/index.json" >b/index.json
    ok -q oci:a oci:nameless
    ok -q oci:a oci:nameless
    fails 2 "it has another image without a name" -q oci:b oci:nameless
    same oci:nameless oci:a
}

@test "names from an image that are not in the grammar of names are refused, as tags and for engines" {
    local name
    for name in "../../x" "a b" "-x" "a/../b" 'a$(id)' "x;y" "é"; do
        evil "$name"
        fails 5 "is not one for an OCI layout" oci:evil oci:out
        fails 5 "is not one for an OCI layout" squash -a evil.tar oci-archive:out.tar
        fails 2 "is not a tag for an OCI layout" "$IMAGES/old.tar" "oci:out:$name"
    done
    ok -q oci:evil oci:good:mine
    for name in "UPPER:v1" "../x:v1" "a b:v1" "x:v 1" "x:-v"; do
        evil "$name"
        fails 5 "is not one for engines" evil.tar docker-archive:out.tar
        fails 5 "is not one for engines" squash -a evil.tar docker-archive:out.tar
    done
    ok -q evil.tar docker-archive:good.tar:mine:v1
    [ ! -e out ] && [ ! -e out.tar ]
}

@test "--all-images replaces no other image of the daemon" {
    python3 "$FLATTEN_LIB/servers/fake_daemon.py" "$PWD/d" >daemon.out 2>&1 </dev/null 3>&- &
    DAEMON_PID=$!
    mkdir -p d/images
    wait_until test -S d/docker.sock
    export DOCKER_HOST=unix://$PWD/d/docker.sock
    evil prod:v1
    echo "sha256:$(printf 1%.0s {1..64})" >d/images/prod:v1-flat
    fails 2 "the daemon has another image prod:v1-flat" squash -a evil.tar docker-daemon:
    [ ! -e d/loaded ]
    rm d/images/prod:v1-flat
    ok squash -q -a evil.tar docker-daemon:
    ok squash -q -a evil.tar docker-daemon:
    echo "sha256:$(printf 1%.0s {1..64})" >d/images/prod:v1-flat
    ok -q evil.tar docker-daemon:prod:v1-flat
}

# ---- decompression bombs ----

@test "a bomb stops by its ratio: in layers together, in a sparse file, in a compressed archive" {
    local kind
    for kind in layers sparse; do
        python3 "$FLATTEN_LIB/bomb.py" bomb.tar $kind
        fails 7 "--max-ratio=N accepts N times as much" bomb.tar oci:out
    done
    fails 7 "--max-ratio=N accepts N times as much" verify bomb.tar bomb.tar
    fails 7 "--max-ratio=N accepts N times as much" analyze bomb.tar
    ok -n --max-ratio=10000000 bomb.tar
    head -c 1500M /dev/zero | zstd -q >bomb.tar.zst
    fails 7 "--max-ratio=N accepts N times as much" bomb.tar.zst oci:out
    [ ! -e out ]
}

# every_command STATUS TEXT: what reads or writes the image bomb.tar fails so, and leaves nothing.
every_command() {
    local words
    for words in "squash bomb.tar oci:out" "analyze bomb.tar" "verify bomb.tar bomb.tar" "unpack bomb.tar out" \
        "carve bomb.tar oci:out"; do
        read -ra words <<<"$words"
        fails "$1" "$2" "${words[@]}"
        [ ! -e out ]
    done
}

@test "a sparse file has the data that its map states, whatever the format" {
    local form map stated
    for form in old 0.0 0.1 1.0 realsize size schily; do
        for map in whole pieces more; do
            case $form-$map in
                [rs]*-[pm]*) continue ;;
                *-whole) stated=17592186044416 ;;
                *-pieces) stated=17592186044400 ;;
                *-more) stated=503316480 ;;
            esac
            python3 "$FLATTEN_LIB/sparse_bomb.py" bomb.tar $form $map
            fails 5 "layer 1: sparse: its header states $stated bytes of data, but the archive has" unpack bomb.tar out
        done
        every_command 5 "bytes of data, but the archive has"
    done
    for form in old 0.0 0.1 1.0; do
        python3 "$FLATTEN_LIB/sparse_bomb.py" bomb.tar $form hole
        fails 7 "a sparse file of more than 64 GiB" unpack bomb.tar out
        python3 "$FLATTEN_LIB/sparse_bomb.py" fits.tar $form fits
        ok unpack -q fits.tar out
        [ "$(stat -c %s out/sparse)" -eq 1048576 ]
        [ "$(tr -d '\0' <out/sparse | wc -c)" -eq 15360 ]
        [ "$(cat out/before out/behind)" = abcdata ]
        rm -r out
    done
}

teardown() { [ -z "${DAEMON_PID-}" ] || kill "$DAEMON_PID" 2>/dev/null || true; }

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

layer_of() { echo "blobs/sha256/$(jq -r '.layers[0].digest[7:]' "$(manifest_of "$1")")"; }

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

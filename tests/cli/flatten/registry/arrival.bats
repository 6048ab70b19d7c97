#!/usr/bin/env bats
# flatten reads layers while others, and their own ends, are still arriving from a registry that holds them back.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load ../lib/flatten
load ../lib/mock
load ../lib/registry

setup_file() {
    local compression
    mock_file_setup openssl || return
    for compression in gzip none; do
        PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$FLATTEN_LIB/../../../oracle python3 \
            "$FLATTEN_LIB/arriving_image.py" "$BATS_FILE_TMPDIR/$compression/layout" $compression || return
    done
    few_cas
}

setup() {
    MOCK=$BATS_TEST_TMPDIR/mock
    mkdir "$BATS_TEST_TMPDIR/work" "$BATS_TEST_TMPDIR/tmp" "$MOCK"
    cd "$BATS_TEST_TMPDIR/work" || return
    ALL_IMAGES=$IMAGES
    IMAGES=$BATS_FILE_TMPDIR/gzip
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
}

teardown() {
    touch "$MOCK/go"
    [ -z "${FLATTEN_PID-}" ] || kill -9 "$FLATTEN_PID" 2>/dev/null || true
    [ -z "${MOCK_PID-}" ] || kill "$MOCK_PID" 2>/dev/null || true
}

# layer N: prints the digest of layer N, from 1.
layer() { gojq -r ".layers[$1 - 1].digest" "$(manifest_of "$IMAGES/layout")"; }

# several_platforms: the image is an index of images that share layers. The file shared has the digest of one of them.
several_platforms() {
    IMAGES=$PWD/image
    mkdir image
    cp -r "$ALL_IMAGES/platforms" image/layout
    grep -l '"layers"' image/layout/blobs/sha256/* | xargs gojq -r '.layers[].digest' | sort | uniq -d | head -n 1 >shared
    [ -s shared ]
}

# hold N MODE...: the mock sends half of layer N.
hold() {
    layer "$1" >"$MOCK/held"
    mock held "${@:2}"
}

# begin WORD...: starts flatten. begin_reading WORD...: waits until it has read the first entry of the newest layer.
begin() {
    "$FLATTEN" "$@" >out.log 2>log 3>&- &
    FLATTEN_PID=$!
}

reads() { grep -q "layer 3: .*opaque marker in the root" log; }

begin_reading() {
    begin "$@"
    wait_until reads
}

# release MODE...: the mock sends the rest, in that mode.
release() {
    mock "$@"
    touch "$MOCK/go"
}

# ends STATUS TEXT: flatten ends with STATUS and TEXT, and leaves no files behind.
ends() {
    local status=0
    wait "$FLATTEN_PID" || status=$?
    FLATTEN_PID=
    cat log
    [ "$status" -eq "$1" ] && grep -qF -- "$2" log && [ ! -e out ] && [ -z "$(ls -A "$TMPDIR")" ]
}

ends_well() {
    local status=0
    wait "$FLATTEN_PID" || status=$?
    FLATTEN_PID=
    cat log
    [ "$status" -eq 0 ] && [ -z "$(ls -A "$TMPDIR")" ]
}

reader() { pgrep -P "$FLATTEN_PID"; }

has_no_reader() { ! kill -0 "$1" 2>/dev/null; }

# ---- while layers arrive ----

@test "the newest layer is read while the oldest one is still arriving" {
    hold 1
    begin_reading "$SOURCE" oci:out
    release held
    ends_well
    same oci:out "$IMAGES/layout"
}

@test "a layer is read while its end is still arriving" {
    hold 3
    begin_reading "$SOURCE" oci:out
    release held
    ends_well
    same oci:out "$IMAGES/layout"
}

@test "the result does not depend on when the layers arrive" {
    local way
    for way in --semantics=spec --into=2 --last=2 --keep-base=1; do
        "$FLATTEN" -q $way "oci:$IMAGES/layout" oci:whole >expected
        hold 2
        rm -f "$MOCK/go"
        begin -q $way "$SOURCE" oci:out
        release held
        ends_well
        diff expected out.log
        rm -r out whole
    done
    begin carve -q "$SOURCE" oci:out
    ends_well
    same oci:out "$IMAGES/layout"
}

@test "the images of several platforms arrive one after another" {
    several_platforms
    "$FLATTEN" -q "oci:$IMAGES/layout" oci:whole >expected
    cp shared "$MOCK/held"
    mock held
    begin -q "$SOURCE" oci:out
    release held
    ends_well
    diff expected out.log
    [ "$(count "/blobs/$(cat shared) ")" -eq 2 ]
}

@test "layers that are not compressed arrive while others are read, too" {
    IMAGES=$BATS_FILE_TMPDIR/none
    hold 3
    begin_reading "$SOURCE" oci:out
    release held
    ends_well
    same oci:out "$IMAGES/layout"
}

@test "nothing is pushed before all layers have come" {
    hold 1
    begin_reading "$SOURCE" "docker://$HOST/lab/image:flat"
    [ ! -e "$MOCK/tags" ]
    [ "$(count '^PUT ')" -eq 0 ]
    release held
    ends_well
    same "docker://$HOST/lab/image:flat" "$IMAGES/layout"
}

# large_newest: the newest layer is as large as several chunks of an upload.
large_newest() {
    IMAGES=$BATS_FILE_TMPDIR/large
    [ -d "$IMAGES" ] || PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$FLATTEN_LIB/../../../oracle python3 \
        "$FLATTEN_LIB/arriving_image.py" "$IMAGES/layout" none 80
}

sends_chunks() { [ "$(count '^PATCH ')" -ge "$1" ]; }

@test "the result is uploaded while the oldest layer is still arriving" {
    large_newest
    hold 1
    begin --compression=none "$SOURCE" "docker://$HOST/lab/image:flat"
    wait_until sends_chunks 1
    [ ! -e "$MOCK/tags" ]
    release held
    ends_well
    [ "$(count '^POST /v2/lab/image/blobs/uploads/')" -eq 3 ] # the probe, the layer, the configuration
    [ "$(count '^PATCH .* 0-')" -eq 1 ]
    same "docker://$HOST/lab/image:flat" "$IMAGES/layout"
}

@test "an upload in advance that goes wrong is mended, or begun again" {
    local how
    large_newest
    for how in cut-patch forgetful partial stuck boastful amnesia no-patch small busy-patch; do
        echo "$how"
        rm -rf "${MOCK:?}"/*
        layer 1 >"$MOCK/held"
        mock held $how
        begin -q --compression=none "$SOURCE" "docker://$HOST/lab/image:flat"
        wait_until sends_chunks 1
        release held $how
        ends_well
        same "docker://$HOST/lab/image:flat" "$IMAGES/layout"
        kill "$MOCK_PID"
        wait "$MOCK_PID" || true
        MOCK_PID=
    done
}

@test "an upload in advance is cancelled if flatten fails, and if the registry has the blob" {
    large_newest
    hold 1
    begin --compression=none --retries=0 "$SOURCE" "docker://$HOST/lab/image:flat"
    wait_until sends_chunks 1
    release cut
    ends 3 "flatten: error: $SOURCE: layer 1: "
    [ "$(count '^DELETE ')" -eq 2 ] # the probe, the layer
    [ "$(count '^PUT ')" -eq 0 ]
    rm "$MOCK/go" "$MOCK/log"
    mock
    begin --compression=none "$SOURCE" "docker://$HOST/lab/image:flat"
    ends_well
    begin --compression=none "$SOURCE" "docker://$HOST/lab/image:again"
    ends_well
    [ "$(count "^PUT /v2/upload/")" -eq 2 ]
    [ "$(count "^DELETE /v2/upload/")" -le 3 ] # the probes, and the layer once at most
}

@test "analyze and verify read layers while they arrive, and carve does" {
    hold 1
    rm -f "$MOCK/go"
    begin analyze "$SOURCE"
    release held
    ends_well
    "$FLATTEN" analyze "oci:$IMAGES/layout" >expected
    tail -n +2 expected | diff - <(tail -n +2 out.log)
    begin verify "$SOURCE" "oci:$IMAGES/layout"
    ends_well
}

# ---- failures in the middle ----

@test "a connection that breaks for good while another layer is read ends flatten" {
    hold 1
    begin_reading --retries=0 "$SOURCE" oci:out
    release held cut
    ends 3 "flatten: error: $SOURCE: layer 1: $(layer 1): "
}

@test "a connection that breaks while its layer is read is resumed" {
    hold 3
    begin_reading "$SOURCE" oci:out
    release cut
    ends_well
    same oci:out "$IMAGES/layout"
    [ "$(count ' bytes=[1-9][0-9]*-$')" -eq 1 ]
}

@test "a wrong digest at the end of a layer that was read ends flatten" {
    hold 3
    begin_reading "$SOURCE" oci:out
    release flip-last
    ends 6 "flatten: error: $SOURCE: layer 3: $(layer 3): the registry's content is sha256:"
}

@test "a wrong digest of a layer that is not read to its end is an error" {
    local compression
    for compression in gzip none; do
        IMAGES=$BATS_FILE_TMPDIR/$compression
        mkdir "$MOCK/$compression"
        MOCK=$MOCK/$compression
        mock flip-last sound-config
        fails 6 "$SOURCE: layer " analyze "$SOURCE"
        [[ $stderr == *"the registry's content is sha256:"* ]]
        fails 6 "verify: A: $SOURCE: layer " verify "$SOURCE" "oci:$IMAGES/layout"
        fails 6 "verify: B: $SOURCE: layer " verify "oci:$IMAGES/layout" "$SOURCE"
        fails 6 "$SOURCE: layer " -q -n "$SOURCE"
        fails 6 "$SOURCE: layer " carve -q "$SOURCE" oci:out
        fails 6 "--like=$SOURCE: $SOURCE: layer " carve -q --like="$SOURCE" "oci:$IMAGES/layout" oci:out
        kill "$MOCK_PID"
        MOCK_PID=
        MOCK=$BATS_TEST_TMPDIR/mock
    done
}

@test "content that is damaged from its first byte is called wrong, not malformed" {
    mock flip sound-config
    for way in "" --semantics=spec --last=2; do
        fails 6 "$SOURCE: layer " -q $way "$SOURCE" oci:out
        [[ $stderr == *"the registry's content is sha256:"* ]]
    done
}

@test "another content after a broken connection does not replace what was read" {
    mock break norange garble sound-config
    fails 6 "$SOURCE: layer " -q "$SOURCE" oci:out
    [[ $stderr == *"the registry's content is sha256:"* ]]
}

@test "large layers that break are resumed, and fetched again without Range" {
    mock break
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    mock break norange
    ok -q "$SOURCE" oci:again
    same oci:again "$IMAGES/layout"
}

@test "a temporary directory that is full ends flatten, and the message names TMPDIR" {
    hold 1
    begin_reading "$SOURCE" oci:out
    prlimit --pid "$FLATTEN_PID" --fsize=1000000
    release held
    ends 3 "temporary file in ${TMPDIR:-/var/tmp} (set TMPDIR)"
}

@test "a blob that is gone is the error, whatever was read before" {
    local gone
    gone=$(layer 1)
    cp -r "$IMAGES" image
    rm "image/layout/blobs/sha256/${gone#sha256:}"
    IMAGES=$PWD/image mock
    fails 2 "$SOURCE: layer 1: $gone: the registry says: no $gone" -q "$SOURCE" oci:out
}

@test "a layer of one of several platforms that is gone is the error" {
    several_platforms
    rm "image/layout/blobs/sha256/$(cut -c 8- shared)"
    mock
    fails 2 ": $(cat shared): the registry says: no $(cat shared)" -q "$SOURCE" oci:out
}

@test "an image is not pushed after a failed transfer" {
    hold 1
    begin_reading --retries=0 "$SOURCE" "docker://$HOST/lab/image:flat"
    release cut
    ends 3 "layer 1: $(layer 1): "
    [ ! -e "$MOCK/tags" ]
}

# ---- the end of a process ----

@test "a signal ends flatten while it waits for a layer" {
    local reader
    hold 1
    begin_reading "$SOURCE" oci:out
    reader=$(reader)
    kill -TERM "$FLATTEN_PID"
    ends 143 "stopped by signal 15; nothing was published"
    wait_until has_no_reader "$reader"
}

@test "the reader ends with a killed keeper while it waits" {
    local reader
    hold 1
    begin_reading "$SOURCE" oci:out
    reader=$(reader)
    kill -9 "$FLATTEN_PID"
    ends 137 ""
    wait_until has_no_reader "$reader"
}

@test "the keeper ends with a killed reader while blobs arrive" {
    hold 1
    begin_reading "$SOURCE" oci:out
    kill -9 "$(reader)"
    ends 3 "died of signal 9 (Killed); nothing was published"
}

#!/usr/bin/env bats
# flatten when it fails or is killed: exit status and messages, and no partial output is left.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

@test "the exit status tells the kind of error, and the message its place" {
    fails 3 "nope.tar" docker-archive:nope.tar oci:x
    fails 3 "not an OCI image layout" "oci:." oci:x
    fails 5 "layer 2: dir/.wh.: a whiteout that names nothing" "oci:$IMAGES/bad-whiteout" oci:x
    fails 5 "layer 1: ../escape: " "oci:$IMAGES/bad-dotdot" oci:x
    fails 5 "layer 1: b: " "oci:$IMAGES/bad-dangling" oci:x
    fails 8 "layer 2: dev/null: a 0:0 device" "oci:$IMAGES/bad-device" oci:x
    fails 6 "layer 2" "oci:$IMAGES/bad-digest" oci:x
    fails 6 "layer 2" "oci:$IMAGES/bad-size" oci:x
    fails 7 "1000 layers" "oci:$IMAGES/deep" oci:x
    [ -z "$(ls -A)" ]
}

# broken_tar WHAT: a layer of three files; libarchive refuses it.
broken_tar() {
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$BATS_TEST_DIRNAME/../../oracle:$FLATTEN_LIB python3 - "$1" <<'END'
import sys
import images
from quick_images import header, layer, padded
from tarball import f, tar_bytes
good = tar_bytes([f("a", "1"), f("etc/b", "2" * 3000), f("c", "3")])
if sys.argv[1] == "checksum":
    at = good.rindex(b"c" + bytes(99)) + 100  # the mode of c
    bad = good[:at] + b"7" + good[at + 1:]
elif sys.argv[1] == "first":
    bad = b"this is a text, and no archive " * 100
elif sys.argv[1] == "header":  # an extended header that is no list of records
    bad = layer([header(b"PaxHeaders/w", b"x", 8), padded(b"records\n"), header(b"w")])
elif sys.argv[1] == "cut":  # in the content of etc/b
    bad = good[:good.index(b"2" * 512) + 1024]
images.write_oci("bad", [tar_bytes([f("base", "1")]), bad])
END
}

@test "an archive that libarchive refuses: the error names the layer and the entry" {
    local what expected
    while IFS='|' read -r what expected; do
        broken_tar "$what"
        for way in "${WAYS[@]}"; do
            fails 5 "$expected" -q "$way" oci:bad oci:x
        done
        fails 5 "oci:bad: $expected" analyze oci:bad
        fails 5 "verify: A: $expected" verify oci:bad oci:bad
        rm -r bad
    done <<'END'
first|layer 2: bad tar archive: 
header|layer 2: w: bad tar archive: 
checksum|layer 2: the entry after etc/b: bad tar archive: 
END
    broken_tar cut
    fails 5 "layer 2: etc/b: bad tar archive: " -q oci:bad oci:x
    fails 5 "verify: A: layer 2: etc/b: bad tar archive: " verify oci:bad oci:bad
    # Without its content, the end is noticed when the next header is read.
    fails 5 "layer 2: the entry after etc/b: bad tar archive: " -q --semantics=spec oci:bad oci:x
    fails 5 "oci:bad: layer 2: the entry after etc/b: bad tar archive: " analyze oci:bad
    head -c 20000 "$IMAGES/old.tar" >cut.tar
    fails 5 "cut.tar: the archive is damaged behind its member " cut.tar oci:x
}

@test "a failure leaves no files behind and existing files unchanged" {
    ok -q "$IMAGES/old.tar" oci:layout:v1
    ok -q "$IMAGES/old.tar" out.tar
    before=$(find . -type f -exec sha256sum {} + | sort -k2)
    for bad in bad-digest bad-device bad-dangling; do
        run "$FLATTEN" -q "oci:$IMAGES/$bad" oci:layout:v1
        run "$FLATTEN" -q "oci:$IMAGES/$bad" out.tar
        run "$FLATTEN" -q "oci:$IMAGES/$bad" oci:other
        run "$FLATTEN" -q "oci:$IMAGES/$bad" other.tar
    done
    [ "$(find . -type f -exec sha256sum {} + | sort -k2)" = "$before" ]
    [ "$(ls -A)" = "layout
out.tar" ]
}

# No part of etc/gone (x, 5000 times) is visible: a newer layer deletes it.
@test "a layer whose hidden bytes were changed is refused, and no destination is written" {
    cp "$IMAGES/old.tar" bad.tar
    at=$(grep -abo -m 1 xxxxx bad.tar | head -n 1)
    printf y | dd of=bad.tar bs=1 seek=$((${at%%:*} + 3000)) conv=notrunc status=none
    for way in "${WAYS[@]}" --dry-run; do
        fails 6 "layer 1, uncompressed: content is sha256:" -q "$way" bad.tar oci:x
        fails 6 "layer 1, uncompressed: content is sha256:" -q "$way" bad.tar x.tar
    done
    [ "$(ls -A)" = bad.tar ]
}

@test "a wrong blob of the right size in a layout is replaced by the new blob" {
    ok -q "$IMAGES/old.tar" oci:out:a
    cp -r out good
    for blob in out/blobs/sha256/*; do
        printf y | dd of="$blob" bs=1 seek=$(($(stat -c %s "$blob") / 2)) conv=notrunc status=none
    done
    ok -q "$IMAGES/old.tar" oci:out:a
    diff -r good out
}

# The change is in the header of an archive entry, which also makes it unreadable: the digest is the reason.
@test "a layer with changed headers is refused because of its digest" {
    for _ in 1 2 3 4 5 6 7 8; do
        fails 6 "layer 2: content is sha256:" -q "oci:$IMAGES/bad-header" oci:x
    done
    fails 6 "--like: layer 2: content is sha256:" carve "--like=oci:$IMAGES/bad-header" "oci:$IMAGES/layout" oci:x
    [ -z "$(ls -A)" ]
}

# The time in a gzip header is changed; the uncompressed content is the same.
@test "compressed layers with the right content but another blob digest are refused" {
    ok squash -q --into=3 --compression=gzip "$IMAGES/old.tar" oci:bad
    mapfile -t layers < <(gojq -r '.layers[].digest' "$(manifest_of bad)")
    [ "${#layers[@]}" -gt 1 ]
    for number in 1 2; do # the error names the newer of the two
        blob=bad/blobs/sha256/${layers[number - 1]#sha256:}
        printf abcd | dd of="$blob" bs=1 seek=4 conv=notrunc status=none
        for way in "${WAYS[@]}" --dry-run; do
            fails 6 "layer $number: content is sha256:" -q "$way" oci:bad oci:x
        done
        fails 6 "layer $number: content is sha256:" -q oci:bad x.tar
    done
    [ "$(ls -A)" = bad ]
}

@test "control characters of a name are not printed to the terminal" {
    fails 5 '\x1b[2J\x0aforged' "oci:$IMAGES/bad-escape" oci:x
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "a write that fails for lack of space is an error" {
    # A limit on file sizes replaces a full file system in this test.
    run --separate-stderr bash -c \
        'trap "" XFSZ; ulimit -f 20000; exec "$FLATTEN" -q "$IMAGES/big.tar" docker-archive:out.tar'
    [ "$status" -eq 3 ]
    [[ $stderr == "flatten: error: "*"too large"* ]]
    run --separate-stderr bash -c \
        'trap "" XFSZ; ulimit -f 20000; exec "$FLATTEN" -q "$IMAGES/big.tar" oci:out'
    [ "$status" -eq 3 ]
    [ -z "$(ls -A)" ]
}

@test "an unwritable standard output is an error" {
    run bash -c '"$FLATTEN" -q "$IMAGES/old.tar" oci:out >/dev/full'
    [ "$status" -eq 3 ]
    [[ $output == *"standard output"* ]]
    run bash -c '"$FLATTEN" --help >/dev/full'
    [ "$status" -eq 3 ]
}

# Kills at random times: the destination is absent or complete, and at most one dot file is beside it.
killed() {
    local destination=$1 name=$2 seen=0
    for i in $(seq 1 12); do
        "$FLATTEN" -q "$IMAGES/big.tar" "$destination" >/dev/null &
        local pid=$!
        sleep "$(awk -v r=$RANDOM -v i="$i" 'BEGIN { print (i / 12) * 0.9 * (0.5 + r / 32768) }')"
        kill -9 $pid 2>/dev/null || true
        wait $pid 2>/dev/null || true
        if [ -e "$name" ]; then
            same "$destination" "$IMAGES/big.tar"
            rm -r "$name"
            seen=$((seen + 1))
        fi
        [ -z "$(ls)" ]
        [ "$(find . -mindepth 1 -maxdepth 1 | wc -l)" -le 1 ]
        rm -rf .[!.]*
    done
    echo "$seen of 12 were done"
}

@test "a kill during the writing of an archive leaves no partial archive" {
    killed docker-archive:out.tar out.tar
}

@test "a kill during the writing of a layout leaves no partial layout" {
    killed oci:out out
}

@test "a kill during an addition to a layout keeps its other images" {
    ok -q "$IMAGES/old.tar" oci:out:a
    for i in $(seq 1 6); do
        "$FLATTEN" -q "$IMAGES/big.tar" oci:out:b >/dev/null &
        pid=$!
        sleep "$(awk -v r=$RANDOM -v i="$i" 'BEGIN { print (i / 6) * 0.9 * (0.5 + r / 32768) }')"
        kill -9 $pid 2>/dev/null || true
        wait $pid 2>/dev/null || true
        same oci:out:a "$IMAGES/old.tar"
        [ "$(find out -type f -name '[!.]*' ! -path '*/blobs/*' | sort)" = "out/index.json
out/oci-layout" ]
    done
    ok -q "$IMAGES/big.tar" oci:out:b
    same oci:out:b "$IMAGES/big.tar"
}

@test "the documents of an index are accepted up to the limit, and refused above it" {
    python3 "$FLATTEN_LIB/large_documents.py" .
    ok -q oci:exact oci:out
    fails 7 "more than 25165824 bytes together: choose one with --platform" -q oci:beyond oci:x
    ok -q oci:roomy oci:out2
    fails 7 "take too much memory" -q oci:crowded oci:x
    [ ! -e x ]
}

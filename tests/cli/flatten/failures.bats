#!/usr/bin/env bats
# flatten when it fails or is killed: exit status and messages, and that nothing half made is left.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

@test "the exit status tells what went wrong, the message where" {
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

@test "a failure leaves nothing behind, and what was there untouched" {
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

# Nothing of etc/gone (x, 5000 times) shows: a newer layer deletes it.
@test "a layer whose dead bytes were changed is refused, and nothing is published" {
    cp "$IMAGES/old.tar" bad.tar
    at=$(grep -abo -m 1 xxxxx bad.tar | head -n 1)
    printf y | dd of=bad.tar bs=1 seek=$((${at%%:*} + 3000)) conv=notrunc status=none
    for way in --semantics=overlay --semantics=spec --into=2 --last=2 --dry-run; do
        fails 6 "layer 1, uncompressed: content is sha256:" -q "$way" bad.tar oci:x
        fails 6 "layer 1, uncompressed: content is sha256:" -q "$way" bad.tar x.tar
    done
    [ "$(ls -A)" = bad.tar ]
}

@test "a wrong blob of the right size in a layout does not stay in the place of what was made" {
    ok -q "$IMAGES/old.tar" oci:out:a
    cp -r out good
    for blob in out/blobs/sha256/*; do
        printf y | dd of="$blob" bs=1 seek=$(($(stat -c %s "$blob") / 2)) conv=notrunc status=none
    done
    ok -q "$IMAGES/old.tar" oci:out:a
    diff -r good out
}

# In an archive entry's header, so that it cannot be read either: the digest is the reason.
@test "a layer whose headers were changed is not what the image says" {
    for _ in 1 2 3 4 5 6 7 8; do
        fails 6 "layer 2: content is sha256:" -q "oci:$IMAGES/bad-header" oci:x
    done
    [ -z "$(ls -A)" ]
}

# The time in a gzip header: what the layer unpacks to stays the same.
@test "compressed layers that unpack to the right thing, but are not the blobs that they should be" {
    ok -q --into=3 --compression=gzip "$IMAGES/old.tar" oci:bad
    mapfile -t layers < <(jq -r '.layers[].digest' "$(manifest_of bad)")
    [ "${#layers[@]}" -gt 1 ]
    for number in 1 2; do # the newer of two is named
        blob=bad/blobs/sha256/${layers[number - 1]#sha256:}
        printf abcd | dd of="$blob" bs=1 seek=4 conv=notrunc status=none
        for way in --semantics=overlay --semantics=spec --into=2 --last=2 --dry-run; do
            fails 6 "layer $number: content is sha256:" -q "$way" oci:bad oci:x
        done
        fails 6 "layer $number: content is sha256:" -q oci:bad x.tar
    done
    [ "$(ls -A)" = bad ]
}

@test "a hostile name cannot steer the terminal" {
    fails 5 '\x1b[2J\x0aforged' "oci:$IMAGES/bad-escape" oci:x
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "a file system that is full" {
    # A limit on file sizes is one that a test can have.
    run --separate-stderr bash -c \
        'trap "" XFSZ; ulimit -f 20000; exec "$FLATTEN" -q "$IMAGES/big.tar" docker-archive:out.tar'
    [ "$status" -eq 3 ]
    [[ $stderr == "flatten: error: "*"too large"* ]]
    run --separate-stderr bash -c \
        'trap "" XFSZ; ulimit -f 20000; exec "$FLATTEN" -q "$IMAGES/big.tar" oci:out'
    [ "$status" -eq 3 ]
    [ -z "$(ls -A)" ]
}

@test "standard output that cannot be written to" {
    run bash -c '"$FLATTEN" -q "$IMAGES/old.tar" oci:out >/dev/full'
    [ "$status" -eq 3 ]
    [[ $output == *"standard output"* ]]
    run bash -c '"$FLATTEN" --help >/dev/full'
    [ "$status" -eq 3 ]
}

# Killed at any moment: the destination is absent or whole, beside it at most a dot file.
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

@test "killed while it writes an archive" {
    killed docker-archive:out.tar out.tar
}

@test "killed while it writes a layout" {
    killed oci:out out
}

@test "killed while it adds to a layout" {
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

@test "the documents of an index's images: as much as is allowed, and a byte more" {
    python3 "$FLATTEN_LIB/large_documents.py" .
    ok -q oci:exact oci:out
    fails 7 "more than 25165824 bytes together: choose one with --platform" -q oci:beyond oci:x
    ok -q oci:roomy oci:out2
    fails 7 "take too much memory" -q oci:crowded oci:x
    [ ! -e x ]
}

#!/usr/bin/env bats
# Messages of flatten for incorrect use: they say what is wrong, and what to write instead.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

setup_file() {
    export DOCKER_HOST=unix:///nonexistent/docker.sock
    make_images gojq
}

@test "an unknown command is an error with a suggestion" {
    fails 2 "unknown command 'squahs'; did you mean 'squash'?" squahs a b
    fails 2 "unknown command 'verfy'; did you mean 'verify'?" verfy -q a b c
    fails 2 "squash takes SOURCE [DESTINATION] and no more" "$IMAGES/old.tar" a b
    # An image may have a name similar to a command.
    fails 3 "docker-daemon:analyzer (" analyzer oci:x
}

@test "a missing file or a file of another type is an error" {
    fails 2 "gone.tar: no such file" gone.tar oci:x
    fails 2 "gone.tar.zst: no such file" analyze gone.tar.zst
    fails 2 "./gone: no such file" ./gone oci:x
    fails 2 "as in oci:DIR:TAG or docker-archive:FILE" "$IMAGES/old.tar" oci:
    fails 5 "but what docker save writes: docker-archive:$IMAGES/old.tar" "oci-archive:$IMAGES/old.tar" oci:x
    ok -q "$IMAGES/old.tar" oci-archive:layout.tar
    fails 5 "but an OCI image layout: oci-archive:layout.tar" docker-archive:layout.tar oci:x
    fails 5 "but an OCI image layout: oci-archive:layout.tar" -a docker-archive:layout.tar oci:x
    fails 3 "rules.json: No such file" analyze --config=rules.json "$IMAGES/old.tar"
    [[ $stderr != *rules.json*rules.json* ]]
}

@test "an unknown image name or platform is an error that lists the existing ones" {
    fails 2 "no image named v2 in the layout; it has v1" "oci:$IMAGES/layout:v2" oci:x
    ok -q "oci:$IMAGES/layout" oci:two:a
    ok -q "oci:$IMAGES/stacked" oci:two:b
    fails 2 "the layout holds 2 images: name one, as in oci:DIR:TAG; it has a, b" oci:two oci:x
    fails 2 "does not say which platforms its images are for: name one, as in oci:DIR:TAG; it has a, b" \
        --platform=linux/amd64 oci:two oci:x
    fails 2 "for linux/s390x in the layout; it has linux/amd64, linux/arm64, linux/arm/v7" \
        --platform=linux/s390x "oci:$IMAGES/platforms" oci:x
    # The list is also printed for an archive with one image.
    fails 2 "the image is not for linux/arm64" --platform=linux/arm64 "$IMAGES/old.tar" oci:x
    fails 2 "the image is not for linux/arm64" -a --platform=linux/arm64 "$IMAGES/several.tar" oci:x
    ok -q --platform=linux/amd64 "$IMAGES/old.tar" oci:x
}

@test "a bare word is an image of the daemon; the error lists other meanings" {
    fails 3 "docker-daemon:alpine (an image of a registry is docker://alpine): there is no Docker daemon" alpine
    fails 3 "docker-daemon:out (a layout is oci:out, an archive docker-archive:out): " "$IMAGES/old.tar" out
    fails 3 "docker-daemon:alpine: there is no Docker daemon" docker-daemon:alpine
    fails 3 "--keep-base=alpine: docker-daemon:alpine (" -q --keep-base=alpine "$IMAGES/old.tar" oci:x
    fails 2 "--keep-base=-1 names neither" -q --keep-base=-1 "$IMAGES/old.tar" oci:x
}

@test "invalid destinations are refused" {
    touch file
    fails 2 "file: exists and is not a directory" "$IMAGES/old.tar" oci:file
    fails 3 "gone/x.tar: the directory that it is to be in: No such file" "$IMAGES/old.tar" gone/x.tar
    fails 3 "gone/x: the directory that it is to be in: No such file" "$IMAGES/old.tar" oci:gone/x
    for name in "Bad Name" Upper:1 a:b:c "a@sha256:$(printf '0%.0s' {1..64})" a//b:1; do
        fails 2 "'$name' is not a NAME:TAG that engines load" "$IMAGES/old.tar" "docker-archive:x.tar:$name"
    done
    for name in a a:1 reg.example:5000/a/b__c:V1 localhost/a; do
        ok -q "$IMAGES/old.tar" "docker-archive:x.tar:$name"
    done
}

@test "a full disk is an error that names the destination or the directory for temporary files" {
    run --separate-stderr bash -c 'trap "" XFSZ; ulimit -f 20000; exec "$FLATTEN" -q "$IMAGES/big.tar" x.tar'
    refused 3 "x.tar: layer 2: big/"
    run --separate-stderr bash -c 'trap "" XFSZ; ulimit -f 20000; exec "$FLATTEN" -q "$IMAGES/big.tar" oci:x'
    refused 3 "x: layer 2: big/"
}

@test "an error names a layout that this user may not write to" {
    [ "$(id -u)" -eq 0 ] || skip "needs root, to be another user"
    ok -q "$IMAGES/old.tar" oci:layout:v1
    cp "$FLATTEN" program
    chmod 755 . .. program
    run --separate-stderr setpriv --reuid=1234 --regid=1234 --clear-groups ./program -q oci:layout:v1 oci:layout:v2
    show
    refused 3 "layout: cannot create a temporary file"
}

@test "an invalid time is an error that names the option or the variable" {
    fails 2 "--created='noon' is not a time" --created=noon "$IMAGES/old.tar" oci:x
    SOURCE_DATE_EPOCH=noon fails 2 "SOURCE_DATE_EPOCH='noon' is not a time" "$IMAGES/old.tar" oci:x
}

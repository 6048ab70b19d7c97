#!/usr/bin/env bats
# flatten with a registry that leads to addresses of this host or its link: by its token realm, redirects,
# the Location of an upload, and names. A listener is there, and gets no connection.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load ../lib/flatten
load ../lib/mock
load ../lib/registry

setup_file() {
    mock_file_setup openssl ip nsenter && few_cas
}

teardown() {
    local pid
    for pid in ${MOCK_PID-} ${LISTENER_PID-} ${PROXY_PID-} ${SPACE_PID-}; do
        kill "$pid" 2>/dev/null || true
    done
}

# True if the listener listens, or has ended.
listener_settled() { [ -e listener/port ] || ! kill -0 "$LISTENER_PID"; }

# listen ADDRESS: starts a listener, and sets PORT.
listen() {
    mkdir listener
    touch listener/log
    "${MOCK_WITHIN[@]}" python3 "$FLATTEN_LIB/servers/listener.py" listener "$1" \
        >listener/out 2>&1 </dev/null 3>&- &
    LISTENER_PID=$!
    wait_until listener_settled
    PORT=$(cat listener/port)
}

# target URL: leads there. The listener must have got nothing when the next `unseen` is called.
target() { echo "$1" >"$MOCK/target"; }
unseen() { [ ! -s listener/log ] || { cat listener/log; return 1; }; }

# True if the network namespace is there, or could not be made.
space_settled() { [ -e space/ready ] || ! kill -0 "$SPACE_PID"; }

# space: a network namespace for the registry, the listener and flatten, so that nothing outside can be
# reached. 203.0.113.7 is neither loopback nor link-local there; the name inside.example is 127.0.0.1, and
# hop.example is both.
space() {
    mkdir space
    printf '127.0.0.1 localhost inside.example hop.example\n203.0.113.7 outside.example hop.example\n' \
        >space/hosts
    unshare --net --mount --propagation private sh -ec '
        ip link set lo up
        ip address add 203.0.113.7/32 dev lo
        ip address add 169.254.169.254/32 dev lo
        mount --bind space/hosts /etc/hosts
        : >space/ready
        exec sleep 600' >space/out 2>&1 </dev/null 3>&- &
    SPACE_PID=$!
    wait_until space_settled
    [ -e space/ready ] || { cat space/out; return 1; }
    MOCK_WITHIN=(nsenter --net --mount -t "$SPACE_PID" --wd="$PWD" --)
    printf '#!/bin/sh\nexec nsenter --net --mount -t %s --wd="$PWD" -- %s "$@"\n' \
        "$SPACE_PID" "$FLATTEN" >space/flatten
    chmod +x space/flatten
    FLATTEN=$PWD/space/flatten
}

# elsewhere: the same, with the registry at 203.0.113.7.
elsewhere() {
    space
    export MOCK_ADDRESS=203.0.113.7
}

# ---- a registry on this host ----

@test "a token realm that parsers read differently gets no password" {
    local realm
    listen 127.0.0.2
    mock token target-realm
    auth "$HOST" "{\"auth\":\"$(printf lab:secret | base64)\"}"
    for realm in "http://localhost\\@2130706434:$PORT/" "http://localhost\\@127.0.0.2:$PORT/" \
        "http://localhost@127.0.0.2:$PORT/" "http://127.0.0.1:1@127.0.0.2:$PORT/" \
        "http://localhost#@127.0.0.2:$PORT/" "http://localhost\\.127.0.0.2:$PORT/"; do
        target "$realm"
        flatten --retries=0 "$SOURCE" oci:out
        show
        [ "$status" -ne 0 ]
        [ ! -e out ]
        unseen
    done
    target "http://2130706434:$PORT/" # on this host, as the registry is
    flatten --retries=0 "$SOURCE" oci:out
    [ -s listener/log ]
}

@test "a registry on this host cannot lead to link-local addresses" {
    local host
    space
    mock target-blobs
    for host in 169.254.169.254 2852039166 "[fe80::1]" "[::ffff:169.254.169.254]" "[fd00:ec2::254]" \
        100.100.100.200; do
        target "http://$host/latest/meta-data"
        fails 3 "address of this host or its link" "$SOURCE" oci:out
    done
    mock token target-realm
    target "https://169.254.169.254/token"
    fails 3 "address of this host or its link" "$SOURCE" oci:out
    mock target-uploads
    target "http://169.254.169.254/v2/upload/1"
    fails 3 "address of this host or its link" "$IMAGES/old.tar" "docker://$HOST/lab/image:new"
}

# ---- a registry elsewhere ----

@test "a registry elsewhere leads neither by its realm nor by redirects nor by uploads to this host" {
    local url
    elsewhere
    listen 127.0.0.1
    for url in "http://127.0.0.1:$PORT/" "http://localhost:$PORT/" "http://2130706433:$PORT/" \
        "http://0:$PORT/" "http://inside.example:$PORT/" "http://[::ffff:127.0.0.1]:$PORT/"; do
        target "$url"
        mock target-blobs
        fails 3 "address of this host or its link" --insecure --retries=0 "$SOURCE" oci:out
        mock token target-realm
        fails 3 "address of this host or its link" --insecure --retries=0 "$SOURCE" oci:out
        mock target-uploads
        fails 3 "address of this host or its link" --insecure --retries=0 "$IMAGES/old.tar" \
            "docker://$HOST/lab/image:new"
        unseen
    done
}

@test "a registry elsewhere cannot lead to link-local addresses" {
    elsewhere
    listen 169.254.169.254
    target "http://169.254.169.254:$PORT/latest"
    mock target-blobs
    fails 3 "address of this host or its link" --insecure --retries=0 "$SOURCE" oci:out
    unseen
    mock
    ok -q --insecure "$SOURCE" oci:out
}

@test "of the addresses of a name, only those elsewhere are tried" {
    elsewhere
    mock target-blobs
    target "http://hop.example:${HOST##*:}/v2/" # the mock answers there, but not with a blob
    fails 6 "sha256:" --insecure --retries=0 "$SOURCE" oci:out
}

@test "a name of a registry that is on this host may lead there" {
    space
    mock away
    ok -q --insecure "docker://inside.example:${HOST##*:}/lab/image:v1" oci:out
    same oci:out "$IMAGES/layout"
}

@test "behind a proxy on this host, URLs that name this host are refused" {
    listen 127.0.0.1
    MOCK_TLS=$BATS_FILE_TMPDIR/ca mock target-blobs
    python3 "$FLATTEN_LIB/servers/proxy.py" "$PWD/proxy" connect >proxy.out 2>&1 </dev/null 3>&- &
    PROXY_PID=$!
    wait_until test -e proxy.port
    HTTPS_PROXY=http://127.0.0.1:$(cat proxy.port)
    export HTTPS_PROXY
    SOURCE=docker://registry.invalid:${HOST##*:}/lab/image:v1
    for host in localhost 127.0.0.1 2130706433 "[::1]" 169.254.169.254; do
        target "https://$host:$PORT/"
        fails 3 "address of this host or its link" --retries=0 "$SOURCE" oci:out
    done
    unseen
    [ "$(sort -u proxy.log)" = "CONNECT registry.invalid:${HOST##*:}" ]
    mock
    ok -q "$SOURCE" oci:out
}

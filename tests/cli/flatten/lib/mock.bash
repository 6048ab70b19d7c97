# Common functions for tests with a misbehaving registry; loaded after lib/flatten.
# shellcheck shell=bash disable=SC2034,SC2154  # status, output and stderr are set by bats' run

# mock_file_setup TOOL...
mock_file_setup() {
    export HOME=$BATS_FILE_TMPDIR/home
    export XDG_RUNTIME_DIR=$HOME/run
    unset REGISTRY_AUTH_FILE DOCKER_CONFIG XDG_CONFIG_HOME SSL_CERT_FILE SSL_CERT_DIR
    mkdir -p "$XDG_RUNTIME_DIR"
    unset HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy all_proxy ALL_PROXY
    make_images gojq "$@"
}

setup_file() { mock_file_setup openssl; }

setup() {
    MOCK=$BATS_TEST_TMPDIR/mock
    mkdir "$BATS_TEST_TMPDIR/work" "$MOCK"
    cd "$BATS_TEST_TMPDIR/work" || return
}

teardown() { [ -z "${MOCK_PID-}" ] || kill "$MOCK_PID" 2>/dev/null || true; }

MOCK_WITHIN=()

# glibc's settings for the mock: it keeps the memory that it has. By default each chunk of an upload is mapped anew, which
# is half of all page faults of a suite that uploads.
MOCK_MEMORY=(MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=2073741824)

# True if the mock listens, or has ended.
mock_settled() { [ -e "$MOCK/port" ] || ! kill -0 "$MOCK_PID"; }

# mock MODE...: starts the mock, or changes its modes. SOURCE is its image. With TLS if MOCK_TLS is a
# directory made by tls_make; at MOCK_ADDRESS if that is set, and started by the command MOCK_WITHIN.
mock() {
    echo "$*" >"$MOCK/mode"
    [ -z "${MOCK_PID-}" ] || return 0
    "${MOCK_WITHIN[@]}" env "${MOCK_MEMORY[@]}" python3 "$FLATTEN_LIB/servers/mock_registry.py" "$MOCK" "$IMAGES/layout" \
        ${MOCK_TLS:+"$MOCK_TLS"} >"$MOCK/out" 2>&1 </dev/null 3>&- &
    MOCK_PID=$!
    wait_until mock_settled
    if [ ! -e "$MOCK/port" ]; then
        cat "$MOCK/out"
        return 1
    fi
    HOST=${MOCK_ADDRESS-127.0.0.1}:$(cat "$MOCK/port")
    SOURCE=docker://$HOST/lab/image:v1
}

# mock_manifest JQ: edits the manifest of the image with JQ; call it before the mock starts.
mock_manifest() {
    local digest
    digest=$(gojq -r '.manifests[0].digest[7:]' "$IMAGES/layout/index.json")
    gojq -c "$1" "$IMAGES/layout/blobs/sha256/$digest" >"$MOCK/root.json"
}

ok() {
    flatten "$@"
    show
    cat "$MOCK/log"
    [ "$status" -eq 0 ]
}

# fails STATUS TEXT WORD...: flatten fails with TEXT on stderr only, and leaves no files behind.
fails() {
    local expected=$1 text=$2
    shift 2
    flatten "$@"
    show
    refused "$expected" "$text" && [ ! -e out ]
}

# count PATTERN: prints the number of matching lines in the log of the mock.
count() { grep -cE "$1" "$MOCK/log" || true; }

auth() {
    printf '{"auths":{"%s":%s}}' "$1" "$2" >auth.json
    export REGISTRY_AUTH_FILE=$PWD/auth.json
}

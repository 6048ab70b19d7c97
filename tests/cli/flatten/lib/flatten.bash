# What the tests of flatten's command line share: images, a place to work in, and how to run it.
# shellcheck shell=bash disable=SC2154  # status, output and stderr are set by bats' run

# shellcheck source=tests/cli/lib/wait.bash
source "${BASH_SOURCE[0]%/*}/../../lib/wait.bash"

FLATTEN_LIB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# make_images TOOL...: in $IMAGES, if flatten and these tools are there.
make_images() {
    local tool
    [ -x "$FLATTEN" ] || { echo "FLATTEN is not set to flatten"; return 1; }
    for tool in python3 "$@"; do
        command -v "$tool" >/dev/null || { echo "$tool is needed"; return 1; }
    done
    export IMAGES=$BATS_FILE_TMPDIR/images
    mkdir "$IMAGES"
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$FLATTEN_LIB/../../../oracle \
        python3 "$FLATTEN_LIB/make_images.py" "$IMAGES"
}

setup_file() { make_images jq zstd; }

setup() {
    unset SOURCE_DATE_EPOCH
    mkdir "$BATS_TEST_TMPDIR/work" # bats keeps files of its own in the other
    cd "$BATS_TEST_TMPDIR/work" || return
}

flatten() { run --separate-stderr "$FLATTEN" "$@"; }

show() { echo "status $status: $output $stderr"; }

# refused STATUS TEXT: what was run failed, with TEXT on stderr alone.
refused() {
    [ "$status" -eq "$1" ] && [ -z "$output" ] && [[ $stderr == "flatten: error: "*"$2"* ]]
}

# ok WORD...: flatten works. fails STATUS TEXT WORD...: it is refused.
ok() {
    flatten "$@"
    show
    [ "$status" -eq 0 ]
}

fails() {
    local expected=$1 text=$2
    shift 2
    flatten "$@"
    show
    refused "$expected" "$text"
}

same() { "$FLATTEN" verify -q "$@"; }

manifest_of() { echo "$1/blobs/sha256/$(jq -r '.manifests[-1].digest[7:]' "$1/index.json")"; }
config_of() { echo "$1/blobs/sha256/$(jq -r '.config.digest[7:]' "$(manifest_of "$1")")"; }

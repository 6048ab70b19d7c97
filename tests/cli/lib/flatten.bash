# What the tests of flatten's command line share: images, a place to work in, and how to run it.
# shellcheck shell=bash disable=SC2154  # status, output and stderr are set by bats' run

setup_file() {
    [ -x "$FLATTEN" ] || { echo "FLATTEN is not set to flatten"; return 1; }
    command -v jq python3 zstd >/dev/null || { echo "jq, python3 and zstd are needed"; return 1; }
    export IMAGES=$BATS_FILE_TMPDIR/images
    mkdir "$IMAGES"
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$BATS_TEST_DIRNAME/../oracle \
        python3 "$BATS_TEST_DIRNAME/flatten_images.py" "$IMAGES"
}

setup() {
    unset SOURCE_DATE_EPOCH
    mkdir "$BATS_TEST_TMPDIR/work" # bats keeps files of its own in the other
    cd "$BATS_TEST_TMPDIR/work" || return
}

flatten() { run --separate-stderr "$FLATTEN" "$@"; }

# ok WORD...: flatten works. fails STATUS TEXT WORD...: it does not, with TEXT on stderr alone.
ok() {
    flatten "$@"
    echo "status $status: $output $stderr"
    [ "$status" -eq 0 ]
}

fails() {
    local expected=$1 text=$2
    shift 2
    flatten "$@"
    echo "status $status: $output $stderr"
    [ "$status" -eq "$expected" ] && [ -z "$output" ] && [[ $stderr == "flatten: error: "*"$text"* ]]
}

same() { "$FLATTEN" verify -q "$@"; }

manifest_of() { echo "$1/blobs/sha256/$(jq -r '.manifests[-1].digest[7:]' "$1/index.json")"; }
config_of() { echo "$1/blobs/sha256/$(jq -r '.config.digest[7:]' "$(manifest_of "$1")")"; }

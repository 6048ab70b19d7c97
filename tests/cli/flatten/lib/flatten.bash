# Common functions for tests of the command line of flatten: images, a working directory, and runs.
# shellcheck shell=bash disable=SC2154,SC2034  # status, output and stderr are set by bats' run; WAYS is for tests

# shellcheck source=tests/cli/lib/wait.bash
source "${BASH_SOURCE[0]%/*}/../../lib/wait.bash"

FLATTEN_LIB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# make_images TOOL...: $IMAGES has the images of make_images.py, and nothing writes to it; fails without flatten and
# these tools. ctest makes the images once for all suites ($FLATTEN_IMAGES); without ctest each suite makes its own.
make_images() {
    local tool
    [ -x "$FLATTEN" ] || { echo "FLATTEN is not set to flatten"; return 1; }
    for tool in python3 "$@"; do
        command -v "$tool" >/dev/null || { echo "$tool is needed"; return 1; }
    done
    export IMAGES=${FLATTEN_IMAGES:-$BATS_FILE_TMPDIR/images}
    [ -z "${FLATTEN_IMAGES-}" ] || return 0
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$FLATTEN_LIB/../../../oracle \
        python3 "$FLATTEN_LIB/make_images.py" "$IMAGES"
}

# Options with which an image is read in different ways.
WAYS=(--semantics=overlay --semantics=spec --into=2 --last=2)
[ "${FLATTEN_AS-}" != carve ] || WAYS=(--semantics=overlay --semantics=spec --layers=2)

# FLATTEN_AS=carve judges `flatten carve` by a suite of squash: $FLATTEN becomes a wrapper that gives runs without a
# command of their own this one.
wrap_flatten() {
    [ -n "${FLATTEN_AS-}" ] || return 0
    export FLATTEN_ITSELF=$FLATTEN
    export FLATTEN=$BATS_FILE_TMPDIR/flatten
    cat >"$FLATTEN" <<'END'
#!/bin/sh
case $1 in verify | unpack | analyze | carve | squash | --help) exec "$FLATTEN_ITSELF" "$@" ;; esac
exec "$FLATTEN_ITSELF" "$FLATTEN_AS" "$@"
END
    chmod 755 "$FLATTEN"
}

setup_file() { make_images gojq zstd && wrap_flatten; }

setup() {
    unset SOURCE_DATE_EPOCH
    mkdir "$BATS_TEST_TMPDIR/work" # bats keeps its own files in the parent
    cd "$BATS_TEST_TMPDIR/work" || return
}

flatten() { run --separate-stderr "$FLATTEN" "$@"; }

show() { echo "status $status: $output $stderr"; }

# refused STATUS TEXT: the last run failed with STATUS, and TEXT is on stderr only.
refused() {
    [ "$status" -eq "$1" ] && [ -z "$output" ] && [[ $stderr == "flatten: error: "*"$2"* ]]
}

# ok WORD...: flatten succeeds. fails STATUS TEXT WORD...: flatten fails with STATUS and TEXT.
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

manifest_of() { echo "$1/blobs/sha256/$(gojq -r '.manifests[-1].digest[7:]' "$1/index.json")"; }
config_of() { echo "$1/blobs/sha256/$(gojq -r '.config.digest[7:]' "$(manifest_of "$1")")"; }

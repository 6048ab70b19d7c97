#!/usr/bin/env bats
# The documentation: links, commands, and the messages that docs/troubleshooting.md lists.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load ../flatten/lib/flatten
load ../flatten/lib/registry

setup_file() {
    : "${FLATBED:?the flatbed to test}"
    make_images docker-registry jq runc curl
}

setup() {
    export PYTHONDONTWRITEBYTECODE=1
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || return
}

teardown() { registry_stop_all "$BATS_TEST_TMPDIR"; }

# runs PAGE: the blocks of a page that are marked "run" succeed, one after the other, in a directory with image.tar and
# with a registry at $REGISTRY that has the image app:1.
runs() {
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s "$FLATTEN" "$BATS_TEST_TMPDIR/bin/flatten"
    ln -s "$FLATBED" "$BATS_TEST_TMPDIR/bin/flatbed"
    cp "$IMAGES/old.tar" image.tar
    registry_start "$BATS_TEST_TMPDIR/registry"
    export REGISTRY
    "$FLATTEN" carve -q image.tar "docker://$REGISTRY/app:1"
    "$BATS_TEST_DIRNAME/commands.py" script "$1" >script
    grep -q '[^ ]' script
    PATH=$BATS_TEST_TMPDIR/bin:$PATH bash -eux -o pipefail script
}

@test "links lead to files and headings, and the index leads to every page" {
    "$BATS_TEST_DIRNAME/links.py"
}

@test "the sub-commands and options of all commands exist" {
    "$BATS_TEST_DIRNAME/commands.py" options
}

@test "each fenced command is run, or says why not" {
    "$BATS_TEST_DIRNAME/commands.py" marks
}

@test "docs/troubleshooting.md has each refusal and failure that does not explain itself, as the sources have it" {
    "$BATS_TEST_DIRNAME/messages.py"
}

@test "the commands of docs/start.md run" { runs docs/start.md; }
@test "the commands of docs/zh/start.md run" { runs docs/zh/start.md; }
@test "the commands of docs/users.md run" { runs docs/users.md; }
@test "the commands of docs/zh/users.md run" { runs docs/zh/users.md; }
@test "the commands of docs/administrators.md run" { runs docs/administrators.md; }
@test "the commands of docs/zh/administrators.md run" { runs docs/zh/administrators.md; }
@test "the commands of docs/ci.md run" { runs docs/ci.md; }
@test "the commands of docs/troubleshooting.md run" { runs docs/troubleshooting.md; }
@test "the commands of docs/zh/troubleshooting.md run" { runs docs/zh/troubleshooting.md; }

#!/usr/bin/env bats
# hack/release in a clone: what it changes, and what it refuses.

bats_require_minimum_version 1.5.0

setup() {
    DIR=$(mktemp -d /var/tmp/fb-release.XXXXXX)
    git -c safe.directory='*' clone -q --no-hardlinks "$BATS_TEST_DIRNAME/../.." "$DIR/clone"
    cd "$DIR/clone" || return 1
    git tag --list | xargs -r git tag --delete >/dev/null
    git config user.name "A. Maintainer"
    git config user.email maintainer@example.org
    git config commit.gpgsign false
    START=$(git rev-parse HEAD)
    export SOURCE_DATE_EPOCH=1900000000 # 2030-03-17
}

teardown() {
    rm -rf "$DIR"
}

# has TEXT: the last command printed it.
has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }

# untouched: no commit, tag or change is left.
untouched() { [ "$(git rev-parse HEAD)" = "$START" ] && [ -z "$(git status --porcelain)" ] && [ -z "$(git tag)" ]; }

# refused TEXT ARGUMENT...
refused() {
    local text=$1
    shift
    run hack/release "$@"
    [ "$status" -eq 1 ]
    has "$text"
}

@test "a release sets all versions and dates, and tags them" {
    hack/release 7.8.9
    [ "$(git describe --exact-match)" = v7.8.9 ]
    [ -z "$(git status --porcelain)" ]
    [ "$(git rev-parse HEAD^)" = "$START" ]
    grep -qx '## 7.8.9 - 2030-03-17' CHANGELOG.md
    grep -q '^project(flatbed VERSION 7.8.9 ' CMakeLists.txt
    [ "$(dpkg-parsechangelog -S Version)" = 7.8.9 ]
    [ "$(dpkg-parsechangelog -S Maintainer)" = "A. Maintainer <maintainer@example.org>" ]
    [ "$(grep -hx '.Os Flatbed 7.8.9' docs/man/*.[1-8] | wc -l)" -eq "$(find docs/man -name '*.[1-8]' | wc -l)" ]
    [ "$(grep -hx '.Dd March 17, 2030' docs/man/*.[1-8] | wc -l)" -eq "$(find docs/man -name '*.[1-8]' | wc -l)" ]
}

@test "the changes go below the new version, and Unreleased stays, empty" {
    hack/release 7.8.9
    run awk '/^## /{ n++ } n == 1' CHANGELOG.md
    [ "$(grep -c . <<<"$output")" -eq 1 ]
    git show "$START:CHANGELOG.md" | grep '^- ' | diff - <(awk '/^## 7.8.9/ { in_it = 1 } in_it && /^- /' CHANGELOG.md)
}

@test "--dry-run shows the change, and makes none" {
    run hack/release --dry-run 7.8.9
    [ "$status" -eq 0 ]
    has "+## 7.8.9 - 2030-03-17"
    untouched
}

@test "a wrong version, none and two are refused" {
    local version
    for version in 1.2 v1.2.3 1.2.3-rc1 01.2.3 "1.2.3 " ""; do refused "needs one version" "$version"; done
    refused "needs one version"
    refused "needs one version" 1.2.3 1.2.4
    refused "no option --push" --push 1.2.3
    untouched
}

@test "a version that is not higher than the newest tag is refused" {
    git tag v1.10.0
    git tag v1.9.0
    refused "not higher than the newest release, 1.10.0" 1.10.0
    refused "not higher than the newest release, 1.10.0" 1.9.5
    hack/release 1.11.0
}

@test "a tree with changes, and one with new files, are refused" {
    touch new
    refused "not committed" 7.8.9
    rm new
    echo >>README.md
    refused "not committed" 7.8.9
    git checkout -q README.md
    untouched
}

@test "a release without changes is refused" {
    hack/release 7.8.9
    refused 'nothing below "## Unreleased"' 7.8.10
}

@test "a tag that cannot be signed leaves no commit" {
    git config gpg.program false
    run hack/release --sign 7.8.9
    [ "$status" -ne 0 ]
    has "taken back"
    untouched
}

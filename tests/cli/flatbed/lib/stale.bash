# The tests of flatbed stale: a directory of the test alone, and the program's output.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # used by the tests; status and output are set by bats' run

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    [ "$(id -u)" -eq 0 ] || { [ "$CI" != true ] && skip "needs root"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-stale.XXXXXX")
    chmod 0755 "$DIR"
    D=$DIR/docker
    P=$DIR/podman
}

teardown() {
    [ -n "${DIR-}" ] || return 0
    while read -r where; do
        umount -l "$where" || true
    done < <(awk -v dir="$DIR" 'index($5 "/", dir "/") == 1 { print $5 }' /proc/self/mountinfo | tac)
    chattr -R -i "$DIR" 2>/dev/null || true
    rm -rf --one-file-system "$DIR"
}

stale() { run --separate-stderr "$FLATBED" stale "$@"; }
has() { [[ $output$stderr == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n%s\n' "$1" "$output" "$stderr"; return 1; }; }
has_not() { [[ $output$stderr != *"$1"* ]] || { printf 'this has %s:\n%s\n%s\n' "$1" "$output" "$stderr"; return 1; }; }
exits() { [ "$status" -eq "$1" ] || { echo "status $status: $output $stderr"; return 1; }; }
# is [JQ-OPTION...] FILTER: true for --json.
is() { gojq -e "$@" <<<"$output" >/dev/null || { echo "not $1: $output $stderr"; return 1; }; }
digits() { printf "%064d" "$1"; }
tree_of() { (cd "$1" && find . | sort); }
# names: those of the listed directories, by their last number.
names() { gojq -r '.stale[].path' <<<"$output" | sed 's:.*/::; s/^0*//' | sort | tr '\n' ' '; }

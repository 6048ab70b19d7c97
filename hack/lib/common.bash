# Shared by the scripts of hack/: where the sources are, root's rights, packages.
# shellcheck shell=bash
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly top
cd "$top"

say() { printf '\n== %s\n' "$*"; }

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Runs a command as root, through sudo where needed; named variables go along.
as_root() {
    if [[ $(id -u) -eq 0 ]]; then
        env "$@"
    elif command -v sudo >/dev/null; then
        sudo env "$@"
    else
        die "needs root or sudo for: $*"
    fi
}

# The packages of the named lists in hack/packages, one a line, '#' starts a comment.
package_list() {
    local list
    for list in "$@"; do
        sed 's/#.*//' "hack/packages/$list"
    done | xargs
}

# Installs what is missing of them; asks nothing, and does not touch the network when all is there.
install_packages() {
    local package missing=()
    for package in $(package_list "$@"); do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
            missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    say "installing ${#missing[@]} packages"
    command -v apt-get >/dev/null || die "not Debian: install the like of ${missing[*]}"
    as_root DEBIAN_FRONTEND=noninteractive apt-get -q update
    as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
        "${missing[@]}"
}

# Configures and builds a preset, quietly unless it fails.
build() {
    local preset=$1 log
    shift
    say "building ($preset)"
    log=$(mktemp)
    if ! { cmake --preset "$preset" "$@" && cmake --build --preset "$preset"; } >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        rm -f "$log"
        die "the $preset build failed"
    fi
    rm -f "$log"
}

# Shared by the scripts of hack/: the root of the sources, commands as root, packages.
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

# warn_no_journal DIR: warns if DIR is on ext4 without a journal. Such a file system makes files up to 40 times as
# slowly for some minutes after others were removed (recently_deleted in the kernel's fs/ext4/ialloc.c), so a
# benchmark that unpacks images there measures what was removed before.
warn_no_journal() {
    local device
    [[ $(findmnt -n -o FSTYPE -T "$1") == ext4 ]] || return 0
    device=$(readlink -f "$(findmnt -n -o SOURCE -T "$1")")
    compgen -G "/proc/fs/jbd2/${device##*/}-*" >/dev/null ||
        say "$1 is on ext4 without a journal, which makes files slowly after others were removed: use another --dir"
}

# Runs a command as root, through sudo if needed; named variables are passed on.
as_root() {
    if [[ $(id -u) -eq 0 ]]; then
        env "$@"
    elif command -v sudo >/dev/null; then
        sudo env "$@"
    else
        die "needs root or sudo for: $*"
    fi
}

# The packages of the named lists in hack/packages, one a line, '#' starts a comment. "NAME?" is installed
# only if the archive has it. With PACKAGES_ARCH, the libraries are those of that architecture.
package_list() {
    local list
    for list in "$@"; do
        sed "s/#.*//; s/^lib.*-dev\$/&${PACKAGES_ARCH:+:$PACKAGES_ARCH}/" "hack/packages/$list"
    done | xargs
}

package_installed() {
    dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed
}

package_offered() { [[ -n $(apt-cache show --no-all-versions "$1" 2>/dev/null) ]]; }

# Installs the missing ones without questions; uses no network if all are installed.
install_packages() {
    local package missing=() wanted=()
    command -v apt-get >/dev/null || die "not Debian: install the like of $(package_list "$@")"
    for package in $(package_list "$@"); do
        if package_installed "${package%\?}"; then
            continue
        elif [[ $package == zfs-fuse* ]] && package_installed zfsutils-linux; then
            continue # apt would remove the programs of the host's own ZFS for it
        elif [[ $package == *\? ]]; then
            wanted+=("${package%\?}")
        else
            missing+=("$package")
        fi
    done
    [[ ${#missing[@]} -eq 0 ]] || as_root DEBIAN_FRONTEND=noninteractive apt-get -q update
    for package in "${wanted[@]}"; do
        ! package_offered "$package" || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    say "installing ${#missing[@]} packages"
    as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
        "${missing[@]}"
}

# Runs a command and shows its output only if it fails.
quietly() {
    local log
    log=$(mktemp)
    if ! "$@" >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

# configure PRESET [OPTION...]: configures, with ccache if it is installed.
configure() {
    local preset=$1 launcher
    shift
    launcher=$(command -v ccache || true)
    quietly cmake --preset "$preset" -DCMAKE_C_COMPILER_LAUNCHER="$launcher" "$@" ||
        die "the $preset build cannot be configured"
}

# build_release TESTS(ON|OFF): the optimised build, without units. CI rejects warnings in it, as the dev build always does.
build_release() {
    build release -DFLATBED_TESTS="$1" -DFLATBED_UNITS=OFF -DFLATBED_WERROR="$([[ ${CI-} == true ]] && echo ON || echo OFF)"
}

# build PRESET [OPTION...]: configures and builds.
build() {
    say "building ($1)"
    configure "$@"
    quietly cmake --build --preset "$1" || die "the $1 build failed"
}

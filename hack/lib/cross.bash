# Builds for an architecture other than that of this machine: arm64, by Debian's compiler and libraries for it.
# shellcheck shell=bash

# needs_root_of_its_own ARCH: succeeds if the packages of ARCH cannot be installed here, as that would change this host.
needs_root_of_its_own() { [[ ${top:?} != /src ]] && ! dpkg --print-foreign-architectures | grep -qx "$1"; }

# build_for ARCH: lets all that follows build for ARCH. Installs the packages in the lists of the other arguments.
build_for() {
    [[ $1 == arm64 ]] || die "cannot build for $1 on $(dpkg --print-architecture): only for arm64"
    export PACKAGES_ARCH=$1 HOST_TRIPLET=aarch64-linux-gnu
    export CC=$HOST_TRIPLET-gcc AR=$HOST_TRIPLET-ar CMAKE_TOOLCHAIN_FILE=$top/cmake/$1.cmake
    if ! dpkg --print-foreign-architectures | grep -qx "$1"; then
        as_root dpkg --add-architecture "$1"
        as_root apt-get -q update
    fi
    install_packages "${@:2}" "$1"
}

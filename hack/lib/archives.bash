# Static libraries for hack/tarball that Debian does not have as flatten needs them: ISA-L, which is shared alone; libzstd,
# whose archive has no threads; and libcurl with HTTP and OpenSSL alone. They are built from Debian's sources, of the release that this host runs.
# shellcheck shell=bash

# sources_apt DIR ARGUMENT...: apt-get with the source packages of this host's archive; its lists are in DIR.
sources_apt() {
    local dir=$1
    shift
    apt-get -q -o "Dir::Etc::SourceList=$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o "Dir::State::Lists=$dir/lists" -o APT::Sandbox::User= -o pkgCacheFile= -o srcpkgcache= "$@"
}

# fetch_sources DIR PACKAGE...: unpacks the sources of PACKAGE below DIR. apt checks their signatures.
fetch_sources() {
    local dir=$1 site suite
    shift
    site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mkdir -p "$dir/lists/partial"
    echo "deb-src $site $suite main" >"$dir/sources.list"
    quietly sources_apt "$dir" update || die "the lists of sources of $suite cannot be fetched from $site"
    (cd "$dir" && quietly sources_apt "$dir" source "$@") || die "the sources of $* cannot be fetched"
}

# source_version DIR PACKAGE: the version of the sources that fetch_sources unpacked.
source_version() { sed -n 's/^Version: //p' "$1/$2"_*.dsc | head -n 1; }

# build_isal DIR PREFIX: for HOST_TRIPLET, if that is another machine. The others take CC, AR and CMAKE_TOOLCHAIN_FILE.
build_isal() {
    (cd "$1"/libisal-*/ && autoreconf --install --force &&
        CFLAGS=$STATIC_CFLAGS ./configure --disable-shared --with-pic --prefix="$2" ${HOST_TRIPLET:+--host=$HOST_TRIPLET} &&
        make -j"$(nproc)" install)
}

# build_zstd DIR PREFIX
build_zstd() {
    make -C "$(echo "$1"/libzstd-*/lib)" -j"$(nproc)" CFLAGS="$STATIC_CFLAGS -DZSTD_MULTITHREAD" PREFIX="$2" LIBDIR="$2/lib" \
        install-static install-pc install-includes
}

# build_curl DIR PREFIX: its .pc names shared libraries by path, even for a static libcurl, hence the sed.
build_curl() {
    cmake -G Ninja -S "$(echo "$1"/curl-*/)" -B "$1/curl-build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="$STATIC_CFLAGS" \
        -DCMAKE_INSTALL_PREFIX="$2" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF \
        -DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON -DCURL_USE_LIBSSH2=OFF -DCURL_USE_LIBPSL=OFF -DUSE_LIBIDN2=OFF -DCURL_ZLIB=OFF \
        -DUSE_NGHTTP2=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DCURL_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt \
        -DCURL_CA_PATH=/etc/ssl/certs -DENABLE_MANUAL=OFF -DOPENSSL_USE_STATIC_LIBS=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON &&
        cmake --build "$1/curl-build" && cmake --install "$1/curl-build" &&
        sed -i '/^Libs.private:/d; s/^Libs:.*/Libs: -L${libdir} -lcurl -lssl -lcrypto/' "$2/lib/pkgconfig/libcurl.pc"
}

# build_archives DIR: builds them below DIR/prefix, and notes what they are in DIR/prefix/sources: archive, package, version.
build_archives() {
    local dir=$1 package
    fetch_sources "$dir" curl libisal libzstd
    quietly build_isal "$dir" "$dir/prefix" || die "ISA-L is not built"
    quietly build_zstd "$dir" "$dir/prefix" || die "libzstd is not built"
    quietly build_curl "$dir" "$dir/prefix" || die "libcurl is not built"
    for package in curl libisal libzstd; do
        printf '%s %s %s\n' "$dir/prefix/lib/lib${package#lib}.a" "$package" "$(source_version "$dir" "$package")"
        cp "$dir/$package"-*/debian/copyright "$dir/prefix/$package.copyright"
    done >"$dir/prefix/sources"
}

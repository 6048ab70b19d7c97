#!/usr/bin/env bats
# hack/artefacts: one directory with all that a release publishes. apt installs from its repository. Changes the host, so
# hack/test-packages runs it in a root directory of its own.

bats_require_minimum_version 1.5.0

setup_file() {
    DIR=$(mktemp -d /var/tmp/fb-artefacts.XXXXXX)
    export DIR GNUPGHOME=$DIR/gpg DEBIAN_FRONTEND=noninteractive
    mkdir -m 0700 "$GNUPGHOME"
    git -c safe.directory='*' clone -q --no-hardlinks /src "$DIR/clone"
    mkdir -p "$DIR"/clone/build/{tarball,tarball-arm64,rpm,image}
    cp -r /src/build/packages "$DIR/clone/build/packages"
    echo tarball >"$DIR/clone/build/tarball/flatbed-linux.tar.gz"
    echo '{}' >"$DIR/clone/build/tarball/flatbed-linux.spdx.json"
    echo arm64 >"$DIR/clone/build/tarball-arm64/flatbed-arm64.tar.gz"
    echo '{}' >"$DIR/clone/build/tarball-arm64/flatbed-arm64.spdx.json"
    echo rpm >"$DIR/clone/build/rpm/flatbed-0.src.rpm"
    echo image >"$DIR/clone/build/image/flatten.oci.tar"
}

teardown_file() {
    [ -n "${DIR-}" ] || return 0
    gpgconf --kill all 2>/dev/null || true
    rm -f /etc/apt/sources.list.d/flatbed.list
    rm -rf "$DIR"
}

# The tarballs, the RPM package and the image are stand-ins: the other tests of this directory have the real ones.
@test "everything is in one directory, with its sums and a signature" {
    cd "$DIR/clone"
    hack/artefacts "$DIR/none" >/dev/null # installs gpg
    gpg --batch --passphrase '' --quick-generate-key 'Release <release@example.org>' ed25519 sign never
    hack/artefacts --sign=release@example.org "$DIR/out" >/dev/null
    cd "$DIR/out"
    sha256sum --check --quiet SHA256SUMS
    gpg --verify SHA256SUMS.asc SHA256SUMS
    ls flatbed_*.deb flatten_*.deb flatbed-linux.tar.gz flatbed-linux.spdx.json flatbed-arm64.{tar.gz,spdx.json} \
        flatbed-0.src.rpm flatten.oci.tar
    tar -tzf flatbed-[0-9]*.tar.gz | grep -q '^flatbed-[0-9.]*/CMakeLists.txt$'
    [ "$(wc -l <SHA256SUMS)" -eq "$(find . -maxdepth 1 -type f -name '*.*' ! -name SHA256SUMS.asc | wc -l)" ]
}

@test "apt installs from the repository, and refuses one that was changed" {
    gpg --export release@example.org >"$DIR/key.gpg"
    chmod 0755 "$DIR"
    echo "deb [signed-by=$DIR/key.gpg] file:$DIR/out/apt stable main" >/etc/apt/sources.list.d/flatbed.list
    apt-get -q update -o Dir::Etc::sourcelist=sources.list.d/flatbed.list -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0
    apt-get -q -y --no-install-recommends install flatten
    flatten --version
    apt-get -q -y purge flatten
    echo >>"$DIR/out/apt/dists/stable/InRelease"
    sed -i 's/^Origin: Flatbed$/Origin: Other/' "$DIR/out/apt/dists/stable/InRelease"
    run ! apt-get -q update --error-on=any -o Dir::Etc::sourcelist=sources.list.d/flatbed.list -o Dir::Etc::sourceparts=-
}

@test "what is there already stays" {
    cd "$DIR/clone"
    run hack/artefacts "$DIR/out"
    [ "$status" -eq 1 ]
    [[ $output == *"is there already"* ]]
}

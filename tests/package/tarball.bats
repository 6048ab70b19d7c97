#!/usr/bin/env bats
# The tarball of static programs in $TARBALL, made by hack/tarball: reproducible, complete, and working where nothing of
# what it was built with is installed. hack/test-tarball runs it in a root directory of its own.

bats_require_minimum_version 1.5.0

setup_file() {
    [ -n "${TARBALL-}" ] || { echo "TARBALL is not set to a directory"; return 1; }
    [ "$(id -u)" -eq 0 ] || { echo "needs root"; return 1; }
    DIR=$(mktemp -d /var/tmp/fb-tarball.XXXXXX)
    NAME=$(basename "$TARBALL"/*.tar.gz .tar.gz)
    export DIR NAME
}

teardown_file() {
    [ -z "${DIR-}" ] || rm -rf --one-file-system "$DIR"
}

# has TEXT: the last command printed it.
has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }

sbom() { jq -e "$@" "$TARBALL/$NAME.spdx.json"; }

@test "the sums are those of the files" {
    (cd "$TARBALL" && sha256sum --check --strict SHA256SUMS)
    [ "$(wc -l <"$TARBALL/SHA256SUMS")" -eq 2 ]
}

@test "the tarball has programs, manuals, completions, examples and the licence, owned by nobody, with one time" {
    local file
    tar -tzf "$TARBALL/$NAME.tar.gz" >"$DIR/list"
    for file in bin/{flatten,flatbed,flatbed-runtime} share/man/man1/flatten.1 share/man/man5/flatbed-policy.5 \
        share/man/man8/flatbed{,-runtime}.8 share/bash-completion/completions/flatten \
        share/zsh/site-functions/_flatbed share/fish/vendor_completions.d/flatbed.fish \
        share/doc/flatbed/{LICENSE,README.md,docs/start.md,docs/zh/start.md,examples/lab.json} lib/systemd/system/flatbed-gc.timer; do
        grep -qx "$NAME/$file" "$DIR/list" || { echo "not there: $file"; false; }
    done
    run tar --utc --full-time --numeric-owner -tvzf "$TARBALL/$NAME.tar.gz"
    [ "$(awk '{ print $2, $4, $5 }' <<<"$output" | sort -u | wc -l)" -eq 1 ]
    [[ $output == *" 0/0 "* ]]
    grep -q '^ExecStart=/usr/local/bin/flatbed ' <(tar -xOzf "$TARBALL/$NAME.tar.gz" "$NAME/lib/systemd/system/flatbed-gc.service")
}

@test "another directory, user, umask, time zone and time of day give the same bytes" {
    useradd --create-home builder
    git -c safe.directory='*' clone -q --no-hardlinks /src "$DIR/another directory"
    chown -R builder: "$DIR"
    chmod 0755 "$DIR"
    su builder -c "cd '$DIR/another directory' && umask 077 && TZ=Asia/Tokyo TMPDIR=$DIR LC_ALL=C hack/tarball '$DIR/second'"
    cmp "$TARBALL/$NAME.tar.gz" "$DIR/second/$NAME.tar.gz"
    cmp "$TARBALL/$NAME.spdx.json" "$DIR/second/$NAME.spdx.json"
}

@test "the programs run where there is nothing else" {
    local program
    mkdir -p "$DIR/empty"/{proc,tmp}
    tar -xzf "$TARBALL/$NAME.tar.gz" -C "$DIR/empty" --strip-components=1
    for program in flatten flatbed; do
        chroot "$DIR/empty" "/bin/$program" --version
    done
    chroot "$DIR/empty" /bin/flatbed-runtime --flatbed-version
    run readelf --program-headers "$DIR"/empty/bin/*
    [[ $output != *INTERP* ]]
}

@test "below /usr/local it flattens an image, and runs a container of it with a policy" {
    tar -xzf "$TARBALL/$NAME.tar.gz" -C /usr/local --strip-components=1
    ! command -v /usr/bin/flatten || false
    cd /src
    run bash hack/lib/demo.bash /usr/local
    [ "$status" -eq 0 ]
    has "It works."
}

@test "it makes layers of zstd, in threads" {
    tar -xzf "$TARBALL/$NAME.tar.gz" -C "$DIR" "$NAME/bin/flatten"
    mkdir -p "$DIR/layer" "$DIR/save"
    cp "$DIR/$NAME/bin/flatten" "$DIR/layer"
    tar -C "$DIR/layer" -cf "$DIR/save/layer.tar" .
    echo '{"architecture":"amd64","os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":["sha256:'"$(
        sha256sum <"$DIR/save/layer.tar" | cut -c 1-64)"'"]}}' >"$DIR/save/config.json"
    echo '[{"Config":"config.json","RepoTags":["it:1"],"Layers":["layer.tar"]}]' >"$DIR/save/manifest.json"
    tar -C "$DIR/save" -cf "$DIR/it.tar" config.json layer.tar manifest.json
    "$DIR/$NAME/bin/flatten" --compression=zstd --threads=4 "$DIR/it.tar" "oci:$DIR/layout:it"
    "$DIR/$NAME/bin/flatten" verify "$DIR/it.tar" "oci:$DIR/layout:it"
}

@test "the SBOM has what SPDX 2.3 requires, and names nothing that is not there" {
    sbom '.spdxVersion == "SPDX-2.3" and .dataLicense == "CC0-1.0" and .SPDXID == "SPDXRef-DOCUMENT"
          and (.name | length > 0) and (.documentNamespace | test("^https://[^#]+$"))
          and (.creationInfo.created | test("^[0-9-]{10}T[0-9:]{8}Z$")) and (.creationInfo.creators | length > 0)'
    sbom '[.packages[] | (.SPDXID | test("^SPDXRef-[A-Za-z0-9.-]+$")) and (.name | length > 0)
          and (.versionInfo | length > 0) and has("downloadLocation") and has("licenseDeclared")] | all'
    sbom '[.packages[].SPDXID, .files[].SPDXID] | length == (unique | length)'
    sbom '([.packages[].SPDXID, .files[].SPDXID, .SPDXID]) as $known
          | [.relationships[] | (.spdxElementId, .relatedSpdxElement) | IN($known[])] | all'
    sbom '[(.hasExtractedLicensingInfos // [])[].licenseId] as $refs
          | [.packages[].licenseDeclared | scan("LicenseRef-[A-Za-z0-9.-]+") | IN($refs[])] | all'
}

@test "the SBOM has the versions of what is linked, and the sums of the programs" {
    local package
    for package in libc6-dev libarchive-dev libssl-dev libyajl-dev libseccomp-dev libcap-dev libyaml-dev; do
        [ "$(sbom -r --arg p "$package" '.packages[] | select(.name == $p).versionInfo')" = \
            "$(dpkg-query -W -f '${Version}' "$package")" ] || { echo "not its version: $package"; false; }
    done
    sbom '[.packages[].name] | contains(["curl", "libisal", "libzstd"])'
    [ "$(sbom -r '.files[] | select(.fileName == "./bin/flatten").checksums[] | select(.algorithm == "SHA256").checksumValue')" = \
        "$(sha256sum <"$DIR/empty/bin/flatten" | cut -d ' ' -f 1)" ]
}

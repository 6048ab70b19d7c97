#!/usr/bin/env bats
# flatten with a real registry on loopback: plain, and with TLS and a password. skopeo verifies the results.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load ../lib/flatten
load ../lib/registry

setup_file() {
    export HOME=$BATS_FILE_TMPDIR/home
    export XDG_RUNTIME_DIR=$HOME/run
    unset REGISTRY_AUTH_FILE DOCKER_CONFIG XDG_CONFIG_HOME SSL_CERT_FILE SSL_CERT_DIR
    mkdir -p "$XDG_RUNTIME_DIR"
    make_images docker-registry htpasswd openssl skopeo gojq || return
    few_cas || return
    registry_start "$BATS_FILE_TMPDIR/plain"
    export PLAIN=$REGISTRY
    registry_start_tls "$BATS_FILE_TMPDIR/tls" lab secret
    export SECURE=$REGISTRY CA=$BATS_FILE_TMPDIR/tls/ca.pem
    skopeo copy -q --dest-tls-verify=false "oci:$IMAGES/layout" "docker://$PLAIN/lab/image:v1"
    skopeo copy -q --dest-tls-verify=false --dest-creds lab:secret \
        "oci:$IMAGES/layout" "docker://$SECURE/lab/image:v1"
}

teardown_file() { registry_stop_all "$BATS_FILE_TMPDIR"; }

# auth_file FILE HOST USER PASSWORD
auth_file() { printf '{"auths":{"%s":{"auth":"%s"}}}' "$2" "$(printf %s "$3:$4" | base64)" >"$1"; }

digest_at() { skopeo inspect --tls-verify=false --format '{{.Digest}}' "docker://$1"; }

# Prints how often a request occurs in the log of a registry.
requests() { grep -c "\"$2 [^\"]*$3" "$BATS_FILE_TMPDIR/$1/log" || true; }

# ---- plain HTTP on loopback ----

@test "pull: the layout has the same tree" {
    ok -q "docker://$PLAIN/lab/image:v1" oci:out:flat
    same oci:out:flat "$IMAGES/layout"
    skopeo inspect oci:out:flat >inspect
    [ "$(gojq '.Layers | length' inspect)" -eq 1 ]
}

@test "unpack: the tree is the one of the image from a layout" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    ok unpack --verify "docker://$PLAIN/lab/image:v1" fetched
    ok unpack "oci:$IMAGES/layout" local
    diff -r --no-dereference fetched local
    [ -n "$(ls -A local)" ]
}

@test "pull: by digest, and localhost counts as loopback" {
    local digest
    digest=$(digest_at "$PLAIN/lab/image:v1")
    ok -q "docker://localhost:${PLAIN#*:}/lab/image@$digest" oci:out:flat
    same oci:out:flat "$IMAGES/layout"
    [ "$(gojq -r '.annotations["dev.flatbed.source.digest"]' \
        "out/blobs/sha256/$(gojq -r '.manifests[0].digest[7:]' out/index.json)")" = "$digest" ]
}

@test "push: the printed digest is the one in the registry and for skopeo" {
    ok -q "$IMAGES/old.tar" "docker://$PLAIN/lab/pushed:a"
    [ "${lines[1]}" = "$(digest_at "$PLAIN/lab/pushed:a")" ]
    [ "${lines[0]}" = "$(skopeo inspect --raw --tls-verify=false "docker://$PLAIN/lab/pushed:a" |
        gojq -r .config.digest)" ]
    same "docker://$PLAIN/lab/pushed:a" "$IMAGES/old.tar"
    skopeo copy -q --src-tls-verify=false "docker://$PLAIN/lab/pushed:a" oci:copy:a
    same oci:copy:a "$IMAGES/old.tar"
}

@test "push: layers are gzip by default" {
    ok -q "$IMAGES/old.tar" "docker://$PLAIN/lab/gzip"
    [ "$(skopeo inspect --raw --tls-verify=false "docker://$PLAIN/lab/gzip:latest" |
        gojq -r '.layers[].mediaType')" = application/vnd.oci.image.layer.v1.tar+gzip ]
    ok -q --compression=zstd "$IMAGES/old.tar" "docker://$PLAIN/lab/zstd"
    [ "$(skopeo inspect --raw --tls-verify=false "docker://$PLAIN/lab/zstd" |
        gojq -r '.layers[].mediaType')" = application/vnd.oci.image.layer.v1.tar+zstd ]
}

@test "registry to registry: the second run uploads nothing" {
    local puts
    ok -q "docker://$PLAIN/lab/image:v1" "docker://$PLAIN/lab/image:flat"
    same "docker://$PLAIN/lab/image:flat" "$IMAGES/layout"
    puts=$(requests plain PUT "/lab/image/blobs/")
    [ "$puts" -gt 0 ]
    ok -q "docker://$PLAIN/lab/image:v1" "docker://$PLAIN/lab/image:again"
    [ "$(requests plain PUT "/lab/image/blobs/")" -eq "$puts" ]
    [ "$(digest_at "$PLAIN/lab/image:flat")" = "$(digest_at "$PLAIN/lab/image:again")" ]
}

@test "blobs are mounted from another repository of the registry instead of fetched again" {
    ok -q "docker://$PLAIN/lab/image:v1" "docker://$PLAIN/lab/flat:v1"
    ok -q --json "docker://$PLAIN/lab/flat:v1" "docker://$PLAIN/other/flat:v1"
    same "docker://$PLAIN/other/flat:v1" "$IMAGES/layout"
    digest=$(gojq -r .layer.digest <<<"$output")
    [ "$(requests plain POST "mount=sha256%3A${digest#sha256:}&from=lab%2Fflat")" -ge 1 ]
    [ "$(requests plain PUT "/other/flat/blobs/.*${digest#sha256:}")" -eq 0 ]
}

@test "--platform selects an image of an index" {
    skopeo copy -q --all --dest-tls-verify=false "oci:$IMAGES/layout" "docker://$PLAIN/lab/one:v1"
    python3 "$FLATTEN_LIB/push_index.py" "$PLAIN" lab/image v1 multi
    ok -q --platform=linux/arm64 "docker://$PLAIN/lab/image:multi" oci:out:flat
    fails 2 "linux/s390x" --platform=linux/s390x "docker://$PLAIN/lab/image:multi" oci:no
    [ ! -e no ]
}

@test "a missing image or repository is an error" {
    fails 2 "manifest unknown" "docker://$PLAIN/lab/image:v9" oci:x
    fails 2 "lab/nothing" "docker://$PLAIN/lab/nothing:v1" oci:x
    fails 2 "" "docker://$PLAIN/lab/image@sha256:$(printf 0%.0s {1..64})" oci:x
    fails 3 "Failed to connect" docker://127.0.0.1:1/lab/image oci:x
    [ -z "$(ls -A)" ]
}

@test "a source in a registry requires a destination" {
    fails 2 "docker://HOST/NAME:TAG" "docker://$PLAIN/lab/image:v1"
}

@test "a registry is not a file, and a digest is not a destination" {
    fails 2 "tag" "$IMAGES/old.tar" "docker://$PLAIN/lab/image@sha256:$(printf 0%.0s {1..64})"
    fails 2 "docker://" "$IMAGES/old.tar" "docker:$PLAIN/lab/image"
    fails 2 "capitals" "docker://$PLAIN/Lab/image" oci:x
}

# ---- TLS and a password ----

@test "TLS: a certificate of an unknown CA is refused, also with credentials" {
    unset SSL_CERT_FILE
    auth_file auth.json "$SECURE" lab secret
    REGISTRY_AUTH_FILE=$PWD/auth.json fails 3 "certificate" "docker://$SECURE/lab/image:v1" oci:x
    REGISTRY_AUTH_FILE=$PWD/auth.json fails 3 "certificate" "$IMAGES/old.tar" "docker://$SECURE/lab/new:v1"
    [ ! -e x ]
}

@test "TLS: SSL_CERT_FILE names the CA; --insecure accepts any" {
    auth_file auth.json "$SECURE" lab secret
    export REGISTRY_AUTH_FILE=$PWD/auth.json
    SSL_CERT_FILE=$CA ok -q "docker://$SECURE/lab/image:v1" oci:out:flat
    same oci:out:flat "$IMAGES/layout"
    ok -q --insecure "docker://$SECURE/lab/image:v1" oci:out:flat
    ok verify -q --insecure "docker://$SECURE/lab/image:v1" oci:out:flat
}

@test "--keep-base=IMAGE in a registry uses the same connection options as the source" {
    auth_file auth.json "$SECURE" lab secret
    export REGISTRY_AUTH_FILE=$PWD/auth.json
    skopeo copy -q --dest-tls-verify=false "oci:$IMAGES/base" "docker://$SECURE/lab/base:v1"
    fails 3 "certificate" -q --keep-base="docker://$SECURE/lab/base:v1" "oci:$IMAGES/stacked" oci:x
    ok -q --insecure --keep-base="docker://$SECURE/lab/base:v1" "oci:$IMAGES/stacked" oci:out:flat
    [ "$(skopeo inspect oci:out:flat | gojq '.Layers | length')" -eq 3 ]
}

@test "Basic: push and pull work" {
    auth_file auth.json "$SECURE" lab secret
    export REGISTRY_AUTH_FILE=$PWD/auth.json SSL_CERT_FILE=$CA
    ok -q "$IMAGES/old.tar" "docker://$SECURE/lab/flat:v1"
    same "docker://$SECURE/lab/flat:v1" "$IMAGES/old.tar"
    skopeo inspect --tls-verify=false --creds lab:secret "docker://$SECURE/lab/flat:v1" |
        gojq -e '.Layers | length == 1'
}

@test "Basic: missing or wrong credentials are an error, and the password is not printed" {
    export SSL_CERT_FILE=$CA
    fails 3 "log in first" "docker://$SECURE/lab/image:v1" oci:x
    fails 3 "log in first" "$IMAGES/old.tar" "docker://$SECURE/lab/image:v1"
    auth_file auth.json "$SECURE" lab wrong-one
    export REGISTRY_AUTH_FILE=$PWD/auth.json
    fails 3 "do not suffice" "docker://$SECURE/lab/image:v1" oci:x
    [[ $stderr != *wrong-one* ]]
    rm auth.json
    fails 3 "auth.json" "docker://$SECURE/lab/image:v1" oci:x
    [ -z "$(ls -A)" ]
}

@test "credentials: the files of skopeo login and docker login are read" {
    local -a files=("$XDG_RUNTIME_DIR/containers/auth.json" "$HOME/.config/containers/auth.json"
        "$HOME/.docker/config.json")
    export SSL_CERT_FILE=$CA
    for file in "${files[@]}"; do
        mkdir -p "${file%/*}"
        auth_file "$file" "$SECURE" lab secret
        ok -q "docker://$SECURE/lab/image:v1" oci:out:flat
        rm "$file"
    done
    DOCKER_CONFIG=$PWD/docker fails 3 "log in" "docker://$SECURE/lab/image:v1" oci:x
    mkdir docker
    auth_file docker/config.json "https://$SECURE/v2/" lab secret
    DOCKER_CONFIG=$PWD/docker ok -q "docker://$SECURE/lab/image:v1" oci:out:flat
}

@test "credentials: a file written by skopeo login is read" {
    skopeo login --tls-verify=false -u lab -p secret --authfile auth.json "$SECURE"
    REGISTRY_AUTH_FILE=$PWD/auth.json SSL_CERT_FILE=$CA \
        ok -q "docker://$SECURE/lab/image:v1" oci:out:flat
}

@test "credentials: a credential helper is run" {
    mkdir bin
    cat >bin/docker-credential-test <<'END'
#!/bin/sh
read -r server
echo "$1 $server" >>"$HOME/asked"
[ "$server" = "$KNOWN" ] || { echo "credentials not found in native keychain"; exit 1; }
echo '{"ServerURL":"x","Username":"lab","Secret":"secret"}'
END
    chmod +x bin/docker-credential-test
    echo '{"credsStore":"test"}' >config.json
    export PATH=$PWD/bin:$PATH DOCKER_CONFIG=$PWD SSL_CERT_FILE=$CA
    KNOWN=$SECURE ok -q "docker://$SECURE/lab/image:v1" oci:out:flat
    [ "$(sort -u "$HOME/asked")" = "get $SECURE" ]
    KNOWN=other fails 3 "log in first" "docker://$SECURE/lab/image:v1" oci:x
    printf '{"credHelpers":{"%s":"missing"}}' "$SECURE" >config.json
    fails 3 "docker-credential-missing" "docker://$SECURE/lab/image:v1" oci:x
    printf '{"credHelpers":{"%s":"../../bin/sh"}}' "$SECURE" >config.json
    fails 5 "not the name of a credential helper" "docker://$SECURE/lab/image:v1" oci:x
}

@test "credentials: a signal ends flatten, and a credential helper that hangs" {
    local when pid status
    mkdir bin
    cat >bin/docker-credential-test <<'END'
#!/bin/sh
echo $$ >"$HOME/hanging.new"
mv "$HOME/hanging.new" "$HOME/hanging"
[ "$WHEN" = before ] || exec >&-
exec sleep 3600
END
    chmod +x bin/docker-credential-test
    echo '{"credsStore":"test"}' >config.json
    export PATH=$PWD/bin:$PATH DOCKER_CONFIG=$PWD SSL_CERT_FILE=$CA
    for when in before after; do
        status=0
        WHEN=$when "$FLATTEN" -q "docker://$SECURE/lab/image:v1" oci:x >/dev/null 2>log 3>&- &
        pid=$!
        wait_until test -e "$HOME/hanging"
        kill -TERM "$pid"
        wait "$pid" || status=$?
        cat log
        [ "$status" -eq 143 ]
        ! kill -0 "$(cat "$HOME/hanging")" || return 1
        [ ! -e x ]
        rm "$HOME/hanging"
    done
}

# ---- oci-archive ----

@test "oci-archive: skopeo reads it, and flatten reads one of skopeo" {
    ok -q "$IMAGES/layout" oci-archive:out.tar:v1
    skopeo inspect oci-archive:out.tar:v1 | gojq -e '.Layers | length == 1'
    same oci-archive:out.tar:v1 "$IMAGES/layout"
    skopeo copy -q oci-archive:out.tar:v1 oci-archive:copy.tar:v2
    same oci-archive:copy.tar:v2 "$IMAGES/layout"
    same copy.tar "$IMAGES/layout" # the type is detected from the content
    fails 2 "no image named v3" oci-archive:copy.tar:v3 oci:x
}

@test "oci-archive: compressed files and pipes are read" {
    skopeo copy -q "oci:$IMAGES/layout" oci-archive:copy.tar:v2
    gzip -k copy.tar
    same oci-archive:copy.tar.gz:v2 "$IMAGES/layout"
    same copy.tar.gz "$IMAGES/layout"
    "$FLATTEN" verify -q - "$IMAGES/layout" <copy.tar.gz
    "$FLATTEN" verify -q oci-archive:- "$IMAGES/layout" <copy.tar
}

@test "oci-archive: no partial file is written" {
    cp "$IMAGES/old.tar" out.tar
    fails 6 "" "$IMAGES/bad-digest" oci-archive:out.tar
    cmp out.tar "$IMAGES/old.tar"
    [ "$(ls -A)" = out.tar ]
    fails 5 "what docker save writes: docker-archive:" oci-archive:"$IMAGES/old.tar" oci:x
    fails 2 "standard output" "$IMAGES/old.tar" oci-archive:-
}

@test "carve --family: images under their tags, with shared layers that are pushed once" {
    ok carve --family -q --verify --layer-size=20k "oci:$IMAGES/owned" "oci:$IMAGES/owned2" "docker://$PLAIN/lab/family:{tag}"
    same "oci:$IMAGES/owned" "docker://$PLAIN/lab/family:v1"
    same "oci:$IMAGES/owned2" "docker://$PLAIN/lab/family:v2"
    for tag in v1 v2; do
        skopeo inspect --raw --tls-verify=false "docker://$PLAIN/lab/family:$tag" | gojq -r '.layers[].digest' | sort >"$tag"
    done
    [ "$(comm -12 v1 v2 | wc -l)" -ge 3 ]
    [ "$(requests plain PUT lab/family/blobs/uploads)" -eq "$(($(sort -u v1 v2 | wc -l) + 2))" ] # and two configs
    [ "$(requests plain PUT lab/family/manifests)" -eq 2 ]
    # The sources may be in a registry; one that is not there publishes nothing.
    ok carve --family -q --layer-size=20k "docker://$PLAIN/lab/family:v1" "docker://$PLAIN/lab/family:v2" oci:out
    same "oci:$IMAGES/owned2" "oci:out:$PLAIN/lab/family:v2"
    fails 2 "docker://$PLAIN/lab/family:none: the manifest none" carve --family "oci:$IMAGES/owned3" "docker://$PLAIN/lab/family:none" "docker://$PLAIN/lab/family:{tag}"
    [ "$(requests plain PUT lab/family/manifests)" -eq 2 ]
}

@test "carve --like a member of a family: its layers are kept, by its inventory" {
    ok carve --family -q --layer-size=20k "oci:$IMAGES/owned" "oci:$IMAGES/owned3" "docker://$PLAIN/lab/like:{tag}"
    ok carve --layer-size=20k --like="docker://$PLAIN/lab/like:v1" "oci:$IMAGES/owned2" "docker://$PLAIN/lab/like:next"
    [[ $stderr == *"layers are kept"* && $stderr != *"inventory"* ]]
    same "oci:$IMAGES/owned2" "docker://$PLAIN/lab/like:next"
}

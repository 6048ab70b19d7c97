#!/usr/bin/env bats
# flatten with a registry that asks for tokens, is busy, breaks off, and lies.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load ../lib/flatten
load ../lib/mock
load ../lib/registry

setup_file() {
    mock_file_setup openssl && few_cas
}

# ---- tokens ----

@test "token: anonymous, for the scope of the repository, and used again" {
    mock token
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    [ "$(count '/token')" -eq 1 ]
    [ "$(cat "$MOCK/scopes")" = "['mock \"1\"'] ['repository:lab/image:pull']" ]
}

@test "token: with a password; wrong ones are told" {
    mock token
    auth "$HOST" "{\"auth\":\"$(printf lab:secret | base64)\"}"
    ok -q "$SOURCE" oci:out
    [ "$(count "/token.* Basic_$(printf lab:secret | base64)")" -eq 1 ]
    [ "$(count "/v2/.* Basic")" -eq 0 ]
    rm -r out
    auth "$HOST" "{\"auth\":\"$(printf lab:wrong | base64)\"}"
    fails 3 "credentials are refused" "$SOURCE" oci:out
}

@test "token: with an identity token, which nobody but the token server gets" {
    mock token
    auth "$HOST" '{"auth":"","identitytoken":"refresh-me"}'
    ok -q "$SOURCE" oci:out
    [ "$(count '^POST /token ')" -eq 1 ]
    ! grep -q refresh-me "$MOCK/log"
}

@test "token: a registry token is the bearer itself" {
    mock token
    auth "$HOST" '{"registrytoken":"stale"}'
    ok -q "$SOURCE" oci:out
    [ "$(count 'Bearer_stale')" -ge 1 ]
}

@test "token: one that runs out is renewed, by all threads together" {
    mock token once
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    [ "$(count '/token')" -gt 1 ]
}

@test "token: pushing asks for pull,push" {
    mock token
    ok -q "$IMAGES/old.tar" "docker://$HOST/lab/image:new"
    grep -q 'repository:lab/image:pull,push' "$MOCK/scopes"
    same "docker://$HOST/lab/image:new" "$IMAGES/old.tar"
}

@test "token: a line break in it, and a realm that is no web server" {
    mock token evil-token
    fails 5 "no token that can be used" "$SOURCE" oci:out
    [ "$(count X-Evil)" -eq 0 ]
    mock token ftp-realm
    fails 5 "ftp://" "$SOURCE" oci:out
}

@test "token: loopback's plain HTTP is no leave to send a password elsewhere in the clear" {
    auth "$HOST" "{\"auth\":\"$(printf lab:secret | base64)\"}"
    mock token away-realm
    fails 5 "which is not https" "$SOURCE" oci:out
    mock token
    ok -q "$SOURCE" oci:out
}

@test "credentials do not follow a redirect to another host" {
    mock token away
    auth "$HOST" "{\"auth\":\"$(printf lab:secret | base64)\"}"
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    [ "$(count '^GET /away/.* localhost:[0-9]* - ')" -gt 1 ]
    [ "$(count '/away/.*(Basic|Bearer)')" -eq 0 ]
}

@test "a client certificate goes where credentials go: to the token server, not to another host" {
    MOCK_TLS=$BATS_TEST_TMPDIR/tls
    mkdir "$MOCK_TLS" certs
    tls_make "$MOCK_TLS"
    tls_client "$MOCK_TLS" "$PWD/certs/client"
    cp "$MOCK_TLS/ca.pem" certs/ca.crt
    mock token away
    ok -q --cert-dir=certs "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    [ "$(count '^GET /away/')" -gt 1 ]
    grep -q '^127.0.0.1:[0-9]* /token' "$MOCK/shown"
    grep -q '^127.0.0.1:[0-9]* /v2/lab' "$MOCK/shown"
    [ "$(grep -c '^localhost' "$MOCK/shown")" -eq 0 ]
}

# ---- trouble that passes ----

@test "429 with Retry-After is waited for" {
    mock busy
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
}

@test "429 for a day is not" {
    mock later
    fails 3 "come back tomorrow" "$SOURCE" oci:out
    [ "$(count /manifests/)" -eq 1 ]
}

@test "503: as often as --retries says, then in the registry's words" {
    mock dead
    fails 3 "down for today (UNAVAILABLE)" --retries=2 "$SOURCE" oci:out
    [ "$(count /manifests/)" -eq 3 ]
    fails 3 "down for today" --retries=0 "$SOURCE" oci:out
    [ "$(count /manifests/)" -eq 4 ]
}

@test "a connection that breaks is resumed where it broke" {
    mock break
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    [ "$(count ' bytes=[1-9][0-9]*-$')" -ge 4 ]
    [ "$(count '/blobs/.* -$')" -eq "$(count ' bytes=')" ]
}

@test "a registry without Range is asked for all of it again" {
    mock break norange
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
}

@test "one that resumes elsewhere is an error" {
    mock break badrange
    fails 5 "another place" "$SOURCE" oci:out
}

@test "an upload that breaks is begun again" {
    mock drop-put
    ok -q "$IMAGES/old.tar" "docker://$HOST/lab/image:new"
    same "docker://$HOST/lab/image:new" "$IMAGES/old.tar"
    [ "$(count '^POST ')" -ge 3 ]
}

@test "503 where a broken blob is gone on with, and tokens that run out meanwhile" {
    mock break broken-resume token expiring
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    [ "$(count '/token')" -gt 1 ]
}

@test "Docker Hub's limit, in its words" {
    mock hub
    fails 3 "You have reached your pull rate limit" --retries=1 "$SOURCE" oci:out
    [[ $stderr == *"(TOOMANYREQUESTS)"* ]]
    [ "$(count /manifests/)" -eq 2 ]
}

@test "a blob that is not taken over from another repository is uploaded, once" {
    mock no-mount
    ok -q "$SOURCE" "docker://$HOST/other/image:new"
    [ "$(count '^POST /v2/other/image/blobs/uploads/\?mount=')" -eq 2 ] # the layer, the config
    [ "$(count '^DELETE /v2/upload/')" -eq 3 ] # what they opened instead, and the probe
    [ "$(count '^PUT /v2/upload/')" -eq 2 ]
}

@test "--keep-base=IMAGE: nothing is fetched to compare but the manifest and the config" {
    mock
    ok -q --keep-base="$SOURCE" "oci:$IMAGES/layout" oci:out:flat
    same oci:out:flat "$IMAGES/layout"
    [ "$(count '^GET /v2/lab/image/manifests/')" -eq 1 ]
    [ "$(count '^GET /v2/lab/image/blobs/')" -eq 1 ]
    [ "$(jq '.layers | length' "$(manifest_of out)")" -eq \
        "$(jq '.layers | length' "$(manifest_of "$IMAGES/layout")")" ]
}

@test "a password in a reference is refused, and not shown" {
    mock
    local word
    for word in "docker://lab:hidden@$HOST/lab/image:v1" "docker://hidden@$HOST/lab/image" \
        "https://lab:hidden@$HOST/lab/image" "lab:hidden@$HOST/lab/image"; do
        fails 2 "skopeo login" "$word" oci:out
        [[ $stderr != *hidden* ]]
        fails 2 "skopeo login" --keep-base="$word" "$IMAGES/old.tar" oci:out
        [[ $stderr != *hidden* ]]
        fails 2 "skopeo login" "$IMAGES/old.tar" "$word"
        [[ $stderr != *hidden* ]]
    done
    [ ! -s "$MOCK/log" ]
}

# ---- lies ----

@test "content that is not its digest, too short, or without an end" {
    mock flip
    fails 6 "sha256:" "$SOURCE" oci:out
    mock short
    fails 6 "bytes, not" "$SOURCE" oci:out
    mock endless
    fails 6 "more than the" "$SOURCE" oci:out
}

@test "manifests: another digest than said, or asked for" {
    mock liar
    fails 6 "the registry says" "$SOURCE" oci:out
    mock put-liar
    fails 6 "stored the manifest" "$IMAGES/old.tar" "docker://$HOST/lab/image:new"
}

@test "100 MB of JSON, megabytes of headers, a loop of redirects" {
    mock bigjson
    fails 7 "more than 8388608 bytes" "$SOURCE" oci:out
    mock headers
    fails 7 "headers" "$SOURCE" oci:out
    mock loop
    fails 7 "redirects" "$SOURCE" oci:out
}

@test "a web page is no registry" {
    mock html
    fails 5 "web page" "$SOURCE" oci:out
}

@test "an error that is not JSON is bounded and cannot steer a terminal" {
    mock plain-errors
    fails 3 "HTTP status 501" "$SOURCE" oci:out
    [[ $stderr != *$'\x1b'* ]]
}

@test "sizes that lie" {
    mock_manifest '.layers[0].size += 1'
    mock
    fails 6 "layer 1" "$SOURCE" oci:out
}

@test "sizes that nothing can have" {
    mock_manifest '.layers[0].size = 9223372036854775807'
    mock
    fails 7 "too large" "$SOURCE" oci:out
}

@test "digests that are paths are asked of nobody" {
    mock_manifest '.layers[0].digest = "sha256:../../../../etc/passwd"'
    mock
    fails 5 "no sha256 digest" "$SOURCE" oci:out
    [ "$(count passwd)" -eq 0 ]
}

@test "layers that registries have no copy of" {
    mock_manifest '.layers[0].mediaType = "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip"'
    mock
    fails 8 "layer 1: it is not distributable" "$SOURCE" oci:out
}

@test "a manifest that is an index as well, and one of schema 1" {
    mock_manifest '.manifests = []'
    mock
    fails 5 "at once" "$SOURCE" oci:out
}

@test "a layer that occurs twice is fetched once" {
    mock_manifest '.layers[1] = .layers[0]'
    mock
    fails 6 "layer 2" "$SOURCE" oci:out # its diff_id is another
    [ "$(count "/blobs/$(jq -r '.layers[0].digest' "$MOCK/root.json")")" -eq 1 ]
}

@test "nothing is published when an upload is refused" {
    mock
    ok -q "$IMAGES/old.tar" "docker://$HOST/lab/image:new"
    mock dead
    fails 3 "down for today" --retries=0 "$IMAGES/new.tar" "docker://$HOST/lab/image:other"
    [ "$(count 'PUT .*/manifests/other')" -eq 0 ]
    : >"$MOCK/log"
    fails 3 "down for today" --retries=2 "$IMAGES/new.tar" "docker://$HOST/lab/image:other"
    [ "$(count '^POST ')" -eq 3 ]
}

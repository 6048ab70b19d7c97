#!/usr/bin/env bats
# flatten with a registry that requires tokens, is busy, breaks connections, and sends false data.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load ../lib/flatten
load ../lib/mock
load ../lib/registry

setup_file() {
    mock_file_setup openssl && few_cas
}

# ---- tokens ----

@test "token: an anonymous token for the scope of the repository is used again" {
    mock token
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    [ "$(count '/token')" -eq 1 ]
    [ "$(cat "$MOCK/scopes")" = "['mock \"1\"'] ['repository:lab/image:pull']" ]
}

@test "token: a password gets a token, and a wrong password is an error" {
    mock token
    auth "$HOST" "{\"auth\":\"$(printf lab:secret | base64)\"}"
    ok -q "$SOURCE" oci:out
    [ "$(count "/token.* Basic_$(printf lab:secret | base64)")" -eq 1 ]
    [ "$(count "/v2/.* Basic")" -eq 0 ]
    rm -r out
    auth "$HOST" "{\"auth\":\"$(printf lab:wrong | base64)\"}"
    fails 3 "credentials are refused" "$SOURCE" oci:out
}

@test "token: an identity token is sent to the token server only" {
    mock token
    auth "$HOST" '{"auth":"","identitytoken":"refresh-me"}'
    ok -q "$SOURCE" oci:out
    [ "$(count '^POST /token ')" -eq 1 ]
    ! grep -q refresh-me "$MOCK/log"
}

@test "token: a registry token is sent as the bearer token" {
    mock token
    auth "$HOST" '{"registrytoken":"stale"}'
    ok -q "$SOURCE" oci:out
    [ "$(count 'Bearer_stale')" -ge 1 ]
}

@test "token: an expired token is renewed once for all threads" {
    mock token once
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    [ "$(count '/token')" -gt 1 ]
}

@test "token: a push requests the scope pull,push" {
    mock token
    ok -q "$IMAGES/old.tar" "docker://$HOST/lab/image:new"
    grep -q 'repository:lab/image:pull,push' "$MOCK/scopes"
    same "docker://$HOST/lab/image:new" "$IMAGES/old.tar"
}

@test "token: a line break in a token, and a realm that is not a web server, are refused" {
    mock token evil-token
    fails 5 "no token that can be used" "$SOURCE" oci:out
    [ "$(count X-Evil)" -eq 0 ]
    mock token ftp-realm
    fails 5 "ftp://" "$SOURCE" oci:out
}

@test "token: a password used with plain HTTP on loopback is not sent unencrypted to another host" {
    auth "$HOST" "{\"auth\":\"$(printf lab:secret | base64)\"}"
    mock token away-realm
    fails 5 "without a user name" "$SOURCE" oci:out
    mock token
    ok -q "$SOURCE" oci:out
}

@test "credentials are not sent to another host after a redirect" {
    mock token away
    auth "$HOST" "{\"auth\":\"$(printf lab:secret | base64)\"}"
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    [ "$(count '^GET /away/.* localhost:[0-9]* - ')" -gt 1 ]
    [ "$(count '/away/.*(Basic|Bearer)')" -eq 0 ]
}

@test "a client certificate is used for the token server, not for other hosts" {
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

# ---- temporary errors ----

@test "after 429 flatten waits as long as Retry-After says" {
    mock busy
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
}

@test "a Retry-After of a day is not waited for" {
    mock later
    fails 3 "come back tomorrow" "$SOURCE" oci:out
    [ "$(count /manifests/)" -eq 1 ]
}

@test "503 is retried as often as --retries says, then reported with the message of the registry" {
    mock dead
    fails 3 "down for today (UNAVAILABLE)" --retries=2 "$SOURCE" oci:out
    [ "$(count /manifests/)" -eq 3 ]
    fails 3 "down for today" --retries=0 "$SOURCE" oci:out
    [ "$(count /manifests/)" -eq 4 ]
}

@test "a download that breaks is resumed at the same byte" {
    mock break
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    [ "$(count ' bytes=[1-9][0-9]*-$')" -ge 4 ]
    [ "$(count '/blobs/.* -$')" -eq "$(count ' bytes=')" ]
}

@test "without support for Range the whole blob is requested again" {
    mock break norange
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
}

@test "a resume at another byte is an error" {
    mock break badrange
    fails 5 "another place" "$SOURCE" oci:out
}

@test "an upload that breaks is started again" {
    mock drop-put
    ok -q "$IMAGES/old.tar" "docker://$HOST/lab/image:new"
    same "docker://$HOST/lab/image:new" "$IMAGES/old.tar"
    [ "$(count '^POST ')" -ge 3 ]
}

@test "503 on the resume of a blob and tokens that expire are handled together" {
    mock break broken-resume token expiring
    ok -q "$SOURCE" oci:out
    same oci:out "$IMAGES/layout"
    [ "$(count '/token')" -gt 1 ]
}

@test "the limit of Docker Hub is reported with its message" {
    mock hub
    fails 3 "You have reached your pull rate limit" --retries=1 "$SOURCE" oci:out
    [[ $stderr == *"(TOOMANYREQUESTS)"* ]]
    [ "$(count /manifests/)" -eq 2 ]
}

@test "a blob that cannot be mounted from another repository is uploaded once" {
    mock no-mount
    ok -q "$SOURCE" "docker://$HOST/other/image:new"
    [ "$(count '^POST /v2/other/image/blobs/uploads/\?mount=')" -eq 2 ] # for the layer and the config
    [ "$(count '^DELETE /v2/upload/')" -eq 3 ] # two uploads opened instead of a mount, and the probe
    [ "$(count '^PUT /v2/upload/')" -eq 2 ]
}

@test "--keep-base=IMAGE fetches only the manifest and the config for comparison" {
    mock
    ok -q --keep-base="$SOURCE" "oci:$IMAGES/layout" oci:out:flat
    same oci:out:flat "$IMAGES/layout"
    [ "$(count '^GET /v2/lab/image/manifests/')" -eq 1 ]
    [ "$(count '^GET /v2/lab/image/blobs/')" -eq 1 ]
    [ "$(gojq '.layers | length' "$(manifest_of out)")" -eq \
        "$(gojq '.layers | length' "$(manifest_of "$IMAGES/layout")")" ]
}

@test "a password in a reference is refused, and not printed" {
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

# ---- false data ----

@test "content with a wrong digest, too short or without an end is an error" {
    mock flip
    fails 6 "sha256:" "$SOURCE" oci:out
    mock short
    fails 6 "bytes, not" "$SOURCE" oci:out
    mock endless
    fails 6 "more than the" "$SOURCE" oci:out
}

@test "a manifest with another digest than announced or requested is an error" {
    mock liar
    fails 6 "the registry says" "$SOURCE" oci:out
    mock put-liar
    fails 6 "stored the manifest" "$IMAGES/old.tar" "docker://$HOST/lab/image:new"
}

@test "100 MB of JSON, megabytes of headers and a loop of redirects are refused" {
    mock bigjson
    fails 7 "more than 8388608 bytes" "$SOURCE" oci:out
    mock headers
    fails 7 "headers" "$SOURCE" oci:out
    mock loop
    fails 7 "redirects" "$SOURCE" oci:out
}

@test "a web page instead of a registry is an error" {
    mock html
    fails 5 "web page" "$SOURCE" oci:out
}

@test "an error reply that is not JSON is shortened, and its control characters are not printed" {
    mock plain-errors
    fails 3 "HTTP status 501" "$SOURCE" oci:out
    [[ $stderr != *$'\x1b'* ]]
}

@test "a wrong size in a manifest is an error" {
    mock_manifest '.layers[0].size += 1'
    mock
    fails 6 "layer 1" "$SOURCE" oci:out
}

@test "an impossible size in a manifest is an error" {
    mock_manifest '.layers[0].size = 9223372036854775807'
    mock
    fails 7 "too large" "$SOURCE" oci:out
}

@test "a digest with a path is refused without a request" {
    mock_manifest '.layers[0].digest = "sha256:../../../../etc/passwd"'
    mock
    fails 5 "no sha256 digest" "$SOURCE" oci:out
    [ "$(count passwd)" -eq 0 ]
}

@test "layers that may not be distributed are an error" {
    mock_manifest '.layers[0].mediaType = "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip"'
    mock
    fails 8 "layer 1: it is not distributable" "$SOURCE" oci:out
}

@test "a manifest that is also an index is refused" {
    mock_manifest '.manifests = []'
    mock
    fails 5 "at once" "$SOURCE" oci:out
}

@test "a layer that occurs twice is fetched once" {
    mock_manifest '.layers[1] = .layers[0]'
    mock
    fails 6 "layer 2" "$SOURCE" oci:out # its diff_id differs
    [ "$(count "/blobs/$(gojq -r '.layers[0].digest' "$MOCK/root.json")")" -eq 1 ]
}

@test "no manifest is pushed after a refused upload" {
    mock
    ok -q "$IMAGES/old.tar" "docker://$HOST/lab/image:new"
    mock dead
    fails 3 "down for today" --retries=0 "$IMAGES/new.tar" "docker://$HOST/lab/image:other"
    [ "$(count 'PUT .*/manifests/other')" -eq 0 ]
    : >"$MOCK/log"
    fails 3 "down for today" --retries=2 "$IMAGES/new.tar" "docker://$HOST/lab/image:other"
    [ "$(count '^POST ')" -eq 3 ]
}

@test "a signal while the registry stores the manifest: the message says that the image may be published" {
    local pid status=0
    mock mute
    "$FLATTEN" -q "$IMAGES/old.tar" "docker://$HOST/lab/new:v1" >/dev/null 2>log 3>&- &
    pid=$!
    wait_until test -s "$MOCK/tags"
    kill -TERM $pid
    wait $pid || status=$?
    cat log
    [ "$status" -eq 143 ]
    grep -q "stopped by signal 15; the new image may have been published" log
}

@test "a push ends with the command that pulls the image" {
    mock
    ok "$IMAGES/old.tar" "docker://$HOST/lab/new"
    [[ ${stderr_lines[-2]} == "flatten: wrote the image ("*") to the registry, as $HOST/lab/new:latest" ]]
    [ "${stderr_lines[-1]}" = "flatten: next: docker pull $HOST/lab/new:latest" ]
}

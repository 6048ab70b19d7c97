#!/usr/bin/env bats
# flatten pushing large layers in chunks, to a registry that breaks connections, loses uploads and refuses.
# shellcheck disable=SC2034,SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load ../lib/flatten
load ../lib/mock
load ../lib/registry

setup_file() {
    mock_file_setup docker-registry openssl
    few_cas
    export LARGE=$BATS_FILE_TMPDIR/large.tar
    python3 "$FLATTEN_LIB/large_image.py" "$LARGE" 100
    # The digest that each push must give; its tree is checked once.
    DIGEST=$("$FLATTEN" -q --compression=none "$LARGE" "oci:$BATS_FILE_TMPDIR/flat" | tail -n 1)
    export DIGEST
    same "oci:$BATS_FILE_TMPDIR/flat" "$LARGE"
}

teardown_file() { registry_stop_all "$BATS_FILE_TMPDIR"; }

# pushes: the large image arrives complete. The mock accepts a manifest only if all its blobs are there.
pushes() {
    : >"$MOCK/log"
    ok -q --compression=none "$LARGE" "docker://$HOST/lab/image:new"
    [ "$(tail -n 1 "$MOCK/tags")" = "new $DIGEST" ]
}

# chunks: prints the offset of each chunk that was sent, in MiB.
chunks() { sed -n 's|^PATCH .* \([0-9]*\)-[0-9]*$|\1|p' "$MOCK/log" | awk '{ print int($1 / 1048576) }' | xargs; }

@test "a large layer goes in chunks of 64 MiB, in order; a small one goes in one piece" {
    mock
    pushes
    [ "$(chunks)" = "0 64" ]
    [ "$(count '^PUT .*/upload/')" -eq 2 ] # the last request of the layer, and the config
    [ "$(count '^GET .*/upload/')" -eq 0 ]
}

@test "after a broken connection the registry is asked for its offset, and gets the rest" {
    mock cut-patch
    pushes
    [ "$(chunks)" = "0 64 82" ]
    [ "$(count '^GET .*/upload/')" -eq 1 ]
    [ "$(count '^POST ')" -eq 3 ] # the probe, the layer, the config
}

@test "after 416 the upload continues at the offset of the registry" {
    mock forgetful
    pushes
    [ "$(chunks)" = "0 64 32 96" ]
}

@test "an upload continues if the registry took a part of a chunk, or reports an offset that is too large" {
    mock partial
    pushes
    [ "$(count '^GET .*/upload/')" -eq 0 ]
    mock boastful
    ok -q --compression=none -l 1 "$LARGE" "docker://$HOST/lab/image:new"
    same "docker://$HOST/lab/image:new" "$LARGE"
}

@test "an upload that the registry lost is started again" {
    mock amnesia
    pushes
    [ "$(chunks)" = "0 64 0 64" ]
}

@test "an upload that the registry lost after many chunks is started again" {
    mock middling late-amnesia
    pushes
    [ "$(count '^PATCH')" -gt 85 ]
}

@test "413 makes the chunks smaller, also for the next blob" {
    mock small
    pushes
    [ "$(chunks)" = "0 0 0 0 8 16 24 32 40 48 56 64 72 80 88 96" ]
}

@test "413 for every size is an error, and no manifest is pushed" {
    mock tiny
    fails 3 "413" --compression=none "$LARGE" "docker://$HOST/lab/image:new"
    [ "$(count manifests)" -eq 0 ]
    [ "$(count '^PATCH')" -lt 12 ]
}

@test "a registry without support for chunks gets one piece" {
    mock no-patch
    pushes
    [ "$(chunks)" = "0" ]
}

@test "a registry with a large minimum size of chunks gets large chunks" {
    mock large-chunks
    pushes
    [ "$(chunks)" = "0 95" ]
}

@test "a registry that accepts no byte of a chunk gets one piece, and the retries are limited" {
    mock stuck tiny-put
    fails 3 "HTTP status 413" --compression=none "$LARGE" "docker://$HOST/lab/image:new"
    [ "$(count '^PUT .*/manifests/')" -eq 0 ]
    mock stuck
    pushes
    [ "$(count '^PATCH')" -lt 30 ]
}

@test "a blob whose final reply was lost is not sent again" {
    mock lost-reply
    pushes
    [ "$(chunks)" = "0 64" ]
}

@test "the layers of carve are uploaded side by side, and the manifest comes last" {
    mock together
    ok carve -q --layers=4 "$IMAGES/old.tar" "docker://$HOST/lab/image:new"
    same "docker://$HOST/lab/image:new" "$IMAGES/old.tar"
    [ "$(count '^PUT .*/upload/')" -ge 3 ] # two layers at least, and the config
    [[ $(tail -n 1 "$MOCK/tags") == "new "* ]]
}

# amd64 and arm/v7 have the same base. The first layer is still on its way when the others come.
@test "a layer that two platforms have is uploaded once" {
    mock slow-put
    ok -q --keep-base=1 "oci:$IMAGES/platforms" "docker://$HOST/lab/image:new"
    sed -n 's/^PUT .*digest=\([^ ]*\).*/\1/p' "$MOCK/log" | sort >digests
    [ "$(wc -l <digests)" -ge 6 ]
    [ -z "$(uniq -d digests)" ]
}

@test "a signal while a layer is uploaded says that nothing was published" {
    local pid status=0
    mock together
    "$FLATTEN" -q "$IMAGES/old.tar" "docker://$HOST/lab/new:v1" >/dev/null 2>log 3>&- &
    pid=$!
    wait_until grep -q '^PUT ' "$MOCK/log"
    kill -TERM $pid
    wait $pid || status=$?
    cat log
    [ "$status" -eq 143 ]
    grep -q "stopped by signal 15; nothing was published" log
    [ "$(count '^PUT .*/manifests/')" -eq 0 ]
}

@test "a layer that is refused ends the uploads of the others, and no manifest is put" {
    mock refuse-put
    fails 2 "uploading sha256:" carve -q --layers=4 "$IMAGES/old.tar" "docker://$HOST/lab/image:new"
    [[ $stderr == *"not this one (BLOB_UPLOAD_INVALID)"* ]]
    [ "$(count '^PUT .*/manifests/')" -eq 0 ]
    local upload
    for ((upload = 1; upload <= $(count '^POST '); upload++)); do
        grep -qE "^(PUT|DELETE) /v2/upload/$upload\?" "$MOCK/log" # complete, or cancelled
    done
    [ "$(count '^DELETE ')" -ge 2 ] # the probe, and the layer that was refused
}

@test "503 between chunks and tokens that expire are handled" {
    mock token expiring busy-patch
    pushes
    [ "$(count /token)" -gt 2 ]
}

@test "a push to a real registry through a connection that breaks succeeds" {
    registry_start_tls "$BATS_FILE_TMPDIR/tls" lab secret
    local name=registry.invalid:${REGISTRY#*:}
    printf '{"auths":{"%s":{"auth":"%s"}}}' "$name" "$(printf lab:secret | base64)" >auth.json
    export REGISTRY_AUTH_FILE=$PWD/auth.json SSL_CERT_FILE=$BATS_FILE_TMPDIR/tls/ca.pem
    python3 "$FLATTEN_LIB/servers/proxy.py" "$PWD/proxy" connect cut 100000000 >proxy.out 2>&1 \
        </dev/null 3>&- &
    MOCK_PID=$!
    wait_until test -e proxy.port
    HTTPS_PROXY=http://127.0.0.1:$(cat proxy.port)
    export HTTPS_PROXY
    : >"$MOCK/log"
    ok -q --compression=none "$LARGE" "docker://$name/lab/large:1"
    same "docker://$name/lab/large:1" "$LARGE"
    [ "$(wc -l <proxy.log)" -ge 2 ] # shows that the connection broke
    [ "$(grep -c '"PATCH ' "$BATS_FILE_TMPDIR/tls/log")" -ge 3 ]
}

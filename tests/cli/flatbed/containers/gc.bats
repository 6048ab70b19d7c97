#!/usr/bin/env bats
# Names of containers in the sources of volumes, and flatbed gc, which removes those that stayed empty.
# $FLATBED and $FLATBED_RUNTIME are the programs.
#
# shellcheck disable=SC2154  # status and stderr are set by bats' run

bats_require_minimum_version 1.5.0

ID=069f8087cff1e03257a1d8f3edcbb9412f664b3189467ef71ba1e5044283ecf3
OTHER=2276fee25a45fb414f756f229e0449acc7cb64f4e607f3f171b152bcaf7fdff6

setup() {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-gc.XXXXXX")
    chmod 0755 "$DIR"
    BUNDLE=$DIR/bundle
    mkdir -p "$BUNDLE" "$DIR/logs" "$DIR/cache"
    printf '#!/bin/sh\ncp "%s/config.json" "%s/low.config"\n' "$BUNDLE" "$DIR" >"$DIR/low"
    chmod 0755 "$DIR/low"
    policy '{container_name}'
    config '{}'
    unset FLATBED_DEPTH
}

teardown() {
    [ -n "${DIR-}" ] || return 0
    ! mountpoint -q "$DIR/mnt" || umount "$DIR/mnt"
    rm -rf --one-file-system "$DIR"
}

# policy LAST-PART
policy() {
    cat >"$DIR/policy.json" <<END
{ "version": 1, "runtime": { "paths": ["$DIR/low"] },
  "volumes": {
    "logs": { "source": "$DIR/logs/{user}/$1", "target": "/logs", "access": "rw", "always": true, "create": { "mode": "0750" } } },
  "profiles": [ { "name": "same", "match": { "uid": ["7"] } } ] }
END
    chmod 0644 "$DIR/policy.json"
}

# config ANNOTATIONS
config() {
    echo '{ "ociVersion": "1.0.2", "process": { "user": { "uid": 1234, "gid": 1234 } }, "mounts": [], "annotations": '"$1 }" >"$BUNDLE/config.json"
}

create() { run --separate-stderr "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" "${1-$ID}"; }

source_is() {
    echo "status $status: $stderr"
    [ "$status" -eq 0 ]
    [ "$(gojq -r '.mounts[0].source' "$BUNDLE/config.json")" = "$DIR/logs/1234/$1" ]
    [ -d "$DIR/logs/1234/$1" ]
}

# gc ARGS…: without the lines about launches elsewhere on this host.
gc() {
    run "$FLATBED" gc "--policy=$DIR/policy.json" --cache "$DIR/no-cache" "$@"
    [ "${output:0:1}" = '{' ] || output=$(grep -F "$DIR" <<<"$output" || true)
}

@test "a container is named by the engine, by its own ID, or by day and short ID" {
    local before
    touch -d 2026-02-03T12:00:00Z "$BUNDLE/config.json"
    create
    source_is 2026-02-03_069f8087cff1
    # A second edit, on another day, and explain come to the same.
    before=$(sha256sum <"$BUNDLE/config.json")
    create
    [ "$(sha256sum <"$BUNDLE/config.json")" = "$before" ]
    run "$FLATBED" explain "--policy=$DIR/policy.json" --config "$BUNDLE/config.json" --id "$ID"
    [[ $output == *"$DIR/logs/1234/2026-02-03_069f8087cff1"* ]]
    [ "$(find "$DIR/logs/1234" -mindepth 1 | wc -l)" = 1 ]
    config '{}'
    create train-7
    source_is train-7
    config '{ "io.kubernetes.cri.sandbox-name": "pod", "io.kubernetes.cri.container-name": "main" }'
    create
    source_is pod_main
    config '{ "nerdctl/name": "web" }'
    create
    source_is web
    config '{ "nerdctl/name": "../../../etc" }'
    touch -d 2026-02-03T12:00:00Z "$BUNDLE/config.json"
    create
    source_is 2026-02-03_069f8087cff1
}

@test "gc removes empty directories of containers that ended, and no others" {
    local at=$DIR/logs/1234 name
    mkdir -p "$at"/{2026-02-03_069f8087cff1,2026-02-03_0123456789ab/deep,2026-02-03_111111111111,2026-02-03_222222222222,train-7,"$ID"} \
        "$at/2026-02-03_069f8087cff1x" "$DIR/elsewhere/2026-02-03_333333333333" "$DIR/mnt"
    echo text >"$at/2026-02-03_111111111111/log"
    ln -s "$DIR/elsewhere" "$DIR/logs/link"
    ln -s "$DIR/elsewhere/2026-02-03_333333333333" "$at/2026-02-03_333333333333"
    touch "$at/2026-02-03_444444444444"
    mount --bind "$at/2026-02-03_222222222222" "$DIR/mnt"
    gc
    [ "$status" -eq 0 ]
    [ -z "$output" ] # too young
    touch -h -d '2 hours ago' "$at"/* "$DIR"/elsewhere/*
    gc --dry-run
    [ "$output" = "would remove $at/069f8087cff1e03257a1d8f3edcbb9412f664b3189467ef71ba1e5044283ecf3: empty
would remove $at/2026-02-03_069f8087cff1: empty" ] || [ "$output" = "would remove $at/2026-02-03_069f8087cff1: empty
would remove $at/069f8087cff1e03257a1d8f3edcbb9412f664b3189467ef71ba1e5044283ecf3: empty" ]
    [ -d "$at/$ID" ]
    gc --json
    [ "$(gojq -c '.directories | length' <<<"$output")" = 2 ]
    [ ! -e "$at/$ID" ]
    [ ! -e "$at/2026-02-03_069f8087cff1" ]
    for name in 2026-02-03_0123456789ab/deep 2026-02-03_111111111111/log 2026-02-03_222222222222 2026-02-03_333333333333 \
        2026-02-03_444444444444 train-7 2026-02-03_069f8087cff1x; do
        [ -e "$at/$name" ]
    done
    [ -d "$DIR/elsewhere/2026-02-03_333333333333" ]
    umount "$DIR/mnt"
    gc
    [ "$output" = "removed $at/2026-02-03_222222222222: empty" ]
}

@test "gc: what hinders one part does not keep the others from their work" {
    local empty=$DIR/logs/1234/2026-02-03_069f8087cff1
    mkdir -p "$empty"
    touch -d '2 hours ago' "$empty"
    mkdir -m 0777 "$DIR/open"
    sed -i 's|"volumes": {|&"data": {"source": "/srv/{name}", "target": "/data", "stage": {"cache": "'"$DIR/open"'"} },|' "$DIR/policy.json"
    run "$FLATBED" gc "--policy=$DIR/policy.json" --cache "$DIR/no-cache"
    [ "$status" -eq 9 ]
    [[ $output == *"$DIR/open"*"only root"* ]]
    [[ $output == *"removed $empty: empty"* ]]
    [ ! -e "$empty" ]
}

@test "gc leaves sources that the policy does not create or that do not end in a container, and reads no policy with --cache alone" {
    mkdir -p "$DIR/logs/1234/$ID/x" "$DIR/logs/1234/$OTHER"
    touch -d '2 hours ago' "$DIR/logs/1234"/*/ "$DIR/logs/1234/$ID/x"
    policy '{container}/x'
    gc
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    policy '{container}'
    sed -i 's/, "create": { "mode": "0750" }//' "$DIR/policy.json"
    gc
    [ -z "$output" ]
    policy '{container}'
    run "$FLATBED" gc --cache "$DIR/no-cache"
    [[ $output != *"$DIR"* ]]
    gc
    [ "$output" = "removed $DIR/logs/1234/$OTHER: empty" ]
    chmod 0666 "$DIR/policy.json"
    gc
    [ "$status" -eq 9 ]
    [[ $output == *writable* ]]
}

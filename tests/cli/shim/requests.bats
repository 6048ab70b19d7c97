#!/usr/bin/env bats
# flatbed-runtime: the ways to request volumes.

load lib/shim

# ask_by CARRIERS: the policy accepts these carriers, and config.json requests by mounts and by a variable.
ask_by() {
    policy
    sed -i "s|\"version\": 1,|\"version\": 1, \"requests\": [$1],|" "$DIR/policy.json"
    config "$BUNDLE"
    annotate ""
    sed -i '/annotations/d; s|"A=1"|"A=1", "FLATBED_DATA=imagenet:/by/variable"|' "$BUNDLE/config.json"
    gojq -c '.mounts += [{"destination":"/run/flatbed/request/data/imagenet","source":"/dev/null","type":"bind","options":["rbind"]}]' \
        "$BUNDLE/config.json" >"$DIR/new.json"
    cp "$DIR/new.json" "$BUNDLE/config.json"
}

destinations() { gojq -c '[.mounts[].destination]' "$BUNDLE/config.json"; }

@test "/dev/null mounts request a volume and are removed; a second edit and a stacked one have the same result" {
    local before
    ask_by '"mounts"'
    run shim create --bundle "$BUNDLE" c1
    [ "$(destinations)" = '["/proc","/logs","/work/imagenet"]' ]
    [ "$(gojq -r '.annotations["flatbed.requested"]' "$BUNDLE/config.json")" = data/imagenet ]
    before=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    untouched "$before"
}

@test "a pinned volume requested by a mount is pinned in a second run as well" {
    as_root
    mkdir -p "$DIR/home/alice/imagenet"
    chown -R 12345 "$DIR/home/alice"
    ask_by '"mounts"'
    sed -i "s|$DIR/srv/data/{name}|$DIR/home/alice/{name}|" "$DIR/policy.json"
    printf '#!/bin/sh\nls -d /run/flatbed/pin/data:imagenet\n' >"$DIR/low"
    for _ in 1 2; do
        run shim create --bundle "$BUNDLE" c1
        [ "$output" = /run/flatbed/pin/data:imagenet ]
    done
}

@test "variables request a volume and are kept" {
    ask_by '"environment"'
    run shim create --bundle "$BUNDLE" c1
    [ "$(destinations)" = '["/proc","/run/flatbed/request/data/imagenet","/logs","/by/variable"]' ]
    grep -q FLATBED_DATA= "$BUNDLE/config.json"
}

@test "the first carrier that names a class decides" {
    ask_by '"mounts", "environment"'
    run shim create --bundle "$BUNDLE" c1
    [ "$(destinations)" = '["/proc","/logs","/work/imagenet"]' ]
    ask_by '"environment", "mounts"'
    run shim create --bundle "$BUNDLE" c1
    [ "$(destinations)" = '["/proc","/logs","/by/variable"]' ]
}

@test "without \"requests\", annotations and mounts are carriers, and variables are not" {
    ask_by '"mounts"'
    policy
    run shim create --bundle "$BUNDLE" c1
    [ "$(destinations)" = '["/proc","/logs","/work/imagenet"]' ]
    ask_by ''
    run shim create --bundle "$BUNDLE" c1
    [ "$(destinations)" = '["/proc","/run/flatbed/request/data/imagenet","/logs"]' ]
}

@test "a refusal names the variable or the mount" {
    ask_by '"environment"'
    sed -i 's|FLATBED_DATA=imagenet|FLATBED_DATA=secret|' "$BUNDLE/config.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "FLATBED_DATA: 'secret' is not offered"
    ask_by '"mounts"'
    sed -i 's|request/data/imagenet|request/data/secret|' "$BUNDLE/config.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "/run/flatbed/request/data/secret: 'secret' is not offered"
}

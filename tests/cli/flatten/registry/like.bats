#!/usr/bin/env bats
# flatten carve --like with a previous version in a registry: which of its layers are fetched, by the registry's log.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load ../lib/flatten
load ../lib/registry

setup_file() {
    export HOME=$BATS_FILE_TMPDIR/home
    export XDG_RUNTIME_DIR=$HOME/run
    unset REGISTRY_AUTH_FILE DOCKER_CONFIG XDG_CONFIG_HOME SSL_CERT_FILE SSL_CERT_DIR
    mkdir -p "$XDG_RUNTIME_DIR"
    make_images docker-registry openssl skopeo gojq zstd || return
    few_cas || return
    registry_start "$BATS_FILE_TMPDIR/plain"
    export PLAIN=$REGISTRY
    "$FLATTEN" carve -q --layer-size=20k "oci:$IMAGES/owned" "docker://$PLAIN/lab/app:1"
}

teardown_file() { registry_stop_all "$BATS_FILE_TMPDIR"; }

setup() {
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || return
    wc -l <"$BATS_FILE_TMPDIR/plain/log" >before
}

raw() { skopeo inspect --raw --tls-verify=false "docker://$PLAIN/$1"; }
layers_at() { raw "$1" | gojq -r '.layers[].digest'; }
kept() { comm -12 <(layers_at "$1" | sort) <(layers_at "$2" | sort) | wc -l; }

# Prints the digests of layers of the image at $1 that were fetched in this test.
fetched() {
    tail -n "+$(($(cat before) + 1))" "$BATS_FILE_TMPDIR/plain/log" | grep -o '"GET [^"]*/blobs/sha256:[0-9a-f]*' |
        grep -o 'sha256:.*' | sort -u | comm -12 - <(layers_at "$1" | sort -u)
}

# mark: from here on, fetched counts anew.
mark() { wc -l <"$BATS_FILE_TMPDIR/plain/log" >before; }

carve() { ok carve --layer-size=20k "$@"; }

# lie TEXT-OF-INVENTORY: pushes lab/app:1 with another inventory, as lab/app:lie.
lie() {
    rm -rf lie
    skopeo copy -q --src-tls-verify=false "docker://$PLAIN/lab/app:1" oci:lie:lie
    local old new
    old=$(gojq -r '.manifests[0].digest[7:]' lie/index.json)
    gojq -c --rawfile text "$1" '.annotations["dev.flatbed.carve.inventory"] = $text' "lie/blobs/sha256/$old" >manifest
    new=$(sha256sum <manifest | cut -d' ' -f1)
    mv manifest "lie/blobs/sha256/$new"
    gojq -c --arg d "sha256:$new" --argjson s "$(stat -c %s "lie/blobs/sha256/$new")" \
        '.manifests[0].digest = $d | .manifests[0].size = $s' lie/index.json >index
    mv index lie/index.json
    skopeo copy -q --preserve-digests --dest-tls-verify=false oci:lie:lie "docker://$PLAIN/lab/app:lie"
}

inventory_of() { raw "$1" | gojq -rj '.annotations["dev.flatbed.carve.inventory"]'; }

@test "the next version in the same repository is made without any layer of the previous one" {
    carve -q "--like=docker://$PLAIN/lab/app:1" "oci:$IMAGES/owned2" "docker://$PLAIN/lab/app:2"
    [ -z "$(fetched lab/app:1)" ]
    same "docker://$PLAIN/lab/app:2" "oci:$IMAGES/owned2"
    [ "$(kept lab/app:1 lab/app:2)" -ge $(($(layers_at lab/app:1 | wc -l) - 2)) ]
    mark
    # From the inventory of a version that was made from one.
    carve -q "--like=docker://$PLAIN/lab/app:2" "oci:$IMAGES/owned3" "docker://$PLAIN/lab/app:3"
    [ -z "$(fetched lab/app:2)" ]
    same "docker://$PLAIN/lab/app:3" "oci:$IMAGES/owned3"
    [ "$(kept lab/app:2 lab/app:3)" -ge 1 ]
}

@test "links, removals and other images are exact, and the layers are those of a run that reads them" {
    local n=0
    for pair in owned:owned-link owned:stacked stacked:base python:waste waste:python; do
        n=$((n + 1))
        carve -q "oci:$IMAGES/${pair%:*}" "docker://$PLAIN/lab/pair$n:1"
        mark
        carve -q --max-dead=100 "--like=docker://$PLAIN/lab/pair$n:1" "oci:$IMAGES/${pair#*:}" "docker://$PLAIN/lab/pair$n:2"
        [ -z "$(fetched "lab/pair$n:1")" ]
        same "docker://$PLAIN/lab/pair$n:2" "oci:$IMAGES/${pair#*:}"
        carve -q --max-dead=100 --verify "--like=docker://$PLAIN/lab/pair$n:1" "oci:$IMAGES/${pair#*:}" oci:"read$n"
        [ "$(gojq '.layers | length' "$(manifest_of "read$n")")" -le $(($(layers_at "lab/pair$n:2" | wc -l) + 1)) ]
    done
}

@test "--dry-run fetches nothing; --verify and other destinations read the layers" {
    carve -n "--like=docker://$PLAIN/lab/app:1" "oci:$IMAGES/owned2"
    [[ $output == *"keep layer"* ]]
    [ -z "$(fetched lab/app:1)" ]
    carve -q --verify "--like=docker://$PLAIN/lab/app:1" "oci:$IMAGES/owned2" "docker://$PLAIN/lab/app:verified"
    [ -n "$(fetched lab/app:1)" ]
    mark
    carve -q "--like=docker://$PLAIN/lab/app:1" "oci:$IMAGES/owned2" oci:out
    [ "$(fetched lab/app:1 | wc -l)" -eq "$(layers_at lab/app:1 | sort -u | wc -l)" ]
}

@test "another repository of the registry takes the layers over; another registry gets those that are kept, checked" {
    carve -q "--like=docker://$PLAIN/lab/app:1" "oci:$IMAGES/owned2" "docker://$PLAIN/other/app:2"
    [ -z "$(fetched lab/app:1)" ]
    same "docker://$PLAIN/other/app:2" "oci:$IMAGES/owned2"
    registry_start "$BATS_FILE_TMPDIR/second"
    carve -q "--like=docker://$PLAIN/lab/app:1" "oci:$IMAGES/owned2" "docker://$REGISTRY/lab/app:2"
    same "docker://$REGISTRY/lab/app:2" "oci:$IMAGES/owned2"
    layers_at lab/app:1 | sort -u | comm -12 - <(skopeo inspect --raw --tls-verify=false \
        "docker://$REGISTRY/lab/app:2" | gojq -r '.layers[].digest' | sort -u) >kept
    diff kept <(fetched lab/app:1)
}

@test "an inventory that is broken, of other layers or missing is not used, which is said; the layers are read" {
    inventory_of lab/app:1 >good
    printf x >broken
    head -c 400 good >short
    printf '\x28\xb5\x2f\xfd' | base64 -w0 >bomb
    head -c 70000000 /dev/zero | zstd -q --no-check | base64 -w0 >zeros
    head -c 3000000 /dev/zero | tr '\0' A >long
    "$FLATTEN" carve -q "oci:$IMAGES/stacked" "docker://$PLAIN/lab/stacked:1"
    inventory_of lab/stacked:1 >others
    : >none
    for text in broken short bomb zeros long others none; do
        lie "$text"
        mark
        carve "--like=docker://$PLAIN/lab/app:lie" "oci:$IMAGES/owned2" "docker://$PLAIN/lab/app:after"
        [ "$(grep -c inventory <<<"$stderr")" -eq 1 ]
        [ -n "$(fetched lab/app:1)" ]
        same "docker://$PLAIN/lab/app:after" "oci:$IMAGES/owned2"
    done
    skopeo copy -q --dest-tls-verify=false "oci:$IMAGES/owned" "docker://$PLAIN/lab/plain:1"
    carve "--like=docker://$PLAIN/lab/plain:1" "oci:$IMAGES/owned2" "docker://$PLAIN/lab/plain:2"
    [[ $stderr == *"it has no inventory: its layers are fetched"* ]]
    same "docker://$PLAIN/lab/plain:2" "oci:$IMAGES/owned2"
}

@test "an image that is squashed has no inventory, and the same image gives the same one" {
    "$FLATTEN" carve -q --layer-size=20k "oci:$IMAGES/owned" "docker://$PLAIN/lab/again:1"
    diff <(inventory_of lab/app:1) <(inventory_of lab/again:1)
    "$FLATTEN" squash -q "docker://$PLAIN/lab/app:1" "docker://$PLAIN/lab/flat:1"
    [ "$(inventory_of lab/flat:1)" = null ]
}

@test "--stable-times reads the layers of the previous version, and its result has them" {
    carve -q --stable-times "--like=docker://$PLAIN/lab/app:1" "oci:$IMAGES/owned-later" "docker://$PLAIN/lab/app:later"
    [ "$(fetched lab/app:1 | wc -l)" -eq "$(layers_at lab/app:1 | sort -u | wc -l)" ]
    diff <(layers_at lab/app:1) <(layers_at lab/app:later)
}

# The start of the message is what deploy/github/run-flatten looks for.
@test "a previous version that the registry does not have: the message says what to do for the first one" {
    local missing
    for missing in "$PLAIN/lab/app:nope" "$PLAIN/lab/nope:1"; do
        fails 2 "UNKNOWN); leave out --like for a first version" \
            carve -q "--like=docker://$missing" "oci:$IMAGES/owned2" oci:out
        grep -E '^flatten: error: --like=.*\((MANIFEST|NAME)_UNKNOWN\)' <<<"$stderr"
    done
    [ ! -e out ]
}

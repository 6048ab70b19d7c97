#!/usr/bin/env bats
# flatbed-runtime as a root without access to other users' files, as on an NFS export with root_squash.
# The tests run as root without the capabilities that override file permissions.
# shellcheck disable=SC2154,SC2016 # run sets stderr; scripts for later

load lib/shim

NO_CAPS=-dac_override,-dac_read_search,-fowner,-chown

# squashed COMMAND…: runs it as such a root, which can still switch to other ids.
squashed() { setpriv --bounding-set "$NO_CAPS" --inh-caps "$NO_CAPS" "$@"; }

squashed_create() {
    run --separate-stderr squashed "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    echo "status $status, stderr '$stderr'"
}

setup_squashed() {
    as_root
    squashed true || skip "setpriv cannot drop capabilities here"
    mkdir -p "$DIR/home/alice"
    chown 12345:12345 "$DIR/home/alice"
    chmod 0700 "$DIR/home/alice"
    ! squashed ls "$DIR/home/alice" || skip "root without capabilities still may"
    sed -i "s|logs/{container}|../home/alice/{container}/x|; s|$DIR/srv/../home|$DIR/home|" "$DIR/policy.json"
    user 12345 12345
    # The low-level runtime in this test prints mode and owner of the source that it was given.
    printf '#!/bin/sh\nstat -c "%%a %%u:%%g" "$(gojq -r ".mounts[1].source" "%s/config.json")"\n' "$BUNDLE" >"$DIR/low"
}

# user UID GID [GROUP]: sets the user of the container.
user() { sed -i "s|\"uid\": [0-9]*, \"gid\": [0-9]*|\"uid\": $1, \"gid\": $2, \"additionalGids\": [${3-}]|" "$BUNDLE/config.json"; }

owned() { [ "$(stat -c '%a %u:%g' "$1")" = "$2" ]; }

@test "squashed: a volume in a directory of the user is created as that user, and found again" {
    setup_squashed
    squashed_create
    [ "$status" -eq 0 ]
    [ "$output" = "750 12345:12345" ]
    owned "$DIR/home/alice/c1" "755 12345:12345"
    owned "$DIR/home/alice/c1/x" "750 12345:12345"
    local before
    before=$(sha256sum <"$BUNDLE/config.json")
    squashed_create
    [ "$output" = "750 12345:12345" ]
    untouched "$before"
}

@test "squashed: supplementary groups of the user are used" {
    setup_squashed
    chown 777:4321 "$DIR/home/alice"
    chmod 0770 "$DIR/home/alice"
    squashed_create
    refused "Permission denied"
    [ ! -e "$DIR/home/alice/c1" ]
    config "$BUNDLE"
    user 12345 12345 4321
    squashed_create
    [ "$output" = "750 12345:12345" ]
    owned "$DIR/home/alice/c1/x" "750 12345:12345"
}

@test "squashed: a directory of another user cannot be entered" {
    setup_squashed
    mkdir -p "$DIR/home/alice/c1/x"
    chmod 0700 "$DIR/home/alice"
    config "$BUNDLE"
    user 23456 23456
    local before
    before=$(sha256sum <"$BUNDLE/config.json")
    squashed_create
    refused "Permission denied"
    untouched "$before"
}

@test "squashed: a symlink of the user is not followed" {
    setup_squashed
    ln -s /etc "$DIR/home/alice/c1"
    squashed_create
    refused "symbolic link that not only root could have made"
}

@test "squashed: a source with a wait time is found" {
    setup_squashed
    sed -i 's|"access": "rw"|"access": "rw", "wait": 5|' "$DIR/policy.json"
    squashed_create
    [ "$output" = "750 12345:12345" ]
}

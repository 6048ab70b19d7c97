#!/usr/bin/env bats
# Staged volumes whose sources lie on servers that fail or lie.
# shellcheck disable=SC2154  # status and stderr are set by bats' run

load lib/stage

# strange KIND [ARGUMENT]: shows a strange file system as the source.
strange() {
    rm -r "$SOURCE"
    mkdir "$SOURCE"
    "$BATS_TEST_DIRNAME/lib/strange_fs.py" "$SOURCE" "$@" >"$DIR/strange.log" 2>&1 3>&- &
    STRANGE=$!
    wait_until mountpoint -q "$SOURCE"
}

end_strange() {
    umount -l "$SOURCE"
    kill -KILL "$STRANGE" 2>/dev/null || true
    wait "$STRANGE" || true
}

@test "a name that is a symbolic link at first and a directory then leads nowhere" {
    mkdir "$DIR/victim"
    echo victim >"$DIR/victim/kept"
    strange twice "$DIR/victim"
    stage --wait data=imagenet
    echo "$output $stderr"
    wait_until no_copiers
    end_strange
    [ "$(ls "$DIR/victim")" = kept ]
    [ "$(cat "$DIR/victim/kept")" = victim ]
}

@test "where root may list, but not read, the user reads, for this user" {
    strange squash 1001
    policy '"wait": 60'
    launch
    got_copy
    [[ $(entries) == *-1001 ]]
    [ "$(cat "$(tree)/2")" = content ]
    config '' 1002
    launch c2
    got_source c2
    end_strange
}

@test "a server that hangs in the middle of a copy holds up no launch" {
    strange hang
    launch
    got_source
    wait_until is_copying
    launch c2
    got_source c2
    saying "copying"
    stage
    [[ $output == *copying*"$SOURCE"* ]]
    end_strange
    for pid in $(copiers); do kill -KILL "$pid"; done
    wait_until no_copiers
    run ! has_entry
}

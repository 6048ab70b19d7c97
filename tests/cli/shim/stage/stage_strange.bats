#!/usr/bin/env bats
# Staged volumes whose sources lie on servers that fail or lie.
# shellcheck disable=SC2154  # status and stderr are set by bats' run

load ../lib/stage

# strange KIND [ARGUMENT]: shows a strange file system as the source; below $AT if that is set.
strange() {
    [ -n "${AT-}" ] || rm -r "$SOURCE"
    mkdir -p "${AT-$SOURCE}"
    "$BATS_TEST_DIRNAME/../lib/strange_fs.py" "${AT-$SOURCE}" "$@" >"$DIR/strange.log" 2>&1 3>&- &
    STRANGE=$!
    wait_until mountpoint -q "${AT-$SOURCE}"
}

end_strange() {
    umount -l "${AT-$SOURCE}"
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

@test "a source into which root may not look is read by the user, for this user" {
    AT=$DIR/closed
    strange closed 1001
    run ! ls "$AT/imagenet"
    sed -i "s|$DIR/nfs/|$AT/|" "$DIR/policy.json"
    launch
    wait_until no_copiers
    [[ $(entries) == *-1001 ]]
    [ "$(cat "$(tree)/2")" = content ]
    [ "$(gojq .by_user "$(entries)/record.json")" = true ]
    launch
    saying staged
    # Not for others.
    config '' 1002
    run --separate-stderr "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --root "$DIR/state" create --bundle "$BUNDLE" c2
    echo "$status $stderr"
    [ "$status" -ne 0 ]
    [ ! -e "$DIR/low.mount.c2" ]
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
    for pid in $(copiers); do kill -KILL "$pid" || true; done
    wait_until no_copiers
    run ! has_entry
}

@test "the ninth copy waits until one of eight is done" {
    mkdir -m 0700 "$CACHE"
    python3 - "$CACHE/.turns" 3>&- <<'END' &
import fcntl, os, sys, struct, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.lockf(fd, fcntl.LOCK_EX, 8, 0)
open(sys.argv[1] + ".held", "w").close()
time.sleep(600)
END
    local holder=$!
    wait_until test -e "$CACHE/.turns.held"
    rm "$CACHE/.turns.held"
    launch
    got_source
    wait_until is_copying
    sleep 1
    run ! has_entry
    kill "$holder"
    wait_until has_entry
    wait_until no_copiers
    launch c2
    got_copy c2
}

@test "runtimes that are killed at any moment leave nothing that holds up the next" {
    local i pid
    for i in $(seq 400); do echo "$i" >"$SOURCE/train/x$i"; done
    for i in $(seq 12); do
        mkdir "$DIR/b$i"
        cp "$BUNDLE/config.json" "$DIR/b$i/"
        "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --root "$DIR/state" create --bundle "$DIR/b$i" "k$i" 3>&- &
        pid=$!
        sleep "0.0$((RANDOM % 10))"
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" || true
        # A copier goes on without its launch; some are killed as well.
        if ((i % 3 == 0)); then for pid in $(copiers); do kill -KILL "$pid" 2>/dev/null || true; done; fi
        if ((i % 4 == 0)); then touch "$SOURCE"; fi
    done
    policy '"wait": 60'
    launch
    got_copy
    wait_until no_copiers
    has_no_part
    equal
}

@test "a small disk without room for another inode: the copy ends, the source is used" {
    truncate -s 8M "$DIR/disk"
    mkfs.ext4 -q -N 128 "$DIR/disk"
    mkdir -m 0700 "$CACHE"
    mount -o loop "$DIR/disk" "$CACHE"
    chmod 0700 "$CACHE"
    for i in $(seq 300); do echo "$i" >"$SOURCE/$i"; done
    policy '"wait": 60'
    launch
    got_source
    saying "No space left on device"
    wait_until no_copiers
    run ! has_entry
    has_no_part
}

@test "clocks that jump: times in the future and long ago" {
    staged
    touch -d '10 years' "$(entries)/used" "$(entries)/checked"
    launch
    got_copy
    wait_until no_copiers
    [ "$(stat -c %Y "$(entries)/checked")" -le "$(date +%s)" ]
    touch "$SOURCE"
    printf 'no reason' >"$CACHE/.failed-$(basename "$(entries)")"
    touch -d '10 years' "$CACHE/.failed-"*
    head -c 20M /dev/zero >"$SOURCE/large"
    policy '"bandwidth": "2m"'
    launch
    got_source
    wait_until is_copying
    touch -d '3 days ago' "$CACHE/.part-"*
    "$FLATBED" gc --policy "$DIR/policy.json"
    wait_until no_copiers
    launch
    got_copy
}

@test "launches always get a copy while newer ones replace it" {
    local n pid
    policy '"recheck": 0'
    staged
    while [ ! -e "$DIR/end" ]; do
        date +%N >"$SOURCE/train/2"
        "$FLATBED" stage --policy "$DIR/policy.json" --wait data=imagenet >"$DIR/stage.log" 2>&1
    done 3>&- &
    pid=$!
    for n in 1 2 3 4 5 6; do
        launch "c$n"
        got_copy "c$n"
        [ "$(cat "$DIR/low.tree.c$n")" = train ]
    done
    touch "$DIR/end"
    wait "$pid" || true
    wait_until no_copiers
}

@test "copies that are replaced several times in a second stay while they are mounted" {
    policy '"recheck": 0'
    staged
    for n in 1 2 3 4 5 6; do
        mkdir "$DIR/mnt$n"
        mount --bind "$(tree)" "$DIR/mnt$n"
        echo "$n" >"$SOURCE/train/2"
        "$FLATBED" stage --policy "$DIR/policy.json" --wait data=imagenet >/dev/null
    done
    for n in 1 2 3 4 5 6; do
        [ "$(cat "$DIR/mnt$n/train/1")" = "image 1" ]
        umount "$DIR/mnt$n"
    done
}

@test "a copier that was killed between the names of two copies: the older one stays while it is mounted" {
    policy '"wait": 60'
    staged
    mkdir "$DIR/mnt"
    mount --bind "$(tree)" "$DIR/mnt"
    mv "$(entries)" "$CACHE/.part-$(basename "$(entries)")"
    touch "$SOURCE"
    launch
    got_copy
    [ "$(cat "$DIR/mnt/train/1")" = "image 1" ]
    umount "$DIR/mnt"
    "$FLATBED" gc --policy "$DIR/policy.json"
    [ -z "$(find "$CACHE" -maxdepth 1 -name '.[op]*')" ]
}

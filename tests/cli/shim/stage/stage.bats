#!/usr/bin/env bats
# Staged volumes: a launch mounts the copy of its source, or the source while there is none.
# shellcheck disable=SC2154  # status and stderr are set by bats' run

load ../lib/stage

@test "the first launch gets the source, and those after the copy: the copy, read-only" {
    launch
    got_source
    saying "a copy is begun"
    wait_until has_entry
    wait_until no_copiers
    equal
    launch
    got_copy
    saying staged
    expect_options=$(cut -d' ' -f2 "$DIR/low.mount.c1")
    for option in ro nosuid nodev; do
        [[ ,$expect_options, == *,$option,* ]]
    done
    [ "$(cat "$DIR/low.tree.c1")" = train ]
}

@test "a copy has all that the source has: links, holes, ACLs, attributes, times, FIFOs" {
    truncate -s 64M "$SOURCE/sparse"
    echo end >>"$SOURCE/sparse"
    mkdir -p "$SOURCE/deep/a/b/c" "$SOURCE/farm" "$SOURCE/empty"
    ln "$SOURCE/train/1" "$SOURCE/deep/a/b/hard"
    ln -s ../../outside "$SOURCE/up"
    ln -s /etc/passwd "$SOURCE/absolute"
    for i in $(seq 300); do ln -s "../train/$((i % 5 + 1))" "$SOURCE/farm/$i"; done
    mkfifo -m 0622 "$SOURCE/pipe"
    mknod "$SOURCE/zero" c 1 5
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$SOURCE/sock"
    setfacl -m u:1234:rwx "$SOURCE/train"
    setfacl -m u:1234:r "$SOURCE/train/2"
    setfattr -n user.origin -v web "$SOURCE/train/3"
    chown 1234:1235 "$SOURCE/train/4"
    chmod 4755 "$SOURCE/train/4"
    touch -d '2001-02-03 04:05:06.789' "$SOURCE/train/5" "$SOURCE/empty"
    touch -h -d '2002-02-03' "$SOURCE/up"
    touch "$SOURCE/"$'odd \xff\nname' "$SOURCE/-rf"
    staged
    equal --exclude /sock --exclude /zero --specials
    [ ! -e "$(tree)/zero" ]
    [ ! -e "$(tree)/sock" ]
    [ -p "$(tree)/pipe" ]
    [ "$(stat -c %i "$(tree)/train/1")" = "$(stat -c %i "$(tree)/deep/a/b/hard")" ]
    [ "$(stat -c %b "$(tree)/sparse")" -lt 1000 ]
    [ "$(stat -c %Y "$(tree)/train/5")" = "$(stat -c %Y "$SOURCE/train/5")" ]
    [ "$(stat -c %Y "$(tree)/empty")" = "$(stat -c %Y "$SOURCE/empty")" ]
    launch
    got_copy
}

@test "wait: the launch returns with the copy" {
    policy '"wait": 300'
    launch
    got_copy
    equal
}

@test "a changed top of the source is no hit; a change below is found by the next comparison" {
    staged
    echo new >"$SOURCE/new"
    launch
    got_source
    saying "the source changed"
    wait_until no_copiers
    launch
    got_copy
    [ -e "$(tree)/new" ]
    # Below: with recheck 0 each launch compares in the background.
    policy '"recheck": 0'
    echo other >"$SOURCE/train/2"
    launch
    got_copy
    wait_until no_copiers
    [ "$(cat "$(tree)/train/2")" = other ]
    equal
}

@test "fifty launches at once make one copy" {
    local i pids=()
    head -c 20M /dev/urandom >"$SOURCE/large"
    for ((i = 0; i < 50; i++)); do
        mkdir "$DIR/b$i"
        cp "$BUNDLE/config.json" "$DIR/b$i/"
        "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --root "$DIR/state" create --bundle "$DIR/b$i" "c$i" 3>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i"; done
    wait_until no_copiers
    [ "$(entries | wc -l)" -eq 1 ]
    has_no_part
    equal
    # The audit has them all, and none got a torn tree.
    [ "$(gojq -s length "$DIR/audit.jsonl")" -eq 50 ]
    for ((i = 0; i < 50; i++)); do [ "$(cat "$DIR/low.tree.c$i")" = $'large\ntrain' ]; done
}

@test "a copier that is killed leaves no entry, and the next one goes on" {
    local i pid
    truncate -s 40M "$SOURCE/large"
    shred -n 1 "$SOURCE/large"
    for i in 1 2 3 4 5; do mkdir "$SOURCE/train/d$i" && seq 100 | split -l 1 - "$SOURCE/train/d$i/x"; done
    policy '"bandwidth": "40m"'
    for i in 1 2 3 4; do
        launch
        wait_until is_copying_or_done
        sleep "0.$((RANDOM % 4))"
        for pid in $(copiers); do kill -KILL "$pid"; done
        wait_until no_copiers
        if has_entry; then break; fi
    done
    policy
    launch
    wait_until no_copiers
    has_entry
    has_no_part
    equal
    launch
    got_copy
}

is_copying_or_done() { is_copying || has_entry; }

@test "a source that changes while it is copied is never served mixed" {
    local pid
    head -c 32M /dev/urandom >"$SOURCE/large"
    policy '"bandwidth": "16m"'
    while :; do date +%N >>"$SOURCE/large"; sleep 0.05; done 3>&- &
    pid=$!
    stage --wait data=imagenet
    kill "$pid"
    wait "$pid" || true
    echo "$output $stderr"
    [ "$status" -eq 1 ]
    [[ $stderr == *"it changed during each of 3 copies"* ]]
    run ! has_entry
    launch
    got_source
    saying "not staged, as the copy failed: it changed"
}

@test "a full disk: the copy ends, the source is used, and the audit says so" {
    mkdir -m 0700 "$CACHE"
    mount -t tmpfs -o size=16m,mode=0700 none "$CACHE"
    truncate -s 32M "$SOURCE/large"
    shred -n 1 "$SOURCE/large"
    launch
    got_source
    wait_until no_copiers
    launch
    got_source
    saying '"free" and the file system leave'
    run ! has_entry
}

@test "the least recently used copy goes first, and never a pinned or a mounted one" {
    local name
    for name in a b c d; do
        mkdir "$DIR/nfs/$name"
        truncate -s 4M "$DIR/nfs/$name/x"
        shred -n 1 "$DIR/nfs/$name/x"
    done
    policy '"max": "13m"'
    copy() { "$FLATBED" stage --policy "$DIR/policy.json" --wait "data=$1"; }
    listed() { "$FLATBED" stage --policy "$DIR/policy.json" --json | gojq -r '[.caches[].copies[].source | sub(".*/"; "")] | sort | join(" ")'; }
    copy a
    copy b
    copy c
    [ "$(listed)" = "a b c" ]
    touch -d '1 hour ago' "$CACHE"/*/used
    touch "$(dirname "$(grep -l '/nfs/a"' "$CACHE"/*/record.json)")/used"
    touch -d '2 hours ago' "$(dirname "$(grep -l '/nfs/c"' "$CACHE"/*/record.json)")/used"
    copy d
    [ "$(listed)" = "a b d" ]
    "$FLATBED" stage --policy "$DIR/policy.json" --pin data=b
    mkdir "$DIR/mnt"
    mount --bind "$(dirname "$(grep -l '/nfs/a"' "$CACHE"/*/record.json)")/tree" "$DIR/mnt"
    copy c
    [ "$(listed)" = "a b c" ]
    # The rest may not go.
    mount --bind "$(dirname "$(grep -l '/nfs/c"' "$CACHE"/*/record.json)")/tree" "$DIR/mnt"
    stage --wait data=d
    [ "$status" -eq 1 ]
    [[ $stderr == *'more than "max" leaves'* ]]
    [ "$(listed)" = "a b c" ]
    umount "$DIR/mnt" "$DIR/mnt"
    rm -f "$CACHE"/.failed-*
    copy d
    [[ $(listed) == *b*d* ]]
}

@test "each user has the share of per_owner" {
    mkdir "$DIR/nfs/other"
    for name in imagenet other; do
        chmod 0750 "$DIR/nfs/$name"
        chown -R 1001:1001 "$DIR/nfs/$name"
        truncate -s 4M "$DIR/nfs/$name/x"
        shred -n 1 "$DIR/nfs/$name/x"
    done
    policy '"per_owner": "6m", "wait": 60'
    launch
    got_copy
    [ "$(gojq .account "$(entries)/record.json")" = 1001 ]
    sed -i 's/imagenet"/other"/' "$BUNDLE/config.json"
    sed -i 's|/data/imagenet|/data/other|' "$DIR/low"
    launch
    got_copy
    [ "$(entries | wc -l)" -eq 1 ]
}

# ------------------------------------------------------------------ who gets it

@test "modes and owners are kept, so that a copy shows to each user what the source shows" {
    chown -R 1001:1001 "$SOURCE"
    chmod 0600 "$SOURCE/train/1"
    chmod 0711 "$SOURCE/train"
    chown root:4321 "$SOURCE/train/2"
    chmod 0640 "$SOURCE/train/2"
    policy '"wait": 60'
    launch
    got_copy
    [ "$(stat -c %a:%u "$(tree)/train/1")" = 600:1001 ]
    [ "$(stat -c %a:%u "$(tree)/train")" = 711:1001 ]
    equal
    # The cache itself is closed; a bind of the tree alone is what a container sees.
    [ "$(stat -c %a:%u "$CACHE")" = 700:0 ]
    mkdir "$DIR/mnt"
    mount --bind "$(tree)" "$DIR/mnt"
    setpriv --reuid 1001 --regid 1001 --clear-groups cat "$DIR/mnt/train/1"
    run ! setpriv --reuid 1002 --regid 1002 --clear-groups cat "$DIR/mnt/train/1"
    setpriv --reuid 1002 --regid 1002 --groups 4321 cat "$DIR/mnt/train/2"
    run ! setpriv --reuid 1002 --regid 1002 --clear-groups cat "$DIR/mnt/train/2"
    run ! setpriv --reuid 1002 --regid 1002 --clear-groups ls "$CACHE"
}

# ------------------------------------------------------------------ what is asked for

@test "flatbed.stage: off, wait and now, as far as the class allows it" {
    config '"flatbed.stage": "wait"'
    EXPECTED=1 launch
    [[ $stderr == *flatbed.stage* ]]
    policy '"ask": ["off", "wait", "now"]'
    launch
    got_copy
    config '"flatbed.stage": "off"'
    launch
    got_source
    saying "not staged, as the container asks"
    config '"flatbed.stage": "soon"'
    EXPECTED=1 launch
    [[ $stderr == *"no class of the policy offers this"* ]]
    "$FLATBED" stage --policy "$DIR/policy.json" --drop data=imagenet
    policy '"ask": ["now"], "wait": 300'
    config '"flatbed.stage": "now"'
    launch
    got_source
}

@test "else deny: no copy, no container, and the message says what to do" {
    policy '"else": "deny"'
    EXPECTED=1 launch
    [[ $stderr == *"is not staged, and the policy wants the copy: try again later"* ]]
    [ ! -e "$DIR/low.mount.c1" ]
    wait_until no_copiers
    launch
    got_copy
}

@test "what is not staged is said: a file, what include leaves out, what has a mount below" {
    policy '"include": ["cifar*"]'
    launch
    got_source
    saying '"include" leaves it out'
    policy '"include": ["image*"]'
    mount -t tmpfs none "$SOURCE/train"
    launch
    got_source
    saying "something is mounted below it"
    umount "$SOURCE/train"
    rm -r "$SOURCE"
    echo one >"$SOURCE"
    policy
    launch
    saying "it is a file"
    [ ! -e "$CACHE" ] || ! has_entry
}

@test "a cache that is open to others is not used" {
    mkdir -m 0755 "$CACHE"
    launch
    got_source
    saying "must be a directory that only root can look into"
    policy '"else": "deny"'
    EXPECTED=1 launch
    rmdir "$CACHE"
    ln -s /tmp "$CACHE"
    EXPECTED=1 launch
}

@test "an entry that is damaged is no hit, and is made anew" {
    staged
    echo '{' >"$(entries)/record.json"
    launch
    got_source
    wait_until no_copiers
    launch
    got_copy
    equal
}

@test "verify content: a copy that the disk damages is noticed" {
    policy '"verify": "content", "wait": 60'
    launch
    got_copy
    [ "$(gojq .verified "$(entries)/record.json")" = true ]
}

@test "mistakes in the policy are named" {
    local stage class expected
    while IFS='|' read -r stage class expected; do
        policy "$stage" ${class:+"$class"}
        EXPECTED=1 launch || { echo "for $stage $class"; return 1; }
        [[ $stderr == *"policy.json:3:"*"$expected"* ]] || { echo "expected: $expected"; return 1; }
    done <<'END'
"max": "much"||'much': expected bytes such as "20g"
"max": -1||expected
"else": "wait"||'wait'
"wait": "soon"||expected a number
"verify": true||expected
"ask": ["always"]||'always'
"colour": 1||unknown key "colour"
"recheck": 700000||700000
END
    sed -i 's/"access": "ro"/"access": "rw"/; s/, "recheck": 700000//' "$DIR/policy.json"
    EXPECTED=1 launch
    [[ $stderr == *stage* ]]
    sed -i 's/"access": "rw"/"access": "ro"/; s|"cache": "[^"]*"|"max": "1g"|' "$DIR/policy.json"
    EXPECTED=1 launch
    [[ $stderr == *'there is no "cache"'* ]]
}

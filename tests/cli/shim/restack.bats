#!/usr/bin/env bats
# rootfs.beyond "restack" in front of a low-level runtime that only records; flatbed restack and flatbed gc.
# The mounts are made in the mount namespace of a separate process.

load lib/shim

setup_file() {
    : "${FLATBED:?the flatbed to test}"
}

# world: makes twelve layers, each with one file in a directory that is common to all. Each test calls it.
world() {
    [ "$(id -u)" = 0 ] || skip "not root"
    unshare --mount --propagation private sleep 3600 3>&- &
    WORLD=$!
    CACHE=$DIR/cache ROOT=$BUNDLE/rootfs STORE=$DIR/store LOWER=
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        mkdir -p "$STORE/$i/d"
        echo "$i" >"$STORE/$i/d/f$i"
        echo "$i" >"$STORE/$i/top"
        LOWER=$LOWER${LOWER:+:}$STORE/$i
    done
    mkdir -p "$ROOT" "$STORE/c/upper" "$STORE/c/work"
    cat >"$DIR/policy.json" <<END
{ "version": 1, "runtime": { "paths": ["$DIR/low"] },
  "rootfs": { "max_depth": 3, "beyond": "restack", "cache": "$CACHE" },
  "audit": { "file": "$DIR/audit.jsonl" } }
END
    echo '{ "ociVersion": "1.0.2", "root": { "path": "rootfs" }, "process": { "user": { "uid": 0, "gid": 0 } } }' \
        >"$BUNDLE/config.json"
    wait_until is_apart_from_here "$WORLD"
    within mount -t tmpfs none /mnt || skip "no mounts here"
}

teardown() {
    # shellcheck disable=SC2046
    [ -z "${WORLD-}" ] || kill "$WORLD" $(builders)
    forget
    rm -rf --one-file-system "$DIR"
}

within() { nsenter --mount --target "$WORLD" "$@"; }

# deep [OPTION,…]: mounts the root as an engine does.
deep() {
    within mount -t overlay -o "lowerdir=$LOWER,upperdir=$STORE/c/upper,workdir=$STORE/c/work${1:+,$1}" overlay "$ROOT"
}

ahead() { "$FLATBED" restack --build --cache "$CACHE" --json "$LOWER"; }

# launch: runs "create"; the low-level runtime exits with status 7.
launch() {
    run within "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ] || { echo "$output"; return 1; }
}

# said MEMBER: prints MEMBER of the root in the record of the last launch.
said() { tail -n 1 "$DIR/audit.jsonl" | gojq -r ".operations[] | select(.kind == \"rootfs\") | .$1"; }

mounts() { within awk -v at="$ROOT" '$5 == at { $1 = $2 = $3 = ""; print }' /proc/self/mountinfo; }
has_tree() { mounts | grep -qF "lowerdir=$CACHE/"; }
# On a busy machine another process may have had the root open for a moment: then it is launched once more.
is_restacked() {
    has_tree || { [[ $(said reason) == *"a process holds"* ]] && launch && has_tree; } || { mounts; said reason; return 1; }
}
state() { "$FLATBED" restack --cache "$CACHE" --json | gojq -r '.trees[].state'; }
is_ready() { [ "$(state)" = ready ]; }
builders() { grep -l '^flatbed-restack' /proc/[0-9]*/comm 2>/dev/null | while read -r f; do
    [ "$(readlink "${f%comm}ns/mnt")" != "$(readlink "/proc/$WORLD/ns/mnt")" ] || basename "${f%/comm}"; done; }

is_building() { [ -n "$(builders)" ]; }
is_gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"; }
has_open() { [ "$(readlink "/proc/$1/fd/0")" = "$ROOT/top" ]; }
is_apart_from_here() { [ "$(readlink "/proc/$1/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ]; }
is_apart() { [ "$(readlink "/proc/$1/ns/mnt")" != "$(readlink "/proc/$WORLD/ns/mnt")" ] && grep -q sleep "/proc/$1/comm"; }

# stays WHY: a launch leaves the mount of the engine unchanged, with the reason WHY, and the root can be used.
stays() {
    local before
    before=$(mounts)
    launch
    [ "$(mounts)" = "$before" ] || { diff <(echo "$before") <(mounts); return 1; }
    [[ $(said reason) =~ $1 ]] || { said reason; return 1; }
    [ "$(said verdict)" = skipped ]
    [ "$(within cat "$ROOT/d/f7")" = 7 ]
}

@test "the first launch starts the build of a tree; the next launch mounts the tree in place of the layers" {
    world
    deep
    launch
    [ "$(said verdict)" = kept ]
    [[ $(said reason) =~ "has 12 layers: a tree of them is made in the background" ]]
    run ! is_restacked
    wait_until is_ready
    launch
    [ "$(said verdict)" = added ]
    is_restacked
    [ "$(mounts | wc -l)" = 1 ]
    [ "$(within cat "$ROOT/top")" = 1 ]
    [ "$(within ls "$ROOT/d" | wc -l)" = 12 ]
    within sh -c "echo mine >$ROOT/d/f7"
    [ "$(cat "$STORE/c/upper/d/f7" "$STORE/7/d/f7")" = "$(printf 'mine\n7')" ]
    # The root now has one layer, so a wrapper behind a wrapper does nothing.
    launch
    [ "$(said verdict)" = "" ]
    within umount "$ROOT"
    [ -z "$(mounts)" ]
    # The files of the tree are hard links, not copies.
    [ "$(stat -c %i "$STORE/7/d/f7")" = "$(stat -c %i "$CACHE"/*/tree/d/f7)" ]
}

@test "options, flags and propagation are kept" {
    world
    ahead
    for options in nosuid,nodev,noatime index=off,xino=auto,redirect_dir=nofollow,metacopy=off volatile; do
        deep "$options"
        before=$(mounts)
        launch
        is_restacked
        [ "$(mounts | sed 's/lowerdir=[^,]*/x/')" = "$(sed 's/lowerdir=[^,]*/x/' <<<"$before")" ]
        within umount "$ROOT"
        rm -rf "$STORE/c/work/work/incompat"
    done
    within mount --bind "$DIR" "$DIR"
    within mount --make-shared "$DIR"
    deep
    mounts | grep -q ' shared:'
    launch
    is_restacked
    mounts | grep -q ' shared:'
    within umount "$ROOT"
    # Mounts that follow the mount of the engine get the new root too.
    nsenter --mount --target "$WORLD" unshare --mount --propagation slave sleep 600 3>&- &
    other=$!
    wait_until is_apart "$other"
    nsenter --mount --target "$other" sh -c "mkdir -p /mnt/host$DIR && mount --rbind $DIR /mnt/host$DIR"
    deep
    grep -qF " /mnt/host$ROOT " "/proc/$other/mountinfo"
    launch
    is_restacked
    grep " /mnt/host$ROOT " "/proc/$other/mountinfo" | grep -qF "$CACHE/"
    [ "$(grep -c " $ROOT " "/proc/$other/mountinfo")" = 1 ]
    grep " $ROOT " "/proc/$other/mountinfo" | grep -qF "$CACHE/"
    kill "$other"
    wait "$other" || true
    within umount "$ROOT"
    within mount --make-rprivate "$DIR"
    deep userxattr
    launch
    [[ $(said reason) =~ "is made in the background" ]] # the same layers, described differently
}

@test "a root that may not be replaced stays as the engine mounted it" {
    world
    ahead
    while read -r options why; do
        deep "$options"
        stays "it stays as the engine mounted it: it is mounted with '$why'"
        within umount "$ROOT"
        rm -rf "$STORE/c"/{upper,work}
        mkdir "$STORE/c"/{upper,work}
    done <<'END'
index=on index=on
metacopy=on metacopy=on|redirect_dir=on
redirect_dir=on redirect_dir=on
verity=on verity=on
index=on,nfs_export=on index=on|nfs_export=on
END
    within mount -t overlay -o "lowerdir=$LOWER" overlay "$ROOT"
    stays "it is mounted with '|it has no upper directory"
    within umount "$ROOT"
    deep
    within mount -o remount,bind,ro "$ROOT"
    stays "options that are not known"
    within mount -o remount,bind,rw "$ROOT"
    deep
    stays "has more than one mount"
}

@test "a root in use stays: by an open file, a mount below it, another mount namespace" {
    world
    ahead
    deep
    nsenter --mount --target "$WORLD" sh -c "exec sleep 600 <$ROOT/top" 3>&- &
    user=$!
    wait_until has_open "$user"
    stays "the engine's mount is in use"
    kill "$user"
    wait "$user" || true
    within mount --bind "$STORE/1/top" "$ROOT/d/f3"
    before=$(mounts)
    launch
    [ "$(mounts)" = "$before" ]
    [[ $(said reason) =~ "the engine's mount is in use" ]] || { said reason; false; }
    within umount "$ROOT/d/f3"

    nsenter --mount --target "$WORLD" unshare --mount --propagation private sleep 600 3>&- &
    other=$!
    wait_until is_apart "$other"
    stays "another mount namespace has"
    within sh -c "echo mine >$ROOT/d/f7 && cat $ROOT/d/f7"
    echo 7 >"$STORE/c/upper/d/f7"
    kill "$other"
    wait "$other" || true

    # A descriptor in no process table: the mount of the engine is restored, with its lowerdir as before.
    within umount "$ROOT"
    within sh -c "cd $STORE && mount -t overlay -o lowerdir=1:2:3:4:5:6:7:8:9:10:11:12,upperdir=$STORE/c/upper,workdir=$STORE/c/work overlay $ROOT"
    mounts | grep -q lowerdir=1:2:
    nsenter --mount --target "$WORLD" python3 -c 'import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(428, -100, sys.argv[1].encode(), 1) < 0: # open_tree, OPEN_TREE_CLONE
    sys.exit(1)
print("held", flush=True)
time.sleep(600)' "$ROOT" >"$DIR/held" 3>&- &
    holder=$!
    wait_until grep -q held "$DIR/held"
    stays "a process holds .* open"
    [ "$(mounts | wc -l)" = 1 ]
    within sh -c "echo mine >$ROOT/d/f7 && cat $ROOT/d/f7"
    kill "$holder"
    wait "$holder" || true
    launch
    is_restacked
}

@test "an upper directory with many writes keeps its layers, unless the tree was mounted below it" {
    world
    ahead
    mkdir "$STORE/c/upper/lots"
    touch "$STORE/c/upper/lots"/{1..80}
    deep
    stays "has been written to"
    within umount "$ROOT"
    rm -r "$STORE/c/upper/lots"
    mkdir "$STORE/c/upper/moved"
    setfattr -n trusted.overlay.redirect -v /d "$STORE/c/upper/moved"
    deep
    stays "has been written to"
    within umount "$ROOT"
    rmdir "$STORE/c/upper/moved"
    mkdir "$STORE/c/upper/few"
    deep
    launch
    is_restacked
    within sh -c "touch $ROOT/few/{1..80}; cd $ROOT/few && seq 80 | xargs touch"
    within umount "$ROOT"
    deep
    launch
    is_restacked
    [ "$(within ls "$ROOT/few" | wc -l)" -ge 80 ]
}

@test "layer paths that no longer show the layers are detected" {
    world
    LOWER=
    for i in 1 2 3 4 5; do # as podman does with mapped ids
        mkdir -p "$DIR/mapped/$i"
        LOWER=$LOWER${LOWER:+:}$DIR/mapped/$i
        within mount --bind "$STORE/$i" "$DIR/mapped/$i"
    done
    deep
    for i in 1 2 3 4 5; do within umount "$DIR/mapped/$i"; done
    before=$(mounts)
    launch
    wait_until state_is skipped
    launch
    [[ $(said reason) =~ "would not pay: 5 layers" ]]
    rm -rf "$CACHE"
    "$FLATBED" restack --build --force --cache "$CACHE" "$LOWER"
    launch
    [[ $(said reason) =~ "it does not show what its layers do" ]]
    [ "$(mounts)" = "$before" ]
    [ "$(within cat "$ROOT/d/f5")" = 5 ]
}

state_is() { [ "$(state)" = "$1" ]; }

@test "a launch does not wait for the builder, and the builder keeps no descriptor of it open" {
    world
    deep
    mkdir -m 0700 "$CACHE"
    touch "$CACHE/.lock"
    hold_lock "$CACHE/.lock"
    # An engine reads until every process has closed the pipe.
    timeout 600 bash -c 'nsenter --mount --target "$1" "$2" "--flatbed-policy=$3/policy.json" create --bundle "$3/bundle" c1 2>&1 | cat' \
        sh "$WORLD" "$FLATBED_RUNTIME" "$DIR"
    wait_until is_building
    pid=$(builders)
    [ "$(readlink "/proc/$pid/cwd")" = / ]
    [ "$(readlink "/proc/$pid/fd/1")" = /dev/null ]
    [ -z "$(find "/proc/$pid/fd" -lname 'pipe:*')" ]
    [ "$(cut -d ' ' -f 19 "/proc/$pid/stat")" = 19 ] # nice
    [ "$(cut -d ' ' -f 6 "/proc/$pid/stat")" = "$pid" ] # a new session
    [ "$(state)" = building ]
    launch
    [[ $(said reason) =~ "a tree of them is being made" ]]
    # A killed builder leaves no tree marked as ready; the next launch starts again.
    kill -KILL "$pid"
    wait_until is_gone "$pid"
    kill "$HOLDER"
    launch
    [[ $(said reason) =~ "is made in the background" ]]
    wait_until is_ready
    [ -z "$(find "$CACHE" -maxdepth 1 -name '.build-*')" ]
}

@test "a finished tree is not replaced by another builder, because it may be mounted" {
    world
    ahead
    key=$(basename "$(find "$CACHE" -mindepth 1 -maxdepth 1 -type d)")
    mv "$CACHE/$key" "$DIR/made"
    touch "$CACHE/.lock"
    hold_lock "$CACHE/.lock"
    ahead >"$DIR/second" 3>&- &
    second=$!
    wait_until test -d "$CACHE/.build-$key"
    mv "$DIR/made" "$CACHE/$key"
    inode=$(stat -c %i "$CACHE/$key/tree")
    deep
    launch
    is_restacked
    kill "$HOLDER"
    wait "$second"
    gojq -e .ready "$DIR/second"
    [ "$(stat -c %i "$CACHE/$key/tree")" = "$inode" ]
    [ "$(within cat "$ROOT/d/f9")" = 9 ]
    [ -z "$(find "$CACHE" -maxdepth 1 -name '.[bo]*')" ]
}

@test "no tree is made if it would not pay, cannot be linked, or could be changed by others" {
    world
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        rm -r "${STORE:?}/$i/"*
        mkdir "$STORE/$i/of-$i"
        touch "$STORE/$i/of-$i/f"
    done
    deep
    launch
    wait_until state_is skipped
    launch
    [ "$(said verdict)" = kept ]
    [[ $(said reason) == *"no tree of them is made: it would not pay: 12 layers, and only 1.0 of them"* ]]
    run "$FLATBED" restack --build --cache "$CACHE" "$LOWER"
    [ "$status" -eq 1 ]
    [[ $output =~ "would not pay" ]]
    within umount "$ROOT"

    mkdir -m 0700 "$DIR/elsewhere"
    within mount -t tmpfs -o mode=0700 none "$DIR/elsewhere"
    sed -i "s|$CACHE|$DIR/elsewhere|" "$DIR/policy.json"
    deep
    launch
    wait_until within grep -q "another file system than the layers" -r "$DIR/elsewhere" --include state.json
    launch
    [[ $(said reason) =~ "on another file system than the layers, so they cannot be linked: choose one on the file system of" ]]

    sed -i "s|$DIR/elsewhere|$DIR/open|" "$DIR/policy.json"
    mkdir -m 0777 "$DIR/open"
    stays_here=$(mounts)
    launch
    [[ $(said reason) =~ "must be a directory that only root can look into" ]]
    [ "$(mounts)" = "$stays_here" ]
}

@test "a layer with a redirect attribute is refused; changed layers get another tree" {
    world
    setfattr -n trusted.overlay.redirect -v /d "$STORE/3/d"
    run "$FLATBED" restack --build --cache "$CACHE" "$LOWER"
    [ "$status" -eq 1 ]
    [[ $output == *"attribute trusted.overlay.redirect, which is not followed"* ]]
    setfattr -x trusted.overlay.redirect "$STORE/3/d"
    touch "$STORE/3/another"
    ahead
    deep
    launch
    is_restacked
    within umount "$ROOT"
    touch "$STORE/3/one-more"
    deep
    launch
    run ! is_restacked
    # The launch began another tree; gc is refused until that is made.
    collect() { run "$FLATBED" gc --cache "$CACHE" --json && [ "$status" -eq 0 ]; }
    wait_until collect
    [ "$(gojq -r '.removed[0].removed' <<<"$output")" = "its layers are gone" ]
}

@test "layer names with the separators of layers and options" {
    world
    odd="$STORE/a:b,c d\\e"
    mv "$STORE/12" "$odd"
    LOWER="${LOWER%:*}:$(sed 's/[\\:,]/\\&/g' <<<"$odd")"
    mv "$STORE/c" "$STORE/u,p:per"
    deep_odd() {
        within mount -t overlay -o "lowerdir=$LOWER,upperdir=$STORE/u\\,p\\:per/upper,workdir=$STORE/u\\,p\\:per/work" overlay "$ROOT"
    }
    deep_odd || skip "this mount(8) does not take such names"
    launch
    wait_until is_ready
    launch
    is_restacked
    [ "$(within cat "$ROOT/d/f12")" = 12 ]
    within touch "$ROOT/new"
    [ -e "$STORE/u,p:per/upper/new" ]
}

@test "flatbed restack and gc: operands, JSON, refusals" {
    world
    run "$FLATBED" restack --cache "$CACHE"
    [ "$status" -eq 0 ]
    [ ! -e "$CACHE" ]
    run "$FLATBED" gc --cache "$CACHE"
    [ "$status" -eq 0 ]
    ahead | gojq -e '.ready and .layers == 12 and .files == 13 and .lookups > 5'
    run "$FLATBED" restack --cache "$CACHE"
    [[ ${lines[1]} =~ ^ready\ +12\ +13\ +6\.[0-9] ]]
    run "$FLATBED" restack --build --cache "$CACHE" "$LOWER"
    [ "$status" -eq 0 ]
    [[ $output =~ "there already" ]]
    mkdir "$CACHE/.build-00000000000000000000000000000000" "$CACHE/.old-x"
    run "$FLATBED" gc --cache "$CACHE" --dry-run
    # Other tests leave launches that are over.
    [ "$(grep -v 'of launches that are over$' <<<"$output")" = "" ]
    run "$FLATBED" gc --cache "$CACHE"
    [ "$(grep -v 'of launches that are over$' <<<"$output")" = "" ]
    [ "$(find "$CACHE" -mindepth 1 -maxdepth 1 -name '.[bo]*' | wc -l)" = 0 ]
    touch -d '40 days ago' "$CACHE"/[0-9a-f]*
    # While a tree is made none is removed, which is no failure.
    run flock "$CACHE/.lock" "$FLATBED" gc --cache "$CACHE"
    [ "$status" -eq 0 ]
    [[ $output == *"no tree is removed: a tree is being made in $CACHE"* ]]
    is_ready
    run "$FLATBED" gc --cache "$CACHE" -n
    [[ $output =~ "would remove "[0-9a-f]{32}", "[0-9.]+" KiB: it was not used for long" ]]
    is_ready
    run "$FLATBED" gc --cache "$CACHE"
    [[ $output =~ ^"removed " ]]
    [ "$(find "$CACHE" -mindepth 1 -maxdepth 1 ! -name .lock | wc -l)" = 0 ]
    [ -e "$STORE/7/d/f7" ]

    for words in "restack --build" "restack image" "restack --status --build x" "gc --max-size 1x" "gc --unused 99999" \
        "gc --cache relative" "restack --build no-such-image-at-all"; do
        # shellcheck disable=SC2086
        run "$FLATBED" $words
        [ "$status" -eq 2 ] || { echo "$words: $status: $output"; return 1; }
    done
    run "$FLATBED" restack --build --cache "$CACHE" .. /dev/null
    [ "$status" -eq 3 ]
    run "$FLATBED" restack --build --cache "$CACHE" "$STORE/nothing"
    [ "$status" -eq 3 ]
}

@test "explain reports a restack without doing it" {
    world
    deep
    explain() { within "$FLATBED" explain --policy "$DIR/policy.json" --config "$BUNDLE/config.json" --json |
        gojq -r '.operations[] | select(.kind == "rootfs") | .verdict + ": " + .reason + " " + .policy'; }
    [[ $(explain) =~ ^"kept: the container's root has 12 layers: there is no tree of them yet; one is made at a launch $DIR/policy.json:2" ]]
    [ ! -e "$CACHE" ]
    ahead
    [[ $(explain) =~ ^"added: the container's root has 12 layers: a tree of them is mounted in their place, if it is unused" ]]
    run ! is_restacked
    within umount "$ROOT"
    deep index=on
    [[ $(explain) =~ ^"skipped: ".*"mounted with 'index=on'" ]]
}

#!/usr/bin/env bats
# flatbed stale on stores made by hand, below a directory of the test alone. Needs root.
# shellcheck disable=SC2154,SC2016  # status and output are set by bats' run; inner shells expand

bats_require_minimum_version 1.5.0

load ../lib/stale

# layer STORE NUMBER LOWER...: a layer's directory, with its short name, as Docker and podman keep it.
layer() {
    local store=$1 id lower=""
    id=$(digits "$2")${INIT-}
    mkdir -p "$store/$id/diff" "$store/$id/work/work" "$store/l"
    chmod 0 "$store/$id/work/work"
    printf 'S%s' "$2${INIT-}" >"$store/$id/link"
    ln -s "../$id/diff" "$store/l/S$2${INIT-}"
    echo text >"$store/$id/diff/file$2"
    shift 2
    for one; do lower+=":l/S$one"; done
    [ -z "$lower" ] || printf %s "${lower#:}" >"$store/$id/lower"
}

# docker_store: image layers 1 and 2 (on 1), a container on 4 with 4-init, and strangers 7, 8 (on 1) and 8-init.
docker_store() {
    local db=$D/image/overlay2/layerdb
    layer "$D/overlay2" 1
    layer "$D/overlay2" 2 1
    layer "$D/overlay2" 3 # by a chain alone
    INIT=-init layer "$D/overlay2" 4 2 1
    layer "$D/overlay2" 4 4-init 3 2 1
    layer "$D/overlay2" 7
    layer "$D/overlay2" 8 8-init 1
    INIT=-init layer "$D/overlay2" 8 1
    mkdir -p "$db"/{sha256/a,sha256/b,mounts/c,tmp/write-set-1} "$D/volumes"
    digits 1 >"$db/sha256/a/cache-id"
    printf %s "$(digits 2)" >"$db/sha256/b/cache-id"
    printf %s "$(digits 4)" >"$db/mounts/c/mount-id"
    printf %s "$(digits 4)-init" >"$db/mounts/c/init-id"
    mkdir "$D/overlay2/backup" "$D/overlay2/tmp.1"
    : >"$D/volumes/metadata.db"
}

# podman_store: layers 1, 2 (on 1), a container's 4, and strangers 7 and 8.
podman_store() {
    for n in 1 7; do layer "$P/overlay" $n; done
    for n in 2 4 8; do layer "$P/overlay" $n 1; done
    mkdir -p "$P"/overlay-{layers,images,containers} "$P/overlay/staging"
    gojq -nc --arg a "$(digits 1)" --arg b "$(digits 2)" '[{id: $a}, {id: $b, parent: $a}]' >"$P/overlay-layers/layers.json"
    gojq -nc --arg b "$(digits 4)" '[{id: "c", layer: $b}]' >"$P/overlay-containers/volatile-containers.json"
    : >"$P/storage.lock"
    : >"$P/overlay-layers/layers.lock"
}

# ---- listing ----

@test "directories that Docker does not know, with their size and age" {
    docker_store
    head -c 200000 /dev/urandom >"$D/overlay2/$(digits 7)/diff/large"
    tree_of "$D" >"$DIR/before"
    stale --store="$D" --json
    exits 0
    [ "$(names)" = "7 8 8-init " ] || { names; false; }
    is '.left_out == [] and ([.stale[] | .engine == "docker" and .kind == "layer" and .state == "stale"] | all)'
    is '.stale[] | select(.path | endswith("07")) | .bytes > 200000 and .bytes < 260000 and .age >= 0 and .age < 1000'
    stale --store="$D"
    exits 0
    has "docker layer  $D/overlay2/$(digits 7): no layer of an image, no container and no build cache of Docker names it"
    has "3 stale directories: "
    run script -qec "COLUMNS=70 '$FLATBED' stale --store='$D'" /dev/null
    [[ $output == *"3 stale directories"* ]]
    ! tr -d '\r' <<<"$output" | grep -E '.{71}' || false
    stale --store="$D" --older=1h
    exits 0
    has "0 stale directories: 0 B"
    tree_of "$D" | diff "$DIR/before" -
}

@test "directories that podman does not know" {
    podman_store
    stale --store="$P" --json
    exits 0
    [ "$(names)" = "7 8 " ] || { names; false; }
    is '[.stale[] | .engine == "podman"] | all'
    gojq -nc --arg a "$(digits 7)" '[{id: $a}]' >"$P/overlay-layers/volatile-layers.json"
    gojq -nc --arg a "$(digits 8)" '[{id: "i", "mapped-layers": [$a]}]' >"$P/overlay-images/images.json"
    stale --store="$P" --json
    is '.stale == [] and .left_out == []'
}

@test "the stores of this host: Docker's data-root, those in it for userns-remap, podman's, or the user's own" {
    local all=$D home=$DIR/home
    docker_store
    D=$all/100000.100000
    docker_store
    D=$all/100000.x
    docker_store
    podman_store
    mkdir -p "$DIR"/etc/{docker,containers}
    gojq -nc --arg root "$all" '{"data-root": $root}' >"$DIR/etc/docker/daemon.json"
    printf '[storage]\ngraphroot = "%s"\n' "$P" >"$DIR/etc/containers/storage.conf"
    cp /etc/passwd /etc/group "$DIR/etc"
    run --separate-stderr unshare --mount --propagation private sh -c 'mount --bind "$1/etc" /etc && shift && exec "$@"' \
        sh "$DIR" "$FLATBED" stale --json
    exits 0
    is --arg all "$all" --arg podman "$P" '[.stale[] | select(.engine != "flatbed") | .path | sub("/overlay.*"; "")] |
        unique == [$all, $all + "/100000.100000", $podman]'

    mkdir -p "$home/.local/share/containers"
    mv "$all" "$home/.local/share/docker"
    mv "$P" "$home/.local/share/containers/storage"
    chown -R 4711:4711 "$home"
    chmod a+x "$DIR"
    run --separate-stderr setpriv --reuid=4711 --regid=4711 --clear-groups env HOME="$home" "$FLATBED" stale --json
    exits 0
    is --arg all "$home/.local/share" '[.stale[] | select(.engine != "flatbed") | .path | sub("/overlay.*"; "")] |
        unique == [$all + "/containers/storage", $all + "/docker"]'
}

@test "BuildKit's build cache is known by its databases" {
    local id=abcdefghijklmnopqrstuvwx7 other=abcdefghijklmnopqrstuvwx8
    docker_store
    mkdir -p "$D/overlay2"/{$id,$other}/diff "$D/buildkit"
    { head -c $((1024 * 1024 - 10)) /dev/zero; printf '%s' "x${id}y"; head -c 100 /dev/zero; } >"$D/buildkit/snapshots.db"
    stale --store="$D" --json
    exits 0
    [ "$(names)" = "7 8 8-init $other " ] || { names; false; }
    rm "$D/buildkit/snapshots.db"
    ln -s /dev/null "$D/buildkit/snapshots.db"
    stale --store="$D" --json
    exits 1
    is '.stale == [] and (.left_out | length == 1)'
}

@test "nothing is stale where the state cannot be read whole" {
    local file
    docker_store
    podman_store
    for file in image/overlay2/layerdb/{sha256/a/cache-id,mounts/c/mount-id}; do
        mv "$D/$file" "$DIR/kept"
        stale --store="$D" --json
        exits 1
        is '.stale == [] and (.left_out | length == 1)'
        : >"$D/$file"
        stale --store="$D" --remove --older=0
        exits 1
        has "left out"
        rm "$D/$file"
        mkfifo "$D/$file"
        stale --store="$D" --json
        exits 1
        rm "$D/$file"
        mv "$DIR/kept" "$D/$file"
    done
    mv "$D/image" "$DIR/image"
    stale --store="$D" --store="$P" --json
    exits 1
    [ "$(names)" = "7 8 " ] || { names; false; }
    for text in '{}' '[{}]' '[{"id": 3}]' '[' '' 'garbage'; do
        printf %s "$text" >"$P/overlay-layers/layers.json"
        stale --store="$P" --json --remove --older=0
        exits 1
        is '.stale == [] and (.left_out | length == 1)'
    done
    rm "$P/overlay-layers/layers.json"
    stale --store="$P" --json
    exits 1
    is '.stale == []'
    rm -r "$P/overlay-layers"
    stale --store="$P"
    exits 1
    has "the engine's state is not beside it"
    stale --store="$DIR/missing"
    exits 1
    mkdir -p "$DIR/unused/overlay/l" "$DIR/unused/overlay2/l" "$DIR/empty"
    stale --store="$DIR/unused" --json
    exits 0
    is '.stale == [] and .left_out == []'
    stale --store="$DIR/empty"
    exits 1
    has "neither overlay2 nor overlay"
}

@test "what is mounted is not stale, in any mount namespace, by either name" {
    podman_store
    layer "$P/overlay" 9
    mkdir "$DIR/mnt"
    local upper
    upper=$P/overlay/$(digits 8)
    (cd "$P/overlay" && exec unshare --mount --propagation private sh -c 'mount -t overlay none "$1" -o "lowerdir=l/S7,upperdir=$2/diff,workdir=$2/work" &&
        touch "$3" && exec sleep 300' sh "$DIR/mnt" "$upper" "$DIR/mounted") 3>&- &
    local pid=$!
    for _ in $(seq 50); do [ -e "$DIR/mounted" ] || sleep 0.1; done
    [ -e "$DIR/mounted" ]
    stale --store="$P" --remove --older=0
    kill $pid
    exits 0
    has "$(digits 9): removed"
    [ -d "$P/overlay/$(digits 7)/diff" ]
    [ -d "$P/overlay/$(digits 8)/diff" ]
}

# ---- removing ----

@test "removal of what is stale leaves all else, and the links of the others" {
    docker_store
    podman_store
    mkdir "$DIR/outside"
    echo kept >"$DIR/outside/file"
    ln -s "$DIR/outside" "$D/overlay2/$(digits 7)/diff/link"
    ln -s "$DIR/outside" "$D/overlay2/$(digits 9)"
    rm "$D/overlay2/l/S8"
    ln -s "../$(digits 1)/diff" "$D/overlay2/l/S8" # another's
    stale --store="$D" --store="$P" --remove
    exits 0
    has "0 stale directories" # younger than 30 days
    tree_of "$D" >"$DIR/docker.before"
    tree_of "$P" >"$DIR/podman.before"
    stale --store="$D" --store="$P" --remove --older=0 --json
    exits 0
    is '[.stale[] | .state == "removed"] == [true, true, true, true, true]'
    has "removing $D/overlay2/$(digits 7): "
    diff <(grep -v "^./overlay2/\($(digits 7)\|$(digits 8)\|l/S7\$\|l/S8-init\$\)" "$DIR/docker.before") <(tree_of "$D")
    diff <(grep -v "^./overlay/\($(digits 7)\|$(digits 8)\|l/S[78]\$\)" "$DIR/podman.before") <(tree_of "$P")
    [ "$(<"$DIR/outside/file")" = kept ]
    stale --store="$D" --store="$P" --json
    is '.stale == []'
}

@test "while Docker runs, only what is older than a day goes" {
    docker_store
    exec 7<"$D/volumes/metadata.db"
    flock -x 7
    stale --store="$D" --remove --older=0
    exits 1
    has "Docker runs and may be making it"
    [ -d "$D/overlay2/$(digits 7)/diff" ]
    exec 7<&-
    rm "$D/volumes/metadata.db" # nothing tells
    stale --store="$D" --remove --older=0
    exits 1
    [ -d "$D/overlay2/$(digits 7)/diff" ]
}

@test "podman's locks are waited for, and without them nothing goes" {
    podman_store
    python3 -c 'import fcntl, sys, time
f = open(sys.argv[1], "r+")
fcntl.lockf(f, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
time.sleep(60)' "$P/overlay-layers/layers.lock" "$DIR/locked" 3>&- &
    local pid=$!
    until [ -e "$DIR/locked" ]; do sleep 0.1; done
    stale --store="$P" --remove --older=0
    exits 1
    has "layers.lock is not free"
    [ -d "$P/overlay/$(digits 7)/diff" ]
    kill $pid
    rm "$P/storage.lock"
    stale --store="$P" --remove --older=0
    exits 1
    has "its lock storage.lock"
    [ -d "$P/overlay/$(digits 7)/diff" ]
}

@test "a removal that was killed is finished by the next one" {
    podman_store
    mv "$P/overlay/$(digits 7)" "$P/overlay/.flatbed-stale-$(digits 7)"
    stale --store="$P" --json
    exits 0
    is '.stale | map(.kind) | sort == ["layer", "remains"]'
    stale --store="$P" --remove --json
    exits 0
    is '.stale | length == 1 and (.[0] | .kind == "remains" and .state == "removed")'
    [ ! -e "$P/overlay/.flatbed-stale-$(digits 7)" ]
    [ ! -L "$P/overlay/l/S7" ]
    [ -d "$P/overlay/$(digits 8)" ]
}

@test "kill -9 at any moment leaves what the next run removes" {
    local n i
    docker_store
    tree_of "$D" | grep -v "$(digits 7)\|$(digits 8)\|/S[78]\b" >"$DIR/before"
    for n in 0.02 0.05 0.1 0.2 0.4; do
        mkdir -p "$D/overlay2/$(digits 7)/diff"/{a,b,c}
        for i in a b c; do (cd "$D/overlay2/$(digits 7)/diff/$i" && seq 3000 | xargs touch); done
        "$FLATBED" stale --store="$D" --remove --older=0 >/dev/null 2>&1 3>&- &
        sleep "$n"
        kill -9 $! 2>/dev/null || true
        wait $! || true
        stale --store="$D" --remove --older=0
        exits 0
        tree_of "$D" | grep -v "/S[78]\b" | diff "$DIR/before" -
    done
}

# True if the file system is there.
fuse_settled() { grep -q " $DIR/fuse fuse" /proc/self/mountinfo; }

@test "a store that hangs is given up" {
    [ -e /dev/fuse ] && command -v fuse-overlayfs || skip "no FUSE"
    docker_store
    mkdir "$DIR/lower" "$DIR/lower2" "$DIR/fuse"
    fuse-overlayfs -f -o "lowerdir=$DIR/lower:$DIR/lower2" "$DIR/fuse" >/dev/null 2>&1 3>&- &
    local pid=$! begin
    for _ in $(seq 100); do
        if fuse_settled; then break; fi
        sleep 0.1
    done
    kill -STOP "$pid"
    begin=$SECONDS
    stale --store="$DIR/fuse" --store="$D"
    kill -CONT "$pid"
    umount -l "$DIR/fuse"
    exits 1
    has "$DIR/fuse: left out, nothing there is held to be stale: it does not answer"
    has "3 stale directories"
    [ $((SECONDS - begin)) -lt 10 ]
}

@test "deep trees, odd names, files that stay" {
    docker_store
    python3 -c 'import os, sys
os.chdir(sys.argv[1])
for n in range(3):
    os.mkdir(".deep-%d" % n)
    open(".deep-%d/x" % n, "w").close()
for i in range(3000):
    os.mkdir("d")
    open("f", "w").close()
    os.chdir("d")' "$D/overlay2/$(digits 7)"
    mkfifo "$D/overlay2/$(digits 8)/diff/"$'\e[2J\n'
    stale --store="$D" --json
    is '[.stale[] | select(.partial)] | length == 1'
    stale --store="$D" --remove --older=0
    exits 0
    has_not $'\e'
    [ "$(find "$D/overlay2" -name "*7" -o -name '.flatbed*')" = "" ]
    layer "$D/overlay2" 9
    mkdir -p "$DIR/docker"$'\e[2J'
    stale --store="$DIR/docker"$'\e[2J'
    has_not $'\e'
    chattr +i "$D/overlay2/$(digits 9)/diff/file9" || return 0 # not on every file system
    stale --store="$D" --remove --older=0
    exits 1
    has "it stays: a part of it is left as .flatbed-stale-$(digits 9)"
    chattr -i "$D/overlay2/.flatbed-stale-$(digits 9)/diff/file9"
    stale --store="$D" --remove
    exits 0
    [ ! -e "$D/overlay2/.flatbed-stale-$(digits 9)" ]
}

@test "the command line" {
    stale --older=x --store="$DIR"
    exits 2
    stale --older=3w --store="$DIR"
    exits 2
    stale --older= --store="$DIR"
    exits 2
}

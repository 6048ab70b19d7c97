#!/usr/bin/env bats
# flatbed zfs and doctor on a real ZFS: zfs-fuse with a pool in a file, in a mount namespace of its own (its socket, lock
# and cache are in /run and /var/lib there), stopped by its pid. zfs-fuse has no .zfs directories, no lz4, no xattr=sa:
# diff reads clones here; tests/cli/flatbed/host/zfs.bats has the rest, with recorded output of OpenZFS.
# shellcheck disable=SC2154,SC2016  # status and output are set by bats' run; inner shells expand

bats_require_minimum_version 1.5.0

refuse() { [ "${CI-}" = true ] || [ "${FLATBED_TESTS_STRICT-}" = 1 ] || skip "$1"; echo "required here, but: $1"; return 1; }

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    [ "$(id -u)" -eq 0 ] || refuse "needs root"
    [ -c /dev/fuse ] || refuse "needs /dev/fuse"
    # not beside the programs of the kernel's ZFS, and not in each release of Debian
    command -v zfs-fuse >/dev/null || skip "needs zfs-fuse"
    DIR=$(mktemp -d "${FLATBED_TESTS_TMP:-/tmp}/fb-zfs.XXXXXX")
    truncate -s 300M "$DIR/disk" "$DIR/other"
    mkdir "$DIR/m"
    unshare --mount --propagation private sh -c '
        mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib && mkdir /run/lock &&
        exec zfs-fuse --no-daemon --no-kstat-mount --max-arc-size 32' >"$DIR/log" 2>&1 3>&- &
    PID=$!
    for _ in $(seq 300); do
        ! inside zpool list >/dev/null 2>&1 || break
        kill -0 "$PID" || { cat "$DIR/log"; return 1; }
        sleep 0.1
    done
    inside zpool create -m "$DIR/m/tank" tank "$DIR/disk"
}

teardown() {
    [ -n "${DIR-}" ] || return 0
    inside zpool destroy -f tank 2>/dev/null || true
    inside zpool destroy -f backup 2>/dev/null || true
    kill -TERM "$PID" 2>/dev/null || true
    for _ in $(seq 50); do kill -0 "$PID" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$PID" 2>/dev/null || true
    rm -rf --one-file-system "$DIR"
}

inside() { nsenter --mount="/proc/$PID/ns/mnt" -- "$@"; }
flatbed() { run inside "$FLATBED" "$@"; }
has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }
has_not() { [[ $output != *"$1"* ]] || { printf 'this has %s:\n%s\n' "$1" "$output"; return 1; }; }
exits() { [ "$status" -eq "$1" ] || { echo "status $status: $output"; return 1; }; }
is_json() { gojq -e "$@" <<<"$output" >/dev/null || { echo "$output"; return 1; }; }

# storage ROOT IMAGE=LAYER:BYTES...: the lists of containers/storage with these images of one layer.
storage() {
    local root=$1
    shift
    inside mkdir -p "$root/overlay-images" "$root/overlay-layers"
    printf '%s\n' "$@" | gojq -Rnc '[inputs | capture("^(?<name>.*)=(?<layer>[^:]*):") |
        {id: ("id-" + .layer), names: [.name], layer: .layer}]' >"$DIR/images"
    printf '%s\n' "$@" | gojq -Rnc '[inputs | capture("=(?<id>[^:]*):(?<bytes>.*)$") |
        {id, "diff-size": (.bytes | tonumber)}] | unique' >"$DIR/layers"
    inside cp "$DIR/images" "$root/overlay-images/images.json"
    inside cp "$DIR/layers" "$root/overlay-layers/layers.json"
}

@test "advice on datasets by use, and nothing to say once its commands ran" {
    inside zfs create tank/store
    inside zfs create -o recordsize=8K "tank/my models"
    inside zfs create -o atime=off -o compression=on -o dedup=on tank/data
    flatbed zfs advice --json --store="$DIR/m/tank/store" "models=$DIR/m/tank/my models/hub" "datasets=$DIR/m/tank/data"
    exits 0
    is_json '[.advice[] | "\(.dataset) \(.use) \(.property) \(.is) \(.level)"] == [
        "tank/my models models recordsize 8K advice", "tank/my models models compression off advice",
        "tank/my models models atime on advice", "tank/my models models dedup off ok",
        "tank/data datasets recordsize 128K advice", "tank/data datasets compression on ok",
        "tank/data datasets atime off ok", "tank/data datasets dedup on warning",
        "tank/store image store recordsize 128K ok", "tank/store image store compression off advice",
        "tank/store image store atime on advice", "tank/store image store xattr on advice",
        "tank/store image store dedup off ok"]'
    is_json '.advice[] | select(.property == "dedup" and .is == "on") | .why | contains("of RAM")'
    # each command that this ZFS understands is taken as it is printed
    while read -r line; do
        case $line in *=lz4* | *=1M* | *=sa*) continue ;; esac
        inside sh -c "$line"
    done < <(gojq -r '.advice[].set // empty' <<<"$output")
    [ "$(inside zfs get -H -o value atime "tank/my models")" = off ]
    flatbed zfs advice --json --store="$DIR/m/tank/store" "models=$DIR/m/tank/my models" "datasets=$DIR/m/tank/data"
    is_json '[.advice[] | select(.level != "ok") | .should] | sort == ["1M", "1M", "lz4", "lz4", "sa"]'
    flatbed zfs advice --store=/usr "models=$DIR"
    exits 0
    has "None of the paths lies on ZFS."
}

@test "doctor tells of properties beneath a store" {
    inside zfs create -o atime=off -o xattr=off -o dedup=on tank/store
    flatbed doctor --json --store="$DIR/m/tank/store" --only=zfs-{atime,compression,dedup,recordsize,xattr}
    exits 11
    is_json '[.diagnoses[] | "\(.level) \(.id)"] == ["ok zfs-recordsize", "advice zfs-compression", "ok zfs-atime",
        "error zfs-xattr", "warning zfs-dedup"]'
    is_json '.diagnoses[] | select(.id == "zfs-compression") | .mend | startswith("zfs set compression=lz4 tank/store;")'
}

@test "snapshots of a store: taken, refused when they exist, listed, and compared by image and layer" {
    local store=$DIR/m/tank/store
    inside zfs create tank/store
    inside zfs create tank/store/below
    storage "$store" lab/torch:1=aaa:1000000 lab/old:1=bbb:2000
    flatbed zfs snapshot 2.7 --dry-run --store="$store"
    exits 0
    [ "$output" = "zfs snapshot -r tank/store@2.7" ]
    [ -z "$(inside zfs list -H -t snapshot -o name)" ]
    flatbed zfs snapshot 2.7 --store="$store"
    exits 0
    [ "$(inside zfs list -H -t snapshot -o name)" = $'tank/store@2.7\ntank/store/below@2.7' ]
    flatbed zfs snapshot 2.7 --store="$store"
    exits 2
    has "tank/store@2.7 exists"
    storage "$store" lab/torch:1=ccc:3000000 lab/new:1=ccc:3000000
    flatbed zfs snapshot 2.8 --store="$store"
    exits 0
    flatbed zfs list --json --store="$store"
    is_json --arg store "$store" '[.snapshots[].name] == ["2.7", "2.8"] and
        (.snapshots[0] | .store == $store and .dataset == "tank/store" and .referenced > 0 and .created > 1600000000)'
    flatbed zfs diff 2.7 --store="$store" # zfs-fuse shows no .zfs
    exits 3
    has "name the clone's directory"
    inside zfs clone tank/store@2.7 tank/old
    flatbed zfs diff "$DIR/m/tank/old" --json --store="$store"
    exits 0
    is_json '[.stores[0].changes[] | "\(.change) \(.kind) \(.name) \(.was) \(.bytes)"] == [
        "added image lab/new:1 null null", "removed image lab/old:1 null null", "changed image lab/torch:1 id-aaa null",
        "removed layer aaa null 1000000", "removed layer bbb null 2000", "added layer ccc null 3000000"]'
    is_json '.stores[0] | .added == 3000000 and .removed == 1002000'
}

@test "a store without a dataset of its own: no dataset below, and a word of it" {
    inside mkdir "$DIR/m/tank/docker"
    inside zfs create tank/home
    flatbed zfs snapshot v1 --store="$DIR/m/tank/docker"
    exits 0
    has "is no dataset of its own"
    [ "$(inside zfs list -H -t snapshot -o name)" = tank@v1 ]
}

@test "the recipe of docs/zfs.md: versions sent to another pool are the same store there" {
    local store=$DIR/m/tank/store
    inside zfs create tank/store
    storage "$store" lab/torch:1=aaa:1000
    flatbed zfs snapshot v1 --store="$store"
    exits 0
    storage "$store" lab/torch:1=aaa:1000 lab/torch:2=bbb:5000
    flatbed zfs snapshot v2 --store="$store"
    exits 0
    inside zpool create -m "$DIR/m/backup" backup "$DIR/other"
    inside sh -ec 'zfs send tank/store@v1 | zfs receive backup/store
        zfs send -i v1 tank/store@v2 | zfs receive -F backup/store'
    [ "$(inside zfs list -H -t snapshot -o name -r backup/store)" = $'backup/store@v1\nbackup/store@v2' ]
    flatbed zfs diff "$store" "$DIR/m/backup/store"
    exits 0
    has "layers added: 0 B, removed: 0 B"
    inside zfs clone backup/store@v1 backup/v1
    flatbed zfs diff "$DIR/m/backup/v1" "$DIR/m/backup/store"
    has "+ image            lab/torch:2 (id-bbb)"
    has_not lab/torch:1
}

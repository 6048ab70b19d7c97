#!/usr/bin/env bats
# flatbed zfs and doctor with a stand-in for the programs of OpenZFS 2, which answers as their manual pages show:
# xattr=sa, lz4, dnodesize, several snapshots in one call, .zfs directories. The store lies on FUSE, where flatbed asks zfs.
# tests/engine/zfs.bats has a real ZFS. Needs root.
# shellcheck disable=SC2154,SC2016  # status and output are set by bats' run; inner shells expand

bats_require_minimum_version 1.5.0

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    [ "$(id -u)" -eq 0 ] || { [ "$CI" != true ] && skip "needs root"; return 1; }
    command -v fuse-overlayfs >/dev/null || { [ "$CI" != true ] && skip "needs fuse-overlayfs"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-zfs.XXXXXX")
    mkdir "$DIR/bin" "$DIR/lower" "$DIR/fuse"
    mount_store
    STORE=$DIR/fuse
    echo tank/docker >"$DIR/name"
    : >"$DIR/snapshots"
    properties recordsize=131072 compression=lz4 atime=off relatime=on xattr=sa dnodesize=auto dedup=off used=1000000
    stand_in
}

teardown() {
    [ -n "${DIR-}" ] || return 0
    umount "$DIR/fuse" 2>/dev/null || umount -l "$DIR/fuse" 2>/dev/null || true
    rm -rf --one-file-system "$DIR"
}

# mount_store: shows $DIR/lower on FUSE, as it is now.
mount_store() {
    ! mountpoint -q "$DIR/fuse" || umount "$DIR/fuse"
    fuse-overlayfs -o "lowerdir=$DIR/lower" "$DIR/fuse" 2>/dev/null
}

# properties NAME=VALUE...: those of tank/docker.
properties() {
    printf 'tank/docker\tmountpoint\t%s\n' "$STORE" >"$DIR/properties"
    for word; do
        printf 'tank/docker\t%s\t%s\n' "${word%%=*}" "${word#*=}" >>"$DIR/properties"
    done
}

# stand_in: programs zfs and zpool that read the files in $DIR, and keep their words in $DIR/calls.
stand_in() {
    sed "s|@DIR@|$DIR|" >"$DIR/bin/zfs" <<'END'
#!/bin/sh
D=@DIR@
printf '%s|' "$@" >>"$D/calls"; echo >>"$D/calls"
[ ! -e "$D/first" ] || . "$D/first"
case "$1 $*" in
    list*) cat "$D/name" ;;
    "get get -Hp -r"*) cat "$D/snapshots" ;;
    *written@*) echo 123456789 ;;
    get*)
        for word in $(echo "$5" | tr , ' '); do
            if grep -q "	$word	" "$D/properties"; then
                grep "	$word	" "$D/properties"
            else
                echo "bad property list: invalid property '$word'" >&2
                exit 2
            fi
        done ;;
    snapshot*) [ ! -e "$D/fails" ] || { cat "$D/fails" >&2; exit 1; } ;;
    *) echo "unrecognized command '$1'" >&2; exit 2 ;;
esac
END
    cat >"$DIR/bin/zpool" <<'END'
#!/bin/sh
cat <<'STATUS'
  pool: tank
 state: ONLINE
config:

	NAME        STATE     READ WRITE CKSUM
	tank        ONLINE       0     0     0
	  nvme0n1   ONLINE       0     0     0

errors: No known data errors

 dedup: DDT entries 52428800, size 452B on disk, 146B in core
STATUS
END
    chmod 0755 "$DIR/bin/"*
}

# flatbed WORDS...: where the programs of $DIR/bin are those of /usr/local/sbin.
flatbed() {
    run unshare --mount --propagation private sh -ec '
        mount --bind "$1" /usr/local/sbin; shift; exec "$@"' sh "$DIR/bin" "$FLATBED" "$@"
}

has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }
has_not() { [[ $output != *"$1"* ]] || { printf 'this has %s:\n%s\n' "$1" "$output"; return 1; }; }
exits() { [ "$status" -eq "$1" ] || { echo "status $status: $output"; return 1; }; }
is_json() { gojq -e "$@" <<<"$output" >/dev/null || { echo "$output"; return 1; }; }

# snapshots NAME...: those of tank/docker, a day apart.
snapshots() {
    local created=1700000000 name
    : >"$DIR/snapshots"
    for name; do
        printf 'tank/docker@%s\t%s\t%s\n' "$name" used 4096 "$name" referenced 2000000 "$name" creation "$created" \
            >>"$DIR/snapshots"
        created=$((created + 86400))
    done
}

# docker_store ROOT NAME=ID...: repositories.json of Docker; layer ROOT NAME BYTES: a layer of it.
docker_store() {
    local root=$1/image/overlay2
    shift
    mkdir -p "$root"
    printf '%s\n' "$@" | gojq -Rnc '[inputs | capture("^(?<key>.*)=(?<value>.*)$")] |
        {Repositories: {lab: from_entries}}' >"$root/repositories.json"
}
layer() {
    mkdir -p "$1/image/overlay2/layerdb/sha256/$(printf '%064d' "$2")"
    echo "$3" >"$1/image/overlay2/layerdb/sha256/$(printf '%064d' "$2")/size"
}

# ---- advice ----

@test "a dataset as it should be has no advice" {
    flatbed zfs advice --json --store="$STORE"
    exits 0
    is_json '[.advice[] | .property] == ["recordsize", "compression", "atime", "xattr", "dnodesize", "dedup"] and
        all(.advice[]; .level == "ok" and .set == null and .dataset == "tank/docker")'
    flatbed zfs advice --store="$STORE"
    has "All of it is right."
}

@test "each property that costs time or room, with the command that sets it" {
    properties recordsize=16384 compression=off atime=on relatime=off xattr=on dnodesize=legacy dedup=on used=1
    flatbed zfs advice --store="$STORE"
    exits 0
    for set in recordsize=128K compression=lz4 atime=off xattr=sa dnodesize=auto dedup=off; do
        has "zfs set $set tank/docker"
    done
    has "its table has 52428800 entries of about 320 bytes: 16.8 GB of RAM"
    flatbed doctor --json --store="$STORE" --only=zfs-{atime,compression,dedup,dnodesize,recordsize,xattr}
    exits 10
    is_json '[.diagnoses[] | "\(.level) \(.id)"] == ["advice zfs-recordsize", "advice zfs-compression",
        "advice zfs-atime", "advice zfs-xattr", "advice zfs-dnodesize", "warning zfs-dedup"]'
    properties recordsize=131072 compression=zstd atime=on relatime=on xattr=sa dedup=off used=1
    flatbed zfs advice --json --store="$STORE" # an older ZFS: dnodesize is not known
    is_json '[.advice[] | .property + " " + .is + " " + .level] == ["recordsize 128K ok", "compression zstd ok",
        "atime on, relatime ok", "xattr sa ok", "dedup off ok"]'
}

@test "volumes of the policy by their uses, and the use of a path that is said" {
    properties recordsize=131072 compression=lz4 atime=off xattr=sa dedup=off used=1
    cat >"$DIR/policy.json" <<END
{"version": 1, "volumes": {"models": {"source": "$STORE/hub/{user}", "target": "/models", "access": "ro"},
    "outside": {"source": "$DIR/{user}", "target": "/x", "access": "rw"}}}
END
    flatbed zfs advice --json --store=/usr --policy="$DIR/policy.json"
    exits 0
    is_json --arg path "$STORE/hub" '[.advice[] | select(.level != "ok")] |
        length == 1 and (.[0] | .use == "models" and .path == $path and .set == "zfs set recordsize=1M tank/docker")'
    flatbed zfs advice --json --store=/usr --policy="$DIR/policy.json" "logs=$STORE"
    is_json '[.advice[] | select(.use == "logs") | .level] == ["ok", "ok", "ok", "ok"]'
    flatbed zfs advice relative/path
    exits 2
    has "expected an absolute path, or USE=PATH"
}

# ---- programs that lie, fail or hang ----

@test "what zfs prints is checked before it becomes a word or a line" {
    printf -- '-rf tank\n' >"$DIR/name"
    flatbed zfs advice --store="$STORE"
    exits 1
    has "zfs names no dataset"
    printf 'tank/x;reboot\n' >"$DIR/name"
    flatbed zfs snapshot v1 --store="$STORE"
    exits 5
    has "zfs names no dataset"
    echo tank/docker >"$DIR/name"
    printf 'tank/docker\tcompression\toff\tdocker\n' >>"$DIR/properties"
    flatbed zfs advice --store="$STORE"
    exits 1
    has "a line that is not understood"
    properties recordsize=131072 compression=$'\e[31moff' atime=off xattr=sa dedup=off used=1
    flatbed zfs advice --store="$STORE"
    exits 0
    has_not $'\e'
}

@test "a zfs that hangs or never ends is given up" {
    echo 'exec sleep 1000' >"$DIR/first"
    flatbed zfs snapshot v1 --store="$STORE" --dry-run
    # on FUSE, a zfs that does not know the path means that it is another file system
    exits 8
    has "no store of images lies on ZFS"
    echo 'case $1 in get) exec sleep 1000; esac' >"$DIR/first"
    flatbed zfs advice --store="$STORE"
    exits 1
    has "zfs does not answer within 9 s"
    echo 'case $1 in get) exec yes; esac' >"$DIR/first"
    flatbed zfs advice --store="$STORE"
    exits 1
    has "zfs prints more than 16 MiB"
}

# ---- snapshots ----

@test "a snapshot is one call for a pool; --dry-run runs none; names are checked" {
    flatbed zfs snapshot torch-2.7 --dry-run --store="$STORE"
    exits 0
    [ "$output" = "zfs snapshot -r tank/docker@torch-2.7" ]
    [ "$(grep -c '^snapshot' "$DIR/calls")" -eq 0 ]
    flatbed zfs snapshot torch-2.7 --store="$STORE"
    exits 0
    [ "$(grep -c '^snapshot' "$DIR/calls")" -eq 1 ]
    grep -qx 'snapshot|-r|tank/docker@torch-2.7|' "$DIR/calls"
    for name in -r .. a@b a/b 'a b' '' 'a;b' a%b; do
        flatbed zfs snapshot --store="$STORE" -- "$name"
        exits 2
        has "is no name of a snapshot"
    done
    snapshots torch-2.7
    flatbed zfs snapshot torch-2.7 --dry-run --store="$STORE"
    exits 2
    has "tank/docker@torch-2.7 exists"
    echo "cannot create snapshots : permission denied" >"$DIR/fails"
    flatbed zfs snapshot v9 --store="$STORE"
    exits 3
    has "zfs: cannot create snapshots : permission denied"
    flatbed zfs snapshot v9 --json --store="$STORE"
    exits 2
}

@test "the list, the oldest first" {
    snapshots b a
    flatbed zfs list --json --store="$STORE"
    exits 0
    is_json '.snapshots | [.[].name] == ["b", "a"] and .[0].created == 1700000000 and .[1].referenced == 2000000'
    flatbed zfs list --store="$STORE"
    has "2023-11-14 22:13:20     4.1 kB     2.0 MB  tank/docker@b"
    snapshots
    flatbed zfs list --store="$STORE"
    has "no snapshots"
}

# ---- differences ----

@test "images and layers of Docker between two snapshots, and a snapshot and now" {
    local old=$DIR/lower/.zfs/snapshot/v1 new=$DIR/lower/.zfs/snapshot/v2
    docker_store "$old" lab/torch:2=sha256:aa lab/gone:1=sha256:bb
    layer "$old" 1 1000
    layer "$old" 2 500
    docker_store "$new" lab/torch:2=sha256:cc lab/new:1=sha256:cc
    layer "$new" 1 1000
    layer "$new" 3 70000
    mkdir -p "$new/image/overlay2/imagedb/content/sha256"
    touch "$new/image/overlay2/imagedb/content/sha256/$(printf '%064d' 9)"
    mount_store
    flatbed zfs diff v1 v2 --store="$STORE"
    exits 0
    has "$STORE: v1 to v2"
    has "+ image            lab/new:1 (sha256:cc)"
    has "- image            lab/gone:1 (sha256:bb)"
    has "~ image            lab/torch:2 (sha256:aa -> sha256:cc)"
    has "+ image            sha256:$(printf '%064d' 9)"
    has "+ layer   70.0 kB  sha256:$(printf '%064d' 3)"
    has "- layer     500 B  sha256:$(printf '%064d' 2)"
    has "layers added: 70.0 kB, removed: 500 B, before compression"
    has_not "$(printf '%064d' 1)"
    docker_store "$DIR/lower" lab/torch:2=sha256:aa
    mount_store
    flatbed zfs diff v1 --json --store="$STORE"
    exits 0
    is_json '.stores[0] | .written == 123456789 and .to == null and .removed == 1500 and
        ([.changes[] | select(.kind == "image") | .name] == ["lab/gone:1"])'
    flatbed zfs diff v1 v3 --store="$STORE"
    exits 3
    has "no such snapshot"
    flatbed zfs diff ../../etc --store="$STORE"
    exits 2
}

@test "a store that was tampered with: links, pipes, malformed lists and names with control characters" {
    local a=$DIR/a b=$DIR/b
    docker_store "$a" lab/x:1=sha256:aa
    mkdir -p "$b/image/overlay2"
    ln -s "$a/image/overlay2/repositories.json" "$b/image/overlay2/repositories.json"
    flatbed zfs diff "$a" "$b"
    exits 3
    has "repositories.json"
    rm "$b/image/overlay2/repositories.json"
    mkfifo "$b/image/overlay2/repositories.json"
    flatbed zfs diff "$a" "$b"
    exits 5
    has "not a regular file"
    rm "$b/image/overlay2/repositories.json"
    echo '{"Repositories": ' >"$b/image/overlay2/repositories.json"
    flatbed zfs diff "$a" "$b"
    exits 5
    docker_store "$b" $'lab/\e[31mred:1=sha256:bb'
    flatbed zfs diff "$a" "$b"
    exits 0
    has 'lab/\x1b[31mred:1'
    mkdir "$DIR/empty"
    flatbed zfs diff "$a" "$DIR/empty"
    exits 8
    has "names of containerd are in a database"
}

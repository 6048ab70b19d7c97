#!/usr/bin/env bats
# flatbed doctor: stores of the engines and of users, their disks and images, and volumes of the policy.
# shellcheck disable=SC2154,SC2016,SC2034  # status and output are set by bats' run; inner shells expand; the helpers read variables

bats_require_minimum_version 1.5.0

load doctor_host

# ---- stores ----

@test "a store on ext4: its room, and what a copy-up costs there" {
    file_system mkfs.ext4 -q
    doctor --store="$STORE" --only=store-type --only=store-room
    exits 0
    has "ok       $STORE: it is on ext4 [store-type]"
    has "are free ("
    doctor --only=store-copyup --store="$STORE" # too small for a measurement
    has_not "[store-copyup]"
    doctor --json --only=store-copyup --store="$DIR"
    gojq -e '.diagnoses[0].seen | test("^the first write to a file of an image (copies it: [0-9]+ ms for 500 MB [(]measured with [0-9.]+ MB[)]|shares its blocks: [0-9.]+ ms for any size)$")' \
        <<<"$output"
}

@test "XFS with shared blocks is in order, and without them there is advice" {
    command -v mkfs.xfs || { [ "$CI" != true ] && skip "needs mkfs.xfs"; return 1; }
    truncate -s 900M "$DIR/disk"
    mkfs.xfs -q -m reflink=1 "$DIR/disk"
    mount -o loop "$DIR/disk" "$STORE"
    doctor --store="$STORE" --only=store-copyup
    exits 0
    has "$STORE: the first write to a file of an image shares its blocks"
    umount "$STORE"
    mkfs.xfs -q -f -m reflink=0 "$DIR/disk"
    mount -o loop "$DIR/disk" "$STORE"
    doctor --store="$STORE" --only=store-copyup
    exits 0
    has "advice   $STORE: the first write to a file of an image copies it"
    has "mkfs.xfs -m reflink=1"
    [ -z "$(find "$STORE" -type f)" ]
}

@test "file systems on which overlayfs cannot keep containers are errors" {
    file_system mkfs.ext4 -q -O ^filetype
    doctor --store="$STORE" --only=store-type
    exits 11
    has "error    $STORE: ext4 there does not tell the types of entries"
    umount "$STORE"
    mkdir "$DIR/upper" "$DIR/work" "$DIR/lower"
    mount -t overlay overlay -o "lowerdir=$DIR/lower,upperdir=$DIR/upper,workdir=$DIR/work" "$STORE"
    doctor --store="$STORE" --only=store-type
    exits 11
    has "it is on overlay"
    umount "$STORE"
    mount -t tmpfs none "$STORE"
    doctor --store="$STORE" --only=store-type
    exits 10
    has "images take memory"
}

@test "a store with little room left, in bytes or inodes" {
    file_system mkfs.ext4 -q -m 0
    fallocate -l "$(($(df --output=avail -B1 "$STORE" | tail -n 1) * 95 / 100))" "$STORE/fill"
    says store-room warning "docker image prune" --store="$STORE"
    fallocate -l "$(($(df --output=avail -B1 "$STORE" | tail -n 1) * 9 / 10))" "$STORE/more"
    says store-room error "are free (0 %)" --store="$STORE"
    rm "$STORE/fill" "$STORE/more"
    umount "$STORE"
    mkfs.ext4 -q -F -N 100 "$DIR/disk"
    mount -o loop "$DIR/disk" "$STORE"
    seq -f "$STORE/%g" 386 | xargs touch
    says store-room error "inodes are free" --store="$STORE"
}

@test "the stores are found in the configurations of the engines" {
    mkdir "$DIR/docker" "$DIR/c" "$DIR/p"
    echo "root = \"$DIR/c\"" >"$DIR/etc/containerd/config.toml"
    printf '[storage]\ngraphroot = "%s/p"\n' "$DIR" >"$DIR/etc/containers/storage.conf"
    doctor --only=store-type
    has "$DIR/docker:"
    has "$DIR/c:"
    has "$DIR/p:"
    rmdir "$DIR/p" # an engine that is not there is no finding, a store that was named is one
    doctor --only=store-type --only=store-unread
    has_not "$DIR/p"
    doctor --only=store-unread --store="$DIR/p"
    exits 10
    has "warning  $DIR/p: it cannot be opened: No such file or directory"
}

@test "a store on btrfs: room without inodes, and copies that share blocks" {
    command -v mkfs.btrfs || { [ "$CI" != true ] && skip "needs mkfs.btrfs"; return 1; }
    truncate -s 900M "$DIR/disk"
    mkfs.btrfs -q "$DIR/disk"
    mount -o loop "$DIR/disk" "$STORE"
    says store-type ok "it is on btrfs" --store="$STORE"
    says store-room ok "are free (" --store="$STORE"
    says store-copyup ok "shares its blocks" --store="$STORE"
    says store-busy ok "its disk was busy for" --store="$STORE" # by its device, which stat(2) does not tell
}

@test "an ext4 from before dir_index and extents" {
    file_system mkfs.ext4 -q -O ^dir_index
    says store-ext4 warning "a lookup reads a directory from its beginning|unmounted: tune2fs -O dir_index DEVICE" --store="$STORE"
    umount "$STORE"
    mkfs.ext4 -q -F -O ^extent,^64bit,^metadata_csum,^dir_index "$DIR/disk"
    mount -o loop "$DIR/disk" "$STORE"
    says store-ext4 warning "its ext4 has no dir_index and no extents" --store="$STORE"
    umount "$STORE"
    mkfs.ext4 -q -F "$DIR/disk"
    mount -o loop "$DIR/disk" "$STORE"
    doctor --only=store-ext4 --store="$STORE"
    exits 0
    has_not "[store-ext4]"
}

@test "a disk that turns, and a virtual one that nobody asked" {
    file_system mkfs.ext4 -q
    local device queue
    device=$(findmnt -no SOURCE "$STORE")
    queue=$(readlink -f "/sys/class/block/${device#/dev/}/queue/rotational")
    echo 1 >"$DIR/turns"
    BIND="$DIR/turns $queue" says store-rotating warning "its disk rotates" --store="$STORE"
    echo 0 >"$DIR/turns"
    BIND="$DIR/turns $queue" doctor --only=store-rotating --store="$STORE"
    exits 0
    has_not "[store-rotating]"
}

@test "a disk that has too much to do, and one that has nothing to do" {
    slow_file_system 0.05
    mkfs.ext4 -q -F "$DIR/slow/disk"
    LOOP=$(losetup --find --show "$DIR/slow/disk")
    mount -o ro "$LOOP" "$STORE"
    says store-busy ok "its disk was busy for" --store="$STORE"
    reads() { awk '{print $1}' "/sys/class/block/${LOOP##*/}/stat"; }
    local before
    before=$(reads)
    python3 -c 'import mmap, os, sys, threading
disk = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
def read():
    block = mmap.mmap(-1, 4096)
    while True:
        os.preadv(disk, [block], 0)
for _ in range(4):
    threading.Thread(target=read).start()' "$LOOP" 3>&- &
    LOAD_PID=$!
    until [ "$(reads)" -gt $((before + 4)) ]; do
        kill -0 "$LOAD_PID"
        sleep 0.05
    done
    says store-busy warning "an import of 5000 files that are not cached waits about" --store="$STORE"
    gojq -e '.diagnoses[0].seen | capture("took (?<ms>[0-9.]+) ms").ms | tonumber | . >= 50' <<<"$output"
}

@test "stores of rootless podman and Docker, each file system once" {
    mkdir -p "$DIR"/home/{alice,bob}/.local/share/containers/storage "$DIR/home/alice/.local/share/docker" \
        "$DIR/home/eve/.local/share/containers/storage" "$DIR/home/link/.local/share/containers"
    printf '%s:x:%d:100::%s:/bin/sh\n' alice 1000 "$DIR/home/alice" bob 1001 "$DIR/home/bob" eve 1002 "$DIR/home/eve" \
        link 1003 "$DIR/home/link" hanging 1004 "$DIR/none" >>"$DIR/etc/passwd"
    printf 'alice:100000:65536\n1001:165536:65536\nlink:300000:65536\n' >"$DIR/etc/subuid" # eve has no ids
    mount -t tmpfs none "$STORE"
    ln -s "$STORE" "$DIR/home/link/.local/share/containers/storage" # leads out of the home
    says store-users ok "3 stores of rootless engines, such as alice's, on this "
    doctor --only=store-type
    exits 0
    has "$DIR/home/alice/.local/share/containers/storage: it is on "
    has_not "$STORE"
    mkdir "$STORE/bob" # the administrator's place for them
    printf '[storage]\ngraphroot = "%s/none"\nrootless_storage_path = "%s/$USER"\n' "$DIR" "$STORE" >"$DIR/etc/containers/storage.conf"
    doctor --only=store-users --only=store-type
    exits 10
    has "$STORE/bob: 1 store of rootless engines, such as bob's, on this tmpfs"
    has "warning  $STORE/bob: it is on tmpfs"
    rm "$DIR/etc/subuid"
    doctor --only=store-users
    has_not "[store-users]"
}

@test "what hangs is told at once, and once for all that lies in it" {
    slow_file_system 600
    volumes "{\"a\": {\"source\": \"$DIR/slow/a\", \"target\": \"/a\"}, \"b\": {\"source\": \"$DIR/slow/b/{user}\", \"target\": \"/b\"},
        \"c\": {\"source\": \"$DIR/slow/c\", \"target\": \"/c\"}, \"d\": {\"source\": \"$DIR/slow/d\", \"target\": \"/d\"}}"
    doctor --store="$DIR/slow"
    exits 11
    has "$DIR/slow/a: it does not answer within 5 s; nothing else below $DIR/slow is looked at"
    [ "$(grep -c 'does not answer within' <<<"$output")" -eq 1 ]
    [[ $output == "flatbed: warning: $DIR/slow/a does not answer; the rest is looked at"* ]]
    start=$SECONDS # check has a finding for each, and asks once
    run "$FLATBED" check --draft "$DIR/etc/flatbed/policy.json"
    [ "$(grep -c 'does not answer' <<<"$output")" -eq 4 ]
    [ $((SECONDS - start)) -lt 10 ]
    doctor --quiet --only=store-hangs --store="$DIR/slow"
    exits 11
    [ -z "$output" ]
}

@test "drivers that copy images, or pass them through a program" {
    mkdir -p "$DIR"/docker/image/{overlay2,vfs}
    echo '{}' >"$DIR/docker/image/overlay2/repositories.json"
    doctor --only=store-driver
    exits 0
    has_not "[store-driver]"
    echo '{}' >"$DIR/docker/image/vfs/repositories.json"
    says store-driver warning "it has images of the storage driver vfs|each layer and each container is a whole copy"
    rm -r "$DIR/docker/image/vfs"
    command -v podman || { [ "$CI" != true ] && skip "needs podman"; return 1; }
    mkdir "$DIR/podman"

    tar -C "$DIR/bin" -cf "$DIR/image.tar" runc
    podman --root "$DIR/podman" --runroot "$DIR/run" --storage-driver vfs import "$DIR/image.tar" some
    says store-driver warning "the storage driver vfs" --store="$DIR/podman"
    podman --root "$DIR/new" --runroot "$DIR/run1" --storage-driver overlay import "$DIR/image.tar" some
    doctor --only=store-driver --store="$DIR/new"
    has_not "[store-driver]"
    mkdir -p "$DIR/home/alice/.local/share/containers"
    echo "alice:x:1000:1000::$DIR/home/alice:/bin/sh" >>"$DIR/etc/passwd"
    echo "alice:100000:65536" >"$DIR/etc/subuid"
    podman --root "$DIR/home/alice/.local/share/containers/storage" --runroot "$DIR/run2" --storage-driver overlay \
        --storage-opt overlay.mount_program=/usr/bin/fuse-overlayfs import "$DIR/image.tar" some
    says store-driver warning "the storage driver fuse-overlayfs|each lookup and read passes through a program"
    [[ $output == *"$DIR/home/alice/.local"* ]]
}

@test "the deepest image, by its name" {
    local images=$DIR/docker/image/overlay2 id
    mkdir -p "$images/imagedb/content/sha256"
    id=$(printf '%064d' 7)
    gojq -nc '{rootfs: {diff_ids: [range(3) | "sha256:\(.)"]}}' >"$images/imagedb/content/sha256/$(printf '%064d' 1)"
    says image-depth ok "the deepest of 1 image, 000000000000, has 3 layers"
    gojq -nc '{rootfs: {diff_ids: [range(90) | "sha256:\(.)"]}}' >"$images/imagedb/content/sha256/$id"
    echo '{"rootfs": 1' >"$images/imagedb/content/sha256/$(printf '%064d' 2)"
    echo "{\"Repositories\": {\"lab/torch\": {\"lab/torch:2\": \"sha256:$id\"}}}" >"$images/repositories.json"
    says image-depth warning "flatten lab/torch:2"
    doctor --only=image-depth
    exits 10
    has "the deepest of 3 images, lab/torch:2, has 90 layers"
}

@test "the deepest image of podman, by its name; lists that were tampered with" {
    local store=$DIR/storage
    mkdir -p "$store"/{overlay-layers,overlay-images}
    printf '[storage]\ngraphroot = "%s"\n' "$store" >"$DIR/etc/containers/storage.conf"
    gojq -nc '[range(80) | {id: "l\(.)"} + if . > 0 then {parent: "l\(. - 1)"} else {} end]' >"$store/overlay-layers/layers.json"
    gojq -nc '[{id: "aabbccddeeff0011", layer: "l3"}]' >"$store/overlay-images/images.json"
    says image-depth ok "the deepest of 1 image, aabbccddeeff, has 4 layers"
    gojq -nc '[{id: "aa", layer: "l3"}, {id: "bb", names: ["lab/torch:3", "lab/other"], layer: "l79"}]' >"$store/overlay-images/images.json"
    says image-depth warning "the deepest of 2 images, lab/torch:3, has 80 layers"
    gojq -nc '[{id: "l0", parent: "l1"}, {id: "l1", parent: "l0"}, {id: 7}, "l2"]' >"$store/overlay-layers/layers.json"
    gojq -nc '[{id: "aa", layer: "l1"}, {layer: 4}, [], {id: "cc", layer: "none"}]' >"$store/overlay-images/images.json"
    says image-depth ok "the deepest of 4 images, aa, has 2 layers"
    echo '[{' >"$store/overlay-images/images.json"
    doctor --only=image-depth
    exits 0
    has_not image-depth
}

@test "the deepest image of containerd, among other blobs" {
    local blobs=$DIR/c/io.containerd.content.v1.content/blobs/sha256
    mkdir -p "$blobs"
    echo "root = \"$DIR/c\"" >"$DIR/etc/containerd/config.toml"
    doctor --only=image-depth
    has_not "[image-depth]"
    gojq -nc '{rootfs: {diff_ids: [range(3) | "sha256:\(.)"]}, pad: "\("x" * 100)"}' >"$blobs/$(printf '%064d' 1)"
    gojq -nc '{manifests: [], diff_ids: "none", pad: "\("x" * 100)"}' >"$blobs/$(printf '%064d' 2)"
    head -c 100000 /dev/urandom >"$blobs/$(printf '%064d' 3)"
    mkfifo "$blobs/$(printf '%064d' 4)"
    says image-depth ok "the deepest of 1 image, 000000000000, has 3 layers"
    gojq -nc '{rootfs: {diff_ids: [range(71) | "sha256:\(.)"]}}' >"$blobs/abcdef0123456789$(printf '%048d' 1)"
    says image-depth warning "the deepest of 2 images, abcdef012345, has 71 layers"
    says image-depth warning "flatten IMAGE; "
}

# ---- volumes of the policy ----

# volumes JSON: a policy with these volumes.
volumes() {
    gojq -n --argjson volumes "$1" '{version: 1, runtime: {paths: ["/usr/local/sbin/runc"]}, volumes: $volumes}' \
        >"$DIR/etc/flatbed/policy.json"
}

@test "volumes: on memory, on a full disk, mounted read-only, in order" {
    volumes "{\"logs\": {\"source\": \"$STORE/logs/{user}\", \"target\": \"/logs\", \"access\": \"rw\"}}"
    file_system mkfs.ext4 -q
    says volume-type ok "it is on ext4 (volume logs)" # the directory above, which exists
    doctor --only=volume-room
    has_not volume-room
    head -c 390M /dev/zero >"$STORE/fill" 2>/dev/null || true
    says volume-room warning "are free (0 %), and volume logs is written there"
    mount -o remount,ro "$STORE"
    says volume-type error "it is mounted read-only, and volume logs is to be written"
    umount "$STORE"
    mount -t tmpfs none "$STORE"
    says volume-type advice "and is gone after a restart"
    volumes "{\"data\": {\"source\": \"$STORE\", \"target\": \"/data\", \"access\": \"ro\"}}"
    doctor --only=volume-type --only=volume-room
    exits 0
    has_not "volume data"
}

@test "a volume on a slow server, read-only too, and one that answers at once" {
    slow_file_system 0.01
    volumes "{\"data\": {\"source\": \"$DIR/slow\", \"target\": \"/data\", \"access\": \"ro\"}}"
    says volume-network advice "ms on FUSE there (volume data)"
    says volume-network advice " minutes of waiting for each worker and epoch"
    says volume-network advice "140.7 TB are used there, and do not stay in this host's "
    says volume-network advice "in volumes.data copies the datasets in use to a local disk"
    gojq -e '.diagnoses[0].seen | capture("takes (?<ms>[0-9.]+) ms").ms | tonumber | . >= 10 and . < 1000' <<<"$output"
    volumes "{\"data\": {\"source\": \"$DIR/slow\", \"target\": \"/data\", \"access\": \"ro\", \"stage\": {\"cache\": \"$DIR/cache\"}}}"
    doctor --only=volume-network
    has_not "[volume-network]"
    volumes "{\"data\": {\"source\": \"$STORE\", \"target\": \"/data\", \"access\": \"ro\"}}"
    doctor --only=volume-network
    has_not "[volume-network]"
}

fuse_settled() { mountpoint -q "$STORE" || ! kill -0 "$FUSE_PID"; }

@test "a store that hangs is given up" {
    [ -e /dev/fuse ] || skip "no FUSE"
    mkdir "$DIR/lower" "$DIR/lower2"
    fuse-overlayfs -f -o "lowerdir=$DIR/lower:$DIR/lower2" "$STORE" >/dev/null 2>&1 3>&- &
    FUSE_PID=$!
    for _ in $(seq 100); do
        if fuse_settled; then break; fi
        sleep 0.1
    done
    doctor --only=store-type --store="$STORE"
    exits 11
    has "it is on FUSE"
    kill -STOP "$FUSE_PID"
    doctor --only=store-hangs --store="$STORE"
    exits 11
    has "error    $STORE: it does not answer within 5 s"
}

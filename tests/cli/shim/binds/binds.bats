#!/usr/bin/env bats
# The policy's "binds" on a real host, in front of a runtime that only records the mounts it was given.
# $FLATBED_RUNTIME is the program.

bats_require_minimum_version 1.5.0

load ../lib/binds

@test "a source that no rule covers is refused, and the message names the allowed sources" {
    config "$DIR/secret"
    create
    refused "the mount of $DIR/secret on /x: $DIR/secret is not allowed: no rule contains it \($DIR/policy.json:[0-9]+\); these volumes are offered: flatbed.data"
}

@test "a rule of access ro downgrades a mount, and a second edit changes nothing" {
    config "$DIR/srv/data"
    create
    mounted "$DIR/srv/data" rbind,rprivate,ro
    local before
    before=$(sha256sum <"$BUNDLE/config.json")
    create
    [ "$(sha256sum <"$BUNDLE/config.json")" = "$before" ]
}

@test "a mount downgraded to ro leaves out file systems mounted below it" {
    mkdir "$DIR/srv/data/sub"
    mount -t tmpfs t "$DIR/srv/data/sub"
    config "$DIR/srv/data"
    create
    mounted "$DIR/srv/data" private,bind,ro
}

@test "a restricted mount is private: mounts that are made later would not be restricted" {
    config "$DIR/srv/data"
    sed -i 's/"rprivate"/"rslave"/' "$BUNDLE/config.json"
    create
    mounted "$DIR/srv/data" rbind,rprivate,ro
    mkdir "$DIR/srv/data/sub"
    mount -t tmpfs t "$DIR/srv/data/sub"
    config "$DIR/srv/data"
    sed -i 's/"rprivate"/"rslave"/' "$BUNDLE/config.json"
    create
    mounted "$DIR/srv/data" private,bind,ro
    umount "$DIR/srv/data/sub"
    # Under "propagation": "deny" every bind, also one that says nothing, which runc takes for a slave.
    policy '"propagation": "deny",'
    config "$DIR/home/alice"
    sed -i 's/, *"rprivate"//' "$BUNDLE/config.json"
    create
    mounted "$DIR/home/alice" rbind,rprivate,nosuid,nodev
    # A mount below a recursive bind stays a slave under "private".
    config "$DIR/home/alice"
    sed -i 's/"rprivate"/"private"/' "$BUNDLE/config.json"
    create
    mounted "$DIR/home/alice" rbind,rprivate,nosuid,nodev
}

@test "a symlink is judged by its target" {
    ln -s "$DIR/secret" "$DIR/home/alice/link"
    config "$DIR/home/alice/link"
    create
    refused "$DIR/secret is not allowed"
    config "$DIR/home/alice/link/file"
    create
    refused "$DIR/secret/file is not allowed"
    config "$DIR/home/alice/work/../../../secret"
    create
    refused "$DIR/secret is not allowed"
}

@test "the path of a rule may be a symlink of root but not of a user" {
    ln -s "$DIR/srv" "$DIR/data"
    sed -i "s|\"$DIR/srv\", \"access\"|\"$DIR/data\", \"access\"|" "$DIR/policy.json"
    config "$DIR/srv/data"
    create
    mounted "$DIR/srv/data" rbind,rprivate,ro
    rm "$DIR/low.config"
    ln -s "$DIR/secret" "$DIR/home/alice/mine"
    sed -i "s|\"$DIR/data\", \"access\"|\"$DIR/home/alice/mine\", \"access\"|" "$DIR/policy.json"
    config "$DIR/secret"
    create
    refused "$DIR/secret is not allowed"
}

@test "a volume that is a bind mount is judged by the bound directory" {
    mkdir -p "$DIR/volumes/v/_data" "$DIR/volumes/good/_data"
    mount --bind "$DIR/secret" "$DIR/volumes/v/_data"
    config "$DIR/volumes/v/_data"
    create
    refused "secret is not allowed"
    config "$DIR/volumes/v/_data/file"
    create
    refused "secret/file is not allowed"
    config "$DIR/volumes/good/_data"
    create
    mounted "$DIR/volumes/good/_data" rbind,rprivate
}

@test "an overlay on a volume is refused unless a rule names it" {
    mkdir -p "$DIR/volumes/o" "$DIR/upper"
    mount -t tmpfs t "$DIR/upper"
    mkdir "$DIR/upper/u" "$DIR/upper/w"
    mount -t overlay -o "lowerdir=$DIR/secret,upperdir=$DIR/upper/u,workdir=$DIR/upper/w" o "$DIR/volumes/o"
    [ -e "$DIR/volumes/o/file" ]
    config "$DIR/volumes/o"
    create
    refused "$DIR/volumes/o is an overlay, which may show any directory of this host"
    sed -i "s|\"$DIR/volumes\"|\"$DIR/volumes/o\"|" "$DIR/policy.json"
    create
    mounted "$DIR/volumes/o" rbind,rprivate
}

@test "a file system mounted below an allowed directory is judged, and left out if it is not allowed" {
    mkdir -p "$DIR/home/alice/mnt" "$DIR/srv/data/own"
    mount -t tmpfs t "$DIR/home/alice/mnt"
    config "$DIR/home/alice"
    create
    mounted "$DIR/home/alice" rbind,rprivate,nosuid,nodev
    umount "$DIR/home/alice/mnt"
    mount --bind "$DIR/secret" "$DIR/home/alice/mnt"
    config "$DIR/home/alice"
    create
    mounted "$DIR/home/alice" private,bind,nosuid,nodev
    create
    mounted "$DIR/home/alice" private,bind,nosuid,nodev
    umount "$DIR/home/alice/mnt"
    mkdir "$DIR/upper"
    mount -t tmpfs t "$DIR/upper"
    mkdir "$DIR/upper/u" "$DIR/upper/w"
    mount -t overlay -o "lowerdir=$DIR/secret,upperdir=$DIR/upper/u,workdir=$DIR/upper/w" o "$DIR/home/alice/mnt"
    config "$DIR/home/alice"
    create
    mounted "$DIR/home/alice" private,bind,nosuid,nodev
}

# The volumes of an engine: DATA/volumes, with the container's root in DATA/overlay2/…
engine_volume() {
    mkdir -p "$DIR/data/volumes/v/_data"
    [ -e "$DIR/data/volumes/v/_data/sys" ] || echo right >"$DIR/data/volumes/v/_data/file"
    policy '' ''
    sed -i "s|\"$DIR/volumes\"|\"$DIR/data/volumes\"|" "$DIR/policy.json"
    config "$DIR/data/volumes/${1-v/_data}" /x '{ "uid": 0, "gid": 0 }' "\"root\": { \"path\": \"$DIR/data/overlay2/c1/merged\" },"
}

# A mount of the whole data directory of the engine, which no rule names.
all_data() {
    engine_volume
    sed -i 's/"default": "deny"/"default": "allow"/' "$DIR/policy.json"
    config "$DIR/data" /x '{ "uid": 0, "gid": 0 }' "\"root\": { \"path\": \"$DIR/data/overlay2/c1/merged\" },"
}

@test "a file system that an engine mounted for a volume needs a rule that names it" {
    engine_volume
    mount -t tmpfs t "$DIR/data/volumes/v/_data"
    create
    [ "$status" -eq 0 ]
    rm "$DIR/low.config"
    mount -t proc p "$DIR/data/volumes/v/_data"
    engine_volume
    create
    refused "$DIR/data/volumes/v/_data is a proc file system that was mounted for a volume"
    engine_volume v/_data/sys/kernel
    create
    refused "$DIR/data/volumes/v/_data is a proc file system"
    # As engines mount a part of a volume (volume-subpath): at another place first.
    mkdir -p "$DIR/data/tmp/safe-mount1"
    mount --bind "$DIR/data/volumes/v/_data/sys" "$DIR/data/tmp/safe-mount1"
    engine_volume ../tmp/safe-mount1
    create
    refused "$DIR/data/volumes/v/_data is a proc file system"
    umount "$DIR/data/tmp/safe-mount1"
    engine_volume v/_data/sys/kernel
    sed -i "s|\"$DIR/data/volumes\"|\"$DIR/data/volumes/v/_data\"|" "$DIR/policy.json"
    create
    [ "$status" -eq 0 ]
}

@test "a file system mounted on or below a volume after the check is not visible" {
    cat >"$DIR/low" <<END
#!/bin/sh
cp "$BUNDLE/config.json" "$DIR/low.config"
nsenter --mount=/proc/$$/ns/mnt mount --bind "$DIR/secret" "$DIR/data/volumes/v/_data" || exit 1
src=\$(gojq -r '.mounts[1].source' "$BUNDLE/config.json")
mkdir "$DIR/seen" && mount --rbind "\$src" "$DIR/seen" && cat "$DIR/seen/file" "$DIR/seen/volumes/v/_data/file" 2>/dev/null
exit 0
END
    # The namespace of the mount is a peer, as under systemd.
    mkdir "$DIR/data"
    mount --bind "$DIR/data" "$DIR/data"
    mount --make-shared "$DIR/data"
    engine_volume
    create
    [ "$output" = right ]
    mounted "/run/flatbed/pin/bind:0$DIR/data/volumes/v/_data" rbind,rprivate
    rmdir "$DIR/seen"
    umount "$DIR/data/volumes/v/_data" || true
    all_data
    create
    [ "$output" = right ]
}

@test "a directory that contains an engine shows the allowed file systems mounted below it and no others" {
    all_data
    sed -i "s|\"$DIR/srv\", \"access\": \"ro\"|\"$DIR/secret\", \"access\": \"deny\"|" "$DIR/policy.json"
    mkdir -p "$DIR/data/volumes/w/_data" "$DIR/data/disk"
    mount -t tmpfs t "$DIR/data/disk"
    echo disk >"$DIR/data/disk/file"
    mount --bind "$DIR/secret" "$DIR/data/volumes/w/_data"
    cat >"$DIR/low" <<END
#!/bin/sh
cp "$BUNDLE/config.json" "$DIR/low.config"
mkdir "$DIR/seen" && mount --rbind "\$(gojq -r '.mounts[1].source' "$BUNDLE/config.json")" "$DIR/seen"
cat "$DIR/seen/disk/file" "$DIR/seen/volumes/v/_data/file" "$DIR/seen/volumes/w/_data/file" 2>/dev/null
exit 0
END
    create
    [ "$output" = $'disk\nright' ]
    mounted "/run/flatbed/pin/bind:0$DIR/data" rbind,rprivate
    rmdir "$DIR/seen"
    create
    [ "$output" = $'disk\nright' ]
    # A read-only mount needs none of that.
    rmdir "$DIR/seen"
    sed -i "s|\"default\": \"allow\"|\"default\": \"ro\"|" "$DIR/policy.json"
    create
    [ "$output" = right ]
    mounted "/run/flatbed/pin/bind:0$DIR/data" private,bind,ro
}

@test "other data of an engine next to its volumes and files needs a rule that names it" {
    engine_volume ''
    create
    refused "$DIR/data/volumes is an engine's own state, and needs a rule that names it"
    engine_volume v
    create
    refused "$DIR/data/volumes/v is an engine's own state"
    mkdir -p "$DIR/data/containers/c1"
    touch "$DIR/data/containers/c1/hosts" "$DIR/data/containers/c1/hostconfig.json"
    engine_volume ../containers/c1/hosts
    sed -i "s|\"$DIR/data/volumes\"|\"$DIR/data/containers\"|" "$DIR/policy.json"
    create
    mounted "$DIR/data/volumes/../containers/c1/hosts" rbind,rprivate
    rm "$DIR/low.config"
    config "$DIR/data/containers/c1/hostconfig.json" /x '{ "uid": 0, "gid": 0 }' "\"root\": { \"path\": \"$DIR/data/overlay2/c1/merged\" },"
    create
    refused "$DIR/data/containers/c1/hostconfig.json is an engine's own state"
    sed -i "s|\"$DIR/data/containers\"|\"$DIR/data/containers/c1\"|" "$DIR/policy.json"
    create
    mounted "$DIR/data/containers/c1/hostconfig.json" rbind,rprivate
}

@test "a rule for a mount point covers the file system mounted there" {
    mkdir -p "$DIR/disk/part" "$DIR/volumes/d"
    mount -t tmpfs t "$DIR/disk"
    mkdir "$DIR/disk/part"
    mount --bind "$DIR/disk/part" "$DIR/volumes/d"
    sed -i "s|\"$DIR/volumes\"|\"$DIR/volumes/d\"|" "$DIR/policy.json"
    config "$DIR/volumes/d"
    create
    mounted "$DIR/volumes/d" rbind,rprivate
    rm "$DIR/low.config"
    config "$DIR/disk"
    create
    refused "$DIR/disk is not allowed"
}

@test "a socket is judged like a file" {
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$DIR/srv/sock"
    config "$DIR/srv/sock"
    create
    mounted "$DIR/srv/sock" rbind,rprivate,ro
    rm "$DIR/low.config"
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$DIR/secret/sock"
    config "$DIR/secret/sock"
    create
    refused "$DIR/secret/sock is not allowed"
}

@test "a magic link of /proc is not followed" {
    sed -i 's|"default": "deny"|"default": "allow"|' "$DIR/policy.json"
    config "/proc/self/root/etc"
    create
    refused "cannot be looked at"
}

@test "a missing source is refused, because a user could create it later" {
    config "$DIR/srv/none"
    create
    refused "it does not exist on this host: make it first"
    config data/none
    create
    refused "the mount of data/none on /x: it is not an absolute path, and the bundle $BUNDLE, .*: write an absolute path"
    # shellcheck disable=SC2154  # set by bats' run
    [[ "$stderr" != *"make it first"* ]]
}

@test "nothing may be mounted over a denied target" {
    config "$DIR/srv/data" /proc/sys
    create
    refused "the mount of $DIR/srv/data on /proc/sys: nothing may be mounted over /proc"
}

@test "a target is resolved through the links of the container's root" {
    local root=$BUNDLE/rootfs
    mkdir -p "$root/proc" "$root/etc" "$root/deep/er"
    ln -s /proc "$root/p"
    ln -s ../../proc/self "$root/deep/er/self"
    ln -s p "$root/pp"
    ln -s /../../../proc "$root/up"
    ln -s loop "$root/loop"
    ln -s /etc/none "$root/fine"
    for target in /p /p/sys /pp/x /deep/er/self/attr /up /p/../p/x; do
        config "$DIR/srv/data" "$target" '{ "uid": 0, "gid": 0 }' '"root": { "path": "rootfs" },'
        create
        refused "on [^ ]*: nothing may be mounted over /proc, where this leads in the container|where [^ ]* leads cannot be told"
    done
    config "$DIR/srv/data" /loop/x '{ "uid": 0, "gid": 0 }' '"root": { "path": "rootfs" },'
    create
    refused "where /loop/x leads cannot be told"
    for target in /fine /deep/x /none; do
        config "$DIR/srv/data" "$target" '{ "uid": 0, "gid": 0 }' "\"root\": { \"path\": \"$root\" },"
        create
        mounted "$DIR/srv/data" rbind,rprivate,ro
        rm "$DIR/low.config"
    done
    # The same holds for a mount that is not a bind.
    config "$DIR/srv/data" /x '{ "uid": 0, "gid": 0 }' '"root": { "path": "rootfs" },'
    gojq '.mounts += [{destination: "/p/self/attr", type: "tmpfs", source: "tmpfs"}]' "$BUNDLE/config.json" >"$DIR/more"
    cp "$DIR/more" "$BUNDLE/config.json"
    create
    refused "where /p/self/attr leads cannot be told"
}

# logs_policy VOLUME: a policy that makes a directory for each container, and has this volume as well.
logs_policy() {
    policy '' "\"security\": { \"devices\": { \"allow\": [\"/dev/*\"] } },"
    sed -i "s|\"volumes\": { |&\"logs\": { \"source\": \"$DIR/srv/logs/{container}\", \"target\": \"/logs\", \"access\": \"rw\", \"always\": true, \"create\": { \"mode\": \"0700\" } }, $1|" "$DIR/policy.json"
}

@test "a launch that is refused for a target or a source makes no directory" {
    local root=$BUNDLE/rootfs rules
    mkdir -p "$root/proc" "$DIR/srv/logs"
    printf '#!/bin/sh\n[ "$1" = features ] || cp "%s/config.json" "%s/low.config"\n' "$BUNDLE" "$DIR" >"$DIR/low"
    ln -s /proc/self "$root/self"
    rules='"linux": { "resources": { "devices": [ { "allow": false, "access": "rwm" } ] } },'
    # A volume that a link of the image leads to /proc.
    logs_policy ''
    config "$DIR/srv/data" /x '{ "uid": 0, "gid": 0 }' \
        "\"root\": { \"path\": \"rootfs\" }, $rules \"annotations\": { \"flatbed.data\": \"x:/self\" },"
    create
    refused "on [^ ]*: nothing may be mounted over /proc, where this leads in the container"
    [ -z "$(ls "$DIR/srv/logs")" ]
    # A target that a mount which becomes read-only does not have.
    config "$DIR/srv/data" /logs/x '{ "uid": 0, "gid": 0 }' "$rules"
    gojq --arg home "$DIR/home/alice" --arg data "$DIR/srv/data" '.mounts += [
        {destination: "/mnt", type: "bind", source: $data, options: ["rbind", "rprivate"]},
        {destination: "/mnt/new", type: "bind", source: $home, options: ["rbind", "rprivate"]}]' "$BUNDLE/config.json" >"$DIR/more"
    cp "$DIR/more" "$BUNDLE/config.json"
    create
    refused "on /mnt/new: what is mounted on /mnt is read-only, and has no 'new'"
    [ -z "$(ls "$DIR/srv/logs")" ]
    # Another volume, whose source is not there.
    logs_policy "\"gone\": { \"source\": \"$DIR/srv/gone\", \"target\": \"/gone\", \"always\": true },"
    config "$DIR/srv/data" /x '{ "uid": 0, "gid": 0 }' "$rules"
    create
    refused "volumes.gone: $DIR/srv/gone does not exist on this host"
    [ -z "$(ls "$DIR/srv/logs")" ]
    # A checkpoint that the low-level runtime cannot restore.
    logs_policy ''
    run --separate-stderr "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" restore --bundle "$BUNDLE" c1
    refused "a checkpoint can only be restored with runc"
    [ -z "$(ls "$DIR/srv/logs")" ]
    # And one that is allowed.
    create
    mounted "$DIR/srv/data" rbind,rprivate,ro
    [ "$(ls "$DIR/srv/logs")" = c1 ]
}

@test "the target of a volume is resolved through the links of the container's root" {
    local root=$BUNDLE/rootfs word
    mkdir -p "$root/proc"
    # The low-level runtime is asked for its features before.
    printf '#!/bin/sh\n[ "$1" = features ] || cp "%s/config.json" "%s/low.config"\n' "$BUNDLE" "$DIR" >"$DIR/low"
    ln -s /proc/self "$root/self"
    ln -s / "$root/top"
    ln -s proc "$root/work"
    ln -s /opt "$root/fine"
    for word in x:/self x:/self/attr x:/top/proc x; do
        config "$DIR/srv/data" /x '{ "uid": 0, "gid": 0 }' \
            "\"root\": { \"path\": \"rootfs\" }, \"annotations\": { \"flatbed.data\": \"$word\" },"
        create
        refused "on [^ ]*: nothing may be mounted over /proc, where this leads in the container|where /self/attr leads cannot be told"
    done
    for word in x:/fine x:/fine/data; do
        config "$DIR/srv/data" /x '{ "uid": 0, "gid": 0 }' \
            "\"root\": { \"path\": \"rootfs\" }, \"annotations\": { \"flatbed.data\": \"$word\" },"
        create
        [ "$status" -eq 0 ]
        [ "$(gojq -r '.mounts[2].destination' "$DIR/low.config")" = "${word#x:}" ]
        rm "$DIR/low.config"
    done
}

@test "a relative source starts from the bundle" {
    config ../srv/data
    create
    mounted ../srv/data rbind,rprivate,ro
    rm "$DIR/low.config"
    config ../secret
    create
    refused "$DIR/secret is not allowed"
}

@test "permissive: a mount that would be refused is unchanged" {
    policy '' '"mode": "permissive",'
    config "$DIR/secret" /proc/x
    create
    mounted "$DIR/secret" rbind,rprivate
}

@test "the pause container of a pod is judged too" {
    config "$DIR/secret" /x '{ "uid": 0, "gid": 0 }' '"annotations": { "io.kubernetes.cri.container-type": "sandbox" },'
    create
    refused "$DIR/secret is not allowed"
}

@test "a volume of the policy is not judged as a mount of the user" {
    config "$DIR/srv/data" /x '{ "uid": 0, "gid": 0 }' '"annotations": { "flatbed.data": "x" },'
    sed -i "s|\"path\": \"$DIR/srv\"|\"path\": \"$DIR/other\"|" "$DIR/policy.json"
    config "$DIR/home/alice/work" /x '{ "uid": 0, "gid": 0 }' '"annotations": { "flatbed.data": "x" },'
    create
    [ "$status" -eq 0 ]
    create
    # shellcheck disable=SC2154
    echo "$stderr"
    [ "$status" -eq 0 ]
    [ "$(gojq -r '.mounts[2].destination' "$DIR/low.config")" = /work/data ]
}

# ------------------------------------------------------------------ access of the user

@test "a source that a user could swap is pinned: the low-level runtime mounts the judged directory" {
    cat >"$DIR/low" <<END
#!/bin/sh
cp "$BUNDLE/config.json" "$DIR/low.config"
mv "$DIR/home/alice/work" "$DIR/home/alice/old"
ln -s "$DIR/secret" "$DIR/home/alice/work"
cat "\$(gojq -r '.mounts[1].source' "$BUNDLE/config.json")/file"
END
    config "$DIR/home/alice/work"
    create
    [ "$output" = right ]
    mounted "/run/flatbed/pin/bind:0$DIR/home/alice/work" rbind,rprivate,nosuid,nodev
    run ! grep -q /run/flatbed/pin /proc/self/mountinfo
    # A second run of the same bundle judges and pins the source again.
    rm "$DIR/low.config"
    create
    refused "$DIR/secret is not allowed"
    rm "$DIR/home/alice/work"
    mv "$DIR/home/alice/old" "$DIR/home/alice/work"
    create
    [ "$output" = right ]
    mounted "/run/flatbed/pin/bind:0$DIR/home/alice/work" rbind,rprivate,nosuid,nodev
}

@test "two stacked wrappers pin a source once" {
    printf '#!/bin/sh\nexec %s --flatbed-policy=%s/policy.json --flatbed-runtime=%s/cat "$@"\n' \
        "$FLATBED_RUNTIME" "$DIR" "$DIR" >"$DIR/low"
    printf '#!/bin/sh\ncp "%s/config.json" "%s/low.config"\ncat "$(gojq -r ".mounts[1].source" "%s/config.json")/file"\n' \
        "$BUNDLE" "$DIR" "$BUNDLE" >"$DIR/cat"
    chmod 0755 "$DIR/cat"
    config "$DIR/home/alice/work"
    create
    [ "$output" = right ]
    mounted "/run/flatbed/pin/bind:0$DIR/home/alice/work" rbind,rprivate,nosuid,nodev
}

@test "under a preset, whose keys share a line, each refusal has the hint of its own" {
    printf '{ "version": 1, "runtime": { "paths": ["%s"] }, "binds": { "preset": "shared-lab" } }\n' "$DIR/low" >"$DIR/policy.json"
    config "$DIR/secret"
    create
    refused "secret is not allowed: no rule contains it"
    [[ "$stderr" != *"another path in the container"* ]]
    config "$DIR/secret" /proc/1
    create
    refused "nothing may be mounted over /proc .*choose another path in the container"
    config /proc /proc
    create
    refused "nothing may be mounted over /proc .*leave out --pid=host"
    config /sys /sys
    create
    refused "nothing may be mounted over /sys .*leave out --network=host"
    config "$DIR/nothing"
    create
    refused "make it first"
    [[ "$stderr" != *"another path in the container"* ]]
}

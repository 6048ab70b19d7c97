#!/usr/bin/env bats
# The policy's "binds": the access of a container's user to a source, and the container's root as a source.

bats_require_minimum_version 1.5.0

load ../lib/binds

@test "a root outside of the bundle and of an engine's storage is judged as a source" {
    local id data=$DIR/engine
    id=$(printf '%064d' 7)
    mkdir -p "$BUNDLE/rootfs" "$DIR/srv/root" "$DIR/home/alice/overlay/$id/merged" "$data/overlay2/$id/merged"
    with_root() {
        config "$DIR/srv/data" /x '{ "uid": 0, "gid": 0 }' "\"root\": { \"path\": \"$1\", \"readonly\": ${2-false} },"
        rm -f "$DIR/low.config"
        create
    }
    for root in rootfs ../bundle/rootfs "$BUNDLE/rootfs" "$data/overlay2/$id/merged" missing; do
        with_root "$root"
        mounted "$DIR/srv/data" rbind,rprivate,ro
    done
    with_root /
    refused "the container's root /: / is not allowed"
    with_root "$DIR/secret"
    refused "the container's root $DIR/secret: $DIR/secret is not allowed"
    with_root ../secret
    refused "$DIR/secret is not allowed"
    ln -s "$DIR/secret" "$BUNDLE/linked"
    with_root linked
    refused "$DIR/secret is not allowed"
    with_root "$DIR/home/alice/overlay/$id/merged"
    refused "users can change .*, or replace a directory above it"
    with_root "$DIR/srv/root"
    refused "may only be used read-only"
    with_root "$DIR/srv/root" true
    mounted "$DIR/srv/data" rbind,rprivate,ro
    [ "$(gojq -r .root.path "$DIR/low.config")" = "$DIR/srv/root" ]
    chmod 0775 "$DIR/srv/root"
    with_root "$DIR/srv/root" true
    refused "the container's root $DIR/srv/root: users can change $DIR/srv/root"
    chmod 0755 "$DIR/srv/root"
    chown 12345 "$DIR/srv/root"
    with_root "$DIR/srv/root" true
    refused "users can change $DIR/srv/root, or replace a directory above it, .*only root can write"
    # The user could make it, as a link, once it was not there to be judged.
    with_root "$DIR/home/alice/later"
    refused "the container's root $DIR/home/alice/later: it does not exist on this host"
}

@test "a mount whose source is named like a pin gets a pin of its own, whatever the name" {
    local pin=/run/flatbed/pin/bind:0$DIR/home/alice inner outer
    mkdir -p "$DIR/home/alice/work/a/b"
    chmod 0700 "$DIR/home/alice/work/a"
    inner='{ "destination": "/y", "type": "bind", "source": "'"$pin/work/a/b"'", "options": ["rbind"] }'
    outer='{ "destination": "/x", "type": "bind", "source": "'"$pin"'", "options": ["rbind"] }'
    for pair in "$outer, $inner" "$inner, $outer"; do
        config "$DIR/srv/data"
        gojq ".mounts = [$pair]" "$BUNDLE/config.json" >"$DIR/new"
        cat "$DIR/new" >"$BUNDLE/config.json"
        rm -f "$DIR/low.config"
        create
        [ "$status" -eq 0 ]
        [ "$(gojq -r '.mounts[] | select(.destination == "/x" or .destination == "/y").source | split("/")[4]' "$DIR/low.config" |
            tr '\n' ' ')" = "bind:0 bind:1 " ]
        [ "$(stat -c %a "$DIR/home/alice/work/a")" = 700 ]
    done
}

@test "a directory of a root that is not an engine's is not copied into a tmpfs" {
    mkdir -p "$DIR/srv/root" "$BUNDLE/rootfs"
    copying() {
        config "$DIR/srv/data" /x '{ "uid": 0, "gid": 0 }' "\"root\": { \"path\": \"$1\", \"readonly\": true },"
        gojq --arg o "$2" '.mounts += [{destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["nosuid", $o]}]' \
            "$BUNDLE/config.json" >"$DIR/more"
        cp "$DIR/more" "$BUNDLE/config.json"
        rm -f "$DIR/low.config"
        create
    }
    copying "$DIR/srv/root" tmpcopyup
    refused "the tmpfs on /tmp: tmpcopyup would copy a directory of the container's root, as root, .*--tmpfs /tmp:notmpcopyup"
    copying "$DIR/srv/root" notmpcopyup
    mounted "$DIR/srv/data" rbind,rprivate,ro
    copying rootfs tmpcopyup
    mounted "$DIR/srv/data" rbind,rprivate,ro
}

@test "an idmapped bind does not satisfy require_access" {
    policy '"require_access": true,'
    config "$DIR/srv/data" /x '{ "uid": 12345, "gid": 12345 }'
    sed -i 's/"rbind", /"rbind", "idmap", /' "$BUNDLE/config.json"
    create
    refused "it is idmapped: its files have other owners in the container"
    config "$DIR/srv/data" /x '{ "uid": 12345, "gid": 12345 }'
    gojq '.mounts[1].uidMappings = [{containerID: 0, hostID: 12345, size: 1}]' "$BUNDLE/config.json" >"$DIR/more"
    cp "$DIR/more" "$BUNDLE/config.json"
    create
    refused "it is idmapped"
}

@test "an id map with root or another user of the host does not satisfy require_access" {
    policy '"require_access": true,'
    config "$DIR/home/alice" /x '{ "uid": 0, "gid": 0 }' '"linux": { "namespaces": [ { "type": "user" } ],
        "uidMappings": [ { "containerID": 0, "hostID": 12345, "size": 1 }, { "containerID": 1, "hostID": 0, "size": 1 } ],
        "gidMappings": [ { "containerID": 0, "hostID": 12345, "size": 1 } ] },'
    create
    refused "the container's user is not known: its user namespace has root of this host"
    # Another user of this host is refused as well: the process could become that user.
    sed -i 's/"hostID": 0,/"hostID": 12346,/' "$BUNDLE/config.json"
    create
    refused "has uids 12346 to 12346 of this host, which it could become"
    gojq '.linux.uidMappings |= .[:1] | .linux.gidMappings += [{containerID: 1, hostID: 6, size: 1}]' "$BUNDLE/config.json" >"$DIR/more"
    cp "$DIR/more" "$BUNDLE/config.json"
    create
    refused "has gids 6 to 6 of this host"
    gojq '.process.user.additionalGids = [1]' "$BUNDLE/config.json" >"$DIR/more"
    cp "$DIR/more" "$BUNDLE/config.json"
    create
    mounted "$DIR/home/alice" rbind,rprivate,nosuid,nodev
}

@test "require_access: the container's user must have access to the source" {
    policy '"require_access": true,'
    mkdir "$DIR/srv/closed" "$DIR/srv/group"
    chmod 0700 "$DIR/srv/closed"
    mkdir "$DIR/srv/closed/open"
    chgrp 777 "$DIR/srv/group"
    chmod 0750 "$DIR/srv/group"
    config "$DIR/srv/closed/open" /x '{ "uid": 12345, "gid": 12345 }'
    create
    refused "the container's user may not read $DIR/srv/closed/open on this host"
    config "$DIR/srv/group" /x '{ "uid": 12345, "gid": 12345 }'
    create
    refused "may not read"
    config "$DIR/srv/group" /x '{ "uid": 12345, "gid": 12345, "additionalGids": [777] }'
    create
    mounted "$DIR/srv/group" rbind,rprivate,ro
    config "$DIR/volumes" /x '{ "uid": 12345, "gid": 12345 }'
    create
    mounted "$DIR/volumes" rbind,rprivate,ro
    config "$DIR/home/alice/work" /x '{ "uid": 12345, "gid": 12345 }'
    create
    [ "$(gojq -r '.mounts[1].options | join(",")' "$DIR/low.config")" = rbind,rprivate,nosuid,nodev ]
}

# Docker 26 mounts a part of a volume (volume-subpath) in DATA/tmp first, which is closed to users.
@test "require_access: a part of a volume that shows a user's directory is tried there" {
    policy '"require_access": true,'
    mkdir -p "$DIR/data/tmp/safe-mount1"
    chmod 0700 "$DIR/data/tmp"
    for source in home/alice secret; do
        rm -f "$DIR/low.config"
        mount --bind "$DIR/$source" "$DIR/data/tmp/safe-mount1"
        config "$DIR/data/tmp/safe-mount1" /x '{ "uid": 12345, "gid": 12345 }' \
            "\"root\": { \"path\": \"$DIR/data/overlay2/c1/merged\" },"
        sed -i "s|\"$DIR/srv\"|\"$DIR/secret\"|" "$DIR/policy.json"
        run --separate-stderr "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" \
            "$(printf '%064d' 7)"
        umount "$DIR/data/tmp/safe-mount1"
        if [ "$source" = secret ]; then
            refused "the container's user may not read $DIR/secret on this host"
        else
            [ "$status" -eq 0 ]
        fi
    done
}

# ------------------------------------------------------------------ mount points

# nested SOURCE TARGET BELOW MEMBERS: a container of alice with SOURCE on TARGET, and her directory on BELOW.
nested() {
    config "$1" "$2" '{ "uid": 12345, "gid": 12345 }' "$4"
    gojq --arg home "$DIR/home/alice" --arg at "$3" \
        '.mounts += [{destination: $at, type: "bind", source: $home, options: ["rbind", "rprivate"]}]' "$BUNDLE/config.json" >"$DIR/more"
    cp "$DIR/more" "$BUNDLE/config.json"
    rm -f "$DIR/low.config"
    create
}

@test "require_access: a mount point that the container's user could not make is not made by root" {
    local scratch=$DIR/volumes/scratch target
    mkdir -p "$scratch"/{bob,alice} "$BUNDLE/rootfs"
    chmod 1777 "$scratch"
    chmod 0700 "$scratch"/*
    chown 54321:54321 "$scratch/bob"
    chown 12345:12345 "$scratch/alice"
    policy '"require_access": true,'
    for target in /x/bob/new /x/bob/new/er; do
        nested "$scratch" /x "$target" '"root": { "path": "rootfs" },'
        refused "the mount on $target: what is mounted above it has no 'bob/new.*', and the container's user may not make it there"
    done
    for target in /x/alice/new /x/new /x/bob; do
        nested "$scratch" /x "$target" '"root": { "path": "rootfs" },'
        mounted "$scratch" rbind,rprivate
    done
}

# closed_in DIRECTORY: bob's closed directory, with something in it; an open one of his, and one of root.
closed_in() {
    mkdir -p "$1"/{bob/there,open/there,root/there}
    touch "$1/bob/file"
    ln -s /etc "$1/bob/link"
    chown -R -h 54321:54321 "$1"/{bob,open}
    chmod 0700 "$1/bob"
}

# closed TARGET COMMAND...: the command, with a path below TARGET, is refused alike, whatever bob's directory has.
closed() {
    local below
    for below in there there/new new file file/new link link/new; do
        "${@:2}" "$1/bob/$below"
        refused "the mount on $1/bob/$below: what is mounted above it has no 'bob/$below', and the container's user may not make it there: make it first"
    done
}

@test "require_access: what a closed directory has is not told by mount points in it" {
    local root='"root": { "path": "rootfs" },'
    mkdir -p "$DIR/volumes/scratch" "$BUNDLE/rootfs"
    closed_in "$DIR/volumes/scratch"
    closed_in "$DIR/srv/data"
    policy '"require_access": true,'
    in_scratch() { nested "$DIR/volumes/scratch" /x "$1" "$root"; }
    closed /x in_scratch
    in_scratch /x/open/there
    mounted "/run/flatbed/pin/bind:0$DIR/volumes/scratch" rbind,rprivate,ro
    # The source of a rule that is read-only.
    in_data() { nested "$DIR/srv/data" /x "$1" "$root"; }
    closed /x in_data
    in_data /x/open/there
    mounted "/run/flatbed/pin/bind:0$DIR/srv/data" rbind,rprivate,ro
    in_data /x/open/new
    refused "is read-only, and has no 'open/new': make it in $DIR/srv/data first"
}

@test "require_access: neither do those in volumes, of the engine and of the policy" {
    local volume=$DIR/data/volumes/v/_data root
    root=$DIR/data/overlay2/$(printf '%064d' 7)/merged
    mkdir -p "$volume" "$root"
    root="\"root\": { \"path\": \"$root\" },"
    closed_in "$volume"
    closed_in "$DIR/srv/data"
    policy '"require_access": true,'
    sed -i "s|{ \"path\": \"$DIR/volumes\"|{ \"path\": \"$DIR/data/volumes\"|" "$DIR/policy.json"
    in_volume() { nested "$volume" /x "$1" "$root"; }
    closed /x in_volume
    # An engine mounts below what is root's, and a fresh volume is.
    for target in /x/new /x/root/there /x/root/new /x/open/there; do
        in_volume "$target"
        started
    done
    sed -i 's|"target": "/work/data"|&, "always": true, "access": "rw"|' "$DIR/policy.json"
    in_policys() { nested "$volume" /x "$1" "$root"; }
    closed /work/data in_policys
    for target in /work/data/root/there /work/data/open/there; do
        in_policys "$target"
        started
    done
    # A rule may say otherwise, for its mounts alone.
    policy
    sed -i "s|{ \"path\": \"$DIR/volumes\"|{ \"require_access\": true, \"path\": \"$DIR/data/volumes\"|" "$DIR/policy.json"
    closed /x in_volume
    in_volume /x/open/there
    started
    policy '"require_access": true,'
    sed -i "s|{ \"path\": \"$DIR/volumes\"|{ \"require_access\": false, \"path\": \"$DIR/data/volumes\"|" "$DIR/policy.json"
    in_volume /x/bob/there
    started
}

@test "require_access: the root of a user namespace makes mount points as the runtime does" {
    local scratch=$DIR/volumes/scratch members
    mkdir -p "$scratch"/{service,bob} "$BUNDLE/rootfs"
    chown 100000:100000 "$scratch"
    chown 100999:100999 "$scratch/service"
    chown 54321:54321 "$scratch/bob"
    chmod 0700 "$scratch"/*
    echo dockremap:100000:65536 >"$DIR/subids"
    policy '"require_access": true,'
    members='"root": { "path": "rootfs" }, "linux": { "namespaces": [ { "type": "user" } ],
        "uidMappings": [ { "containerID": 0, "hostID": 100000, "size": 65536 } ],
        "gidMappings": [ { "containerID": 0, "hostID": 100000, "size": 65536 } ] },'
    # remapped USER TARGET: as nested, where /etc/subuid gives these ids to Docker.
    remapped() {
        create() {
            # shellcheck disable=SC2016
            run --separate-stderr unshare -m sh -c 'mount --bind "$1/subids" /etc/subuid; mount --bind "$1/subids" /etc/subgid
                exec "$FLATBED_RUNTIME" "--flatbed-policy=$1/policy.json" create --bundle "$1/bundle" c1' sh "$DIR"
        }
        config "$scratch" /x "{ \"uid\": $1, \"gid\": $1 }" "$members"
        gojq --arg from "$scratch" --arg at "$2" \
            '.mounts += [{destination: $at, type: "bind", source: $from, options: ["rbind", "rprivate"]}]' "$BUNDLE/config.json" >"$DIR/more"
        cp "$DIR/more" "$BUNDLE/config.json"
        rm -f "$DIR/low.config"
        create
    }
    remapped 0 /x/new
    started
    remapped 0 /x/service/new
    started
    remapped 7 /x/service/new
    refused "has no 'service/new', and the container's user may not make it there"
}

@test "what the runtime covers, as root, is not where users can lead it elsewhere" {
    local key path
    mkdir -p "$BUNDLE/rootfs/etc" "$DIR/home/alice/work/sub"
    ln -s /x/sub "$BUNDLE/rootfs/link"
    ln -s /proc/self/root/x/sub "$BUNDLE/rootfs/back"
    covers() {
        config "$DIR/home/alice/work" /x '{ "uid": 12345, "gid": 12345 }' "\"root\": { \"path\": \"rootfs\" },
            \"annotations\": { \"flatbed.data\": \"any\" }, \"linux\": { \"$1\": [ \"/proc/kcore\", \"/sys/firmware\", $2 ] },"
        create
    }
    denied() { # the low-level runtime ran before, for its features
        # shellcheck disable=SC2154
        echo "status $status, stderr '$stderr'"
        [ "$status" -eq 1 ]
        [[ $stderr =~ $1 ]]
    }
    for key in maskedPaths readonlyPaths; do
        for path in /x/sub /x/sub/ /work/data/sub; do
            covers "$key" "\"$path\""
            denied "linux.$key: users can change what is above $path,"
        done
        # A file system of the container's own below the user's.
        config "$DIR/home/alice/work" /x '{ "uid": 12345, "gid": 12345 }' "\"root\": { \"path\": \"rootfs\" },
            \"linux\": { \"$key\": [ \"/x/sub/t/etc\" ] },"
        gojq '.mounts += [{destination: "/x/sub/t", type: "tmpfs", source: "tmpfs"}]' "$BUNDLE/config.json" >"$DIR/new"
        cp "$DIR/new" "$BUNDLE/config.json"
        create
        denied "linux.$key: users can change what is above /x/sub/t/etc,"
        for path in /link /link/deeper /back; do
            covers "$key" "\"$path\""
            denied "linux.$key: a symbolic link of the image is on the way to $path"
        done
        for path in /x/../etc /proc/../etc etc ''; do
            covers "$key" "\"$path\""
            denied "linux.$key: '.*' is not a clean absolute path"
        done
        for path in /x /etc /proc/sys /sys/fs/selinux /missing/sub /work/data; do
            covers "$key" "\"$path\""
            passed
        done
        covers "$key" "$(printf '"/etc",%.0s' {1..1100}) \"/etc\""
        denied "linux.$key: more than 1024 paths"
    done
}

@test "a working directory without a slash is one of the root" {
    mkdir -p "$BUNDLE/rootfs" "$DIR/home/alice/work/sub/closed/open"
    chmod 0700 "$DIR/home/alice/work/sub/closed"
    policy '"require_access": true,'
    starts_in() {
        config "$DIR/home/alice/work" /x '{ "uid": 12346, "gid": 12346 }, "cwd": "'"$1"'"' '"root": { "path": "rootfs" },'
        rm -f "$DIR/low.config"
        create
    }
    starts_in x/new
    refused "process.cwd: the runtime would make x/new in a mount, as root"
    starts_in x/sub/closed/open
    refused "process.cwd: the container's user may not enter x/sub/closed/open"
    starts_in x/sub
    passed
    starts_in y
    passed
}

@test "a working directory in a new file system below a mount of users is refused" {
    mkdir -p "$BUNDLE/rootfs" "$DIR/home/alice/work/t"
    starts_in() {
        config "$DIR/home/alice/work" /x '{ "uid": 12345, "gid": 12345 }, "cwd": "'"$1"'"' '"root": { "path": "rootfs" },'
        gojq '.mounts += [{destination: "/x/t", type: "tmpfs", source: "tmpfs"}, {destination: "/t", type: "tmpfs", source: "tmpfs"}]' \
            "$BUNDLE/config.json" >"$DIR/new"
        cp "$DIR/new" "$BUNDLE/config.json"
        rm -f "$DIR/low.config"
        create
    }
    starts_in /x/t/new
    refused "process.cwd: the runtime would make /x/t/new in a mount, as root"
    for cwd in /t/new /t /x/t; do
        starts_in "$cwd"
        passed
    done
}

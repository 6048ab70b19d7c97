#!/usr/bin/env bats
# flatbed-runtime: keys of volumes that need support by the host: wait, options, idmap, pool.

load ../lib/shim

teardown() {
    [ -z "${FUSE_PID-}" ] || kill -CONT "$FUSE_PID" 2>/dev/null || true
    [ -z "${FUSE_PID-}" ] || umount -l "$DIR/fuse" 2>/dev/null || true
    [ -z "${FUSE_PID-}" ] || kill -KILL "$FUSE_PID" 2>/dev/null || true
    forget
    rm -rf --one-file-system "$DIR"
}

# data KEYS: adds keys to the class "data".
data() { sed -i "s|\"names\": \[\"imagenet\"\],|\"names\": [\"imagenet\"], $1,|" "$DIR/policy.json"; }

destinations() { gojq -c '[.mounts[].destination]' "$BUNDLE/config.json"; }

# ------------------------------------------------------------------ wait

fuse_settled() { mountpoint -q "$DIR/fuse" || ! kill -0 "$FUSE_PID"; }

# The data sets are on a file system whose server has stopped.
hang() {
    as_root
    command -v fuse-overlayfs >/dev/null && [ -e /dev/fuse ] || skip "no fuse-overlayfs"
    mkdir "$DIR/fuse"
    fuse-overlayfs -f -o "lowerdir=$DIR/srv/data:$DIR/srv/logs" "$DIR/fuse" >/dev/null 2>&1 3>&- &
    FUSE_PID=$!
    wait_until fuse_settled
    mountpoint -q "$DIR/fuse" || skip "fuse-overlayfs does not mount here"
    sed -i "s|$DIR/srv/data/{name}|$DIR/fuse/{name}|" "$DIR/policy.json"
    kill -STOP "$FUSE_PID"
}

@test "a source that does not answer is refused after \"wait\" seconds" {
    hang
    data '"wait": 1'
    SECONDS=0
    run --separate-stderr timeout 600 "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    refused "volumes.data 'imagenet': $DIR/fuse/imagenet does not answer within 1 s"
    [ "$SECONDS" -lt 60 ]
}

@test "an optional source that does not answer is skipped, and no child process remains" {
    hang
    data '"wait": 1, "optional": true'
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nread -r children </proc/$$/task/$$/children\necho "${children:-none}" >%s/children\n' "$DIR" >"$DIR/low"
    run timeout 600 "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    [ "$(destinations)" = '["/proc","/logs"]' ]
    [ "$(gojq -c .process.env "$BUNDLE/config.json")" = '["A=1"]' ]
    [ "$(cat "$DIR/children")" = none ]
}

@test "a source that answers is used as soon as it answers" {
    data '"wait": 60'
    SECONDS=0
    run shim create --bundle "$BUNDLE" c1
    [ "$SECONDS" -lt 60 ]
    [ "$(destinations)" = '["/proc","/logs","/work/imagenet"]' ]
}

@test "a mount of an earlier edit goes with its variable if its optional source is gone" {
    data '"optional": true'
    run shim create --bundle "$BUNDLE" c1
    [ "$(destinations)" = '["/proc","/logs","/work/imagenet"]' ]
    rmdir "$DIR/srv/data/imagenet"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$(destinations)" = '["/proc","/logs"]' ]
    [ "$(gojq -c .process.env "$BUNDLE/config.json")" = '["A=1"]' ]
    mkdir "$DIR/srv/data/imagenet"
    run shim create --bundle "$BUNDLE" c1
    [ "$(destinations)" = '["/proc","/logs","/work/imagenet"]' ]
}

# ------------------------------------------------------------------ features of the runtime

# able FEATURES_JSON: makes a runtime that prints these features, and counts the questions.
able() {
    cat >"$DIR/low" <<END
#!/bin/sh
if [ "\$1" = features ]; then
    echo asked >>"$DIR/asked"
    echo '$1'
    exit
fi
printf '%s\n' "\$0" "\$@" >"$DIR/low.words"
exit 7
END
}

options() { gojq -c '.mounts[] | select(.destination == "/work/imagenet").options' "$BUNDLE/config.json"; }

@test "read-only volumes are recursively read-only if the runtime supports it; the runtime is asked once" {
    as_root
    able '{"mountOptions":["ro","rro"]}'
    for _ in 1 2; do
        config "$BUNDLE"
        run shim create --bundle "$BUNDLE" c1
        [ "$status" -eq 7 ]
        [ "$(options)" = '["rbind","ro","rro","rprivate","nosuid","nodev"]' ]
        [ "$(cat "$DIR/asked")" = asked ]
    done
    able '{"mountOptions":["ro"]}'
    config "$BUNDLE"
    run shim create --bundle "$BUNDLE" c1
    [ "$(options)" = '["rbind","ro","rprivate","nosuid","nodev"]' ]
    [ "$(wc -l <"$DIR/asked")" = 2 ]
}

@test "a required rro that is not supported is refused; permissive: the volume is ro" {
    able '{"mountOptions":["ro"]}'
    data '"options": ["rro"]'
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "volumes.data: the option 'rro' needs Linux 5.12 and a runtime that knows it; '$DIR/low features'"
    sed -i 's|"version": 1,|"version": 1, "mode": "permissive",|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$(options)" = '["rbind","ro","rprivate","nosuid","nodev"]' ]
}

@test "a runtime is not asked for features for writable volumes or for kill" {
    able '{}'
    annotate ""
    run shim create --bundle "$BUNDLE" c1
    [ "$(destinations)" = '["/proc","/logs"]' ]
    run shim kill c1
    [ ! -e "$DIR/asked" ]
}

# ------------------------------------------------------------------ idmap

# userns: the container has a user namespace that begins at 100000, and runs as uid 7 of it.
userns() {
    local ids='[{"containerID":0,"hostID":100000,"size":65536}]'
    gojq -c --argjson ids "$ids" '.process.user = {"uid":7,"gid":8} | .linux = {"namespaces":[{"type":"user"}],"uidMappings":$ids,"gidMappings":$ids}' \
        "$BUNDLE/config.json" >"$DIR/new.json"
    cp "$DIR/new.json" "$BUNDLE/config.json"
}

@test "an idmapped volume has the mappings of the container, and a directory made in it has the container's ids" {
    as_root
    able '{"linux":{"mountExtensions":{"idmap":{"enabled":true}}}}'
    userns
    run shim create --bundle "$BUNDLE" c1
    [ "$(stat -c %u:%g "$DIR/srv/logs/c1")" = 100007:100008 ]
    rmdir "$DIR/srv/logs/c1"
    config "$BUNDLE"
    userns
    sed -i 's|"create": {|"idmap": true, "create": {|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$(stat -c %u:%g "$DIR/srv/logs/c1")" = 7:8 ]
    [ "$(gojq -c '.mounts[1] | [.options, .uidMappings, .gidMappings == .uidMappings]' "$BUNDLE/config.json")" = \
        '[["rbind","rw","ridmap","rprivate","nosuid","nodev"],[{"containerID":0,"hostID":100000,"size":65536}],true]' ]
}

@test "an idmapped volume that is not supported is refused, and its directory is not made" {
    able '{}'
    userns
    sed -i 's|"create": {|"idmap": true, "create": {|' "$DIR/policy.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "volumes.logs: an idmapped mount needs Linux 5.12 and a runtime that knows it"
    [ ! -e "$DIR/srv/logs/c1" ]
    sed -i 's|"idmap": true|"idmap": "ask"|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
}

@test "crun before 1.9 knows idmap but not ridmap" {
    as_root
    able '{"linux":{"mountExtensions":{"idmap":{"enabled":true}}},"annotations":{"run.oci.crun.version":"1.8.7"}}'
    userns
    sed -i 's|"create": {|"idmap": true, "create": {|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$(gojq -c '.mounts[1].options' "$BUNDLE/config.json")" = '["rbind","rw","idmap","rprivate","nosuid","nodev"]' ]
}

@test "idmap is asked for each time: the runtime behind a wrapper may have changed, also for a bundle edited before" {
    as_root
    able '{"linux":{"mountExtensions":{"idmap":{"enabled":true}}}}'
    mv "$DIR/low" "$DIR/other"
    printf '#!/bin/sh\nexec "%s/other" "$@"\n' "$DIR" >"$DIR/low"
    chmod 0755 "$DIR/low" "$DIR/other"
    userns
    sed -i 's|"create": {|"idmap": true, "create": {|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    sed -i 's/"enabled":true/"enabled":false/' "$DIR/other"
    rm "$DIR/low.words"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "volumes.logs: an idmapped mount needs"
    config "$BUNDLE"
    userns
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "volumes.logs: an idmapped mount needs"
    sed -i 's|"version": 1,|"version": 1, "mode": "permissive", "audit": { "file": "'"$DIR"'/log/audit.jsonl" },|' "$DIR/policy.json"
    mkdir -m 0755 "$DIR/log"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    grep -q "mounted without idmap" "$DIR/log/audit.jsonl"
}

@test "a rootless runtime refuses an idmapped volume" {
    as_root
    able '{"linux":{"mountExtensions":{"idmap":{"enabled":true}}}}'
    sed -i 's|"names": \["imagenet"\]|"idmap": true, &|' "$DIR/policy.json"
    chmod 0755 "$DIR" "$DIR"/srv "$DIR"/srv/*
    run --separate-stderr unshare --user --map-root-user "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" \
        create --bundle "$BUNDLE" c1
    refused "it cannot be idmapped: only the host's root may map ids, and this engine is rootless"
    sed -i 's|"idmap": true|"idmap": "ask"|' "$DIR/policy.json"
    run unshare --user --map-root-user "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
}

# ------------------------------------------------------------------ pool

# pooled: makes the class "cache", with pool and private directory owned by root.
pooled() {
    as_root
    mkdir -p "$DIR/srv/pool/pip" "$DIR/srv/cache"
    sed -i "s|\"logs\": {|\"cache\": { \"source\": \"$DIR/srv/cache/{name}\", \"target\": \"/cache/{name}\", \"access\": \"rw\",\\n\
      \"always\": [\"pip\"], \"create\": {}, \"pool\": \"$DIR/srv/pool/{name}\" },\\n    \"logs\": {|" "$DIR/policy.json"
    gojq -c '.process.user = {"uid":12345,"gid":12345}' "$BUNDLE/config.json" >"$DIR/new.json"
    cp "$DIR/new.json" "$BUNDLE/config.json"
}

@test "a pool is the lowerdir of an overlay; the upperdir is owned by the user, in a directory owned by root" {
    local before
    pooled
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$(gojq -c '.mounts[] | select(.destination == "/cache/pip") | [.type, .source, .options]' "$BUNDLE/config.json")" = \
        "[\"overlay\",\"overlay\",[\"rw\",\"nosuid\",\"nodev\",\"lowerdir=$DIR/srv/pool/pip\",\"upperdir=$DIR/srv/cache/pip/upper\",\"workdir=$DIR/srv/cache/pip/work\",\"index=on\"]]" ]
    [ "$(stat -c '%a %u:%g' "$DIR/srv/cache/pip" "$DIR/srv/cache/pip/upper" "$DIR/srv/cache/pip/work" | tr '\n' ,)" = \
        "755 0:0,750 12345:12345,700 0:0," ]
    before=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    untouched "$before"
}

@test "a pool that is missing, or that a user could replace, is refused" {
    pooled
    rmdir "$DIR/srv/pool/pip"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "volumes.cache 'pip': $DIR/srv/cache/pip: the pool $DIR/srv/pool/pip does not exist"
    mkdir "$DIR/srv/pool/pip"
    chown 12345 "$DIR/srv/pool"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "the pool $DIR/srv/pool/pip could be replaced by users other than root"
}

@test "a private directory in which a user could put a link is refused" {
    pooled
    mkdir "$DIR/srv/cache/pip"
    chown 12345 "$DIR/srv/cache/pip"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "must be a directory that is owned by root and not writable by others"
    chown 0 "$DIR/srv/cache/pip"
    ln -s /etc "$DIR/srv/cache/pip/upper"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "'upper' is not a directory"
}

@test "a private directory that a user could move is pinned" {
    pooled
    chown 12345 "$DIR/srv/cache"
    mkdir "$DIR/srv/cache/pip"
    printf '#!/bin/sh\nls /run/flatbed/pin/cache:pip\n' >"$DIR/low"
    for _ in 1 2; do
        run shim create --bundle "$BUNDLE" c1
        [ "$output" = $'upper\nwork' ]
        grep -qF 'upperdir=/run/flatbed/pin/cache\\:pip/upper' "$BUNDLE/config.json"
    done
}

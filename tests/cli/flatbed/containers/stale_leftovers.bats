#!/usr/bin/env bats
# flatbed stale on what flatbed and flatten themselves left: trees, folders, copies, unfinished results. Needs root.
# shellcheck disable=SC2154  # status and output are set by bats' run

bats_require_minimum_version 1.5.0

load ../lib/stale

@test "trees of restack whose layers are gone" {
    local key
    mkdir -p "$DIR"/layers/{a,b,c}
    for key in a b c; do echo $key >"$DIR/layers/$key/file"; done
    "$FLATBED" restack --build --force --cache "$DIR/cache" "$DIR/layers/a:$DIR/layers/b"
    "$FLATBED" restack --build --force --cache "$DIR/cache" "$DIR/layers/b:$DIR/layers/c"
    stale --cache="$DIR/cache" --json
    exits 0
    is '.stale == [] and .left_out == []'
    rm -r "$DIR/layers/a"
    stale --cache="$DIR/cache" --json
    exits 0
    is '.stale | length == 1 and (.[0] | .engine == "flatbed" and .kind == "tree" and .why == "its layers are gone")'
    stale --cache="$DIR/cache" --remove
    exits 0
    has "0 stale directories"
    stale --cache="$DIR/cache" --remove --older=0
    exits 0
    has "1 directory removed"
    [ "$("$FLATBED" restack --status --cache "$DIR/cache" --json | gojq '[.. | .key? // empty] | length')" = 1 ]
    chmod 0777 "$DIR/cache"
    stale --cache="$DIR/cache"
    exits 1
}

@test "folders of volumes whose container is gone are listed, and stay" {
    local at=$DIR/logs/1234
    mkdir -p "$at"/{2026-02-03_069f8087cff1,2026-02-03_0123456789ab/upper,2026-02-03_111111111111,train-7,"$(digits 5)"}
    for name in 2026-02-03_0123456789ab/upper 2026-02-03_111111111111 train-7 "$(digits 5)"; do echo text >"$at/$name/log"; done
    mkdir "$DIR/mnt"
    mount --bind "$at/2026-02-03_111111111111" "$DIR/mnt"
    cat >"$DIR/policy.json" <<END
{ "version": 1, "volumes": { "logs": { "source": "$DIR/logs/{user}/{container_name}", "target": "/logs", "access": "rw",
  "create": { "mode": "0750" } } }, "profiles": [ { "name": "same", "match": { "uid": ["7"] } } ] }
END
    chmod 0644 "$DIR/policy.json"
    touch -d '3 days ago' "$at"/*
    stale --policy="$DIR/policy.json" --json
    exits 0
    is '[.stale[] | select(.engine == "flatbed" and .kind == "folder" and .bytes > 0) | .path] | sort == ["'"$at/$(digits 5)"'", "'"$at/2026-02-03_0123456789ab"'"]'
    stale --policy="$DIR/policy.json" --remove --older=0
    exits 0
    has "it stays: users' data may be in it"
    [ -e "$at/2026-02-03_0123456789ab/upper/log" ]
    [ -e "$at/$(digits 5)/log" ]
    [ -d "$at/2026-02-03_069f8087cff1" ]
    stale --policy="$DIR/missing.json"
    exits 1
}

# ---- staged copies ----

@test "copies of stage whose source is gone" {
    local record
    mkdir -p "$DIR"/nfs/{kept,gone,used,pinned,model} "$DIR/mnt"
    echo one | tee "$DIR"/nfs/{kept,gone,used,pinned,model}/file >/dev/null
    cat >"$DIR/policy.json" <<EOF
{ "version": 1, "runtime": { "paths": ["/bin/true"] }, "volumes": { "data": { "source": "$DIR/nfs/{name}",
  "target": "/data/{name}", "access": "ro", "stage": { "cache": "$DIR/cache" } } } }
EOF
    for name in kept gone used pinned model; do "$FLATBED" stage --policy "$DIR/policy.json" --wait data=$name; done
    "$FLATBED" stage --policy "$DIR/policy.json" --pin data=pinned
    # As of a class whose source is in a registry.
    record=$(grep -l '/model"' "$DIR"/cache/*/record.json)
    gojq '.source = "oci://registry.lab/models/model:stable"' "$record" >"$DIR/record"
    cp "$DIR/record" "$record"
    stale --policy="$DIR/policy.json"
    has "0 stale directories"
    rm -r "$DIR"/nfs/{gone,used,pinned,model}
    used=$("$FLATBED" stage --policy "$DIR/policy.json" --json | gojq -r '.caches[].copies[] | select(.source | endswith("/used")).name')
    mount --bind "$DIR/cache/$used/tree" "$DIR/mnt"
    stale --policy="$DIR/policy.json" --json
    exits 0
    is --arg gone "$DIR/nfs/gone" '.stale | length == 1 and (.[0] | .kind == "staged" and .engine == "flatbed" and .bytes > 0
        and .state == "stale" and (.why | contains($gone)))'
    stale --policy="$DIR/policy.json" --remove # not for 30 days
    has "0 stale directories"
    stale --policy="$DIR/policy.json" --remove --older=0h
    exits 0
    has "1 directory removed"
    "$FLATBED" stage --policy "$DIR/policy.json" --json |
        gojq -e '[.caches[].copies[].source | sub(".*/"; "")] | sort == ["kept", "model:stable", "pinned", "used"]'
}

# ---- unfinished results ----

# tree_left DIR OWNER: a tree that a killed flatten unpack of that user left.
tree_left() {
    mkdir -p "$1/new/usr/lib"
    echo text >"$1/new/usr/lib/file"
    : >"$1/.flatbed-tree"
    chown -R "$2:$2" "$1"
    chmod 0700 "$1"
}

@test "what killed runs left beside their results goes, and nothing else" {
    local lock kept=$DIR/kept r=$DIR/results
    mkdir -p "$r" "$kept"
    chown 1 "$r"
    echo precious >"$kept/file"
    : >"$r/.flatbed-run-0000000000000001"
    : >"$r/.flatbed-0000000000000002"
    tree_left "$r/.flatbed-run-0000000000000003" 1
    ln -s "$kept" "$r/.flatbed-run-0000000000000003/new/link"
    mkdir -p "$r/.flatbed-run-0000000000000004/blobs/sha256"
    : >"$r/.flatbed-run-0000000000000004/oci-layout"
    mkdir "$r/.flatbed-run-0000000000000005"
    echo text >"$r/.flatbed-run-0000000000000005/notes"
    ln -s "$kept" "$r/.flatbed-run-0000000000000006"
    : >"$r/.flatbed-run-0000000000000007x"
    : >"$r/image.tar"
    : >"$r/.flatbed-run-0000000000000008"
    exec {lock}<"$r/.flatbed-run-0000000000000008"
    flock -n "$lock"

    stale --beside="$r" --json
    exits 0
    [ "$(names)" = ".flatbed-0000000000000002 .flatbed-run-0000000000000001 .flatbed-run-0000000000000003 \
.flatbed-run-0000000000000004 .flatbed-run-0000000000000005 " ]
    is 'all(.stale[]; .kind == "unfinished" and .engine == "flatbed" and (.partial | not))'
    stale --beside="$r" --remove
    has "0 stale directories" # not for 30 days
    stale --beside="$r" --remove --older=0h
    exits 1
    has "it has files of others"
    exec {lock}<&-
    [ "$(ls -A "$r" | tr '\n' ' ')" = ".flatbed-run-0000000000000005 .flatbed-run-0000000000000006 \
.flatbed-run-0000000000000007x .flatbed-run-0000000000000008 image.tar " ]
    [ "$(cat "$kept/file" "$r/.flatbed-run-0000000000000005/notes")" = $'precious\ntext' ]
}

@test "where other hosts may write, nothing is held to be unfinished" {
    stale --beside="$DIR/missing"
    exits 1
    has "missing: left out"
    stale --beside=/proc
    exits 1
    has "other hosts may write to this file system"
}

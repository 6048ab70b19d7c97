#!/usr/bin/env bats
# The selection of flatten: kept layers, groups, dry runs, verification, platforms.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

digests() { gojq -c '[.layers[].digest]' "$(manifest_of "$1")"; }

# entries LAYOUT N: prints the entries of the tar of layer N.
entries() {
    local blob
    blob=$1/blobs/sha256/$(gojq -r ".layers[$2].digest[7:]" "$(manifest_of "$1")")
    { zstd -dcq "$blob" 2>/dev/null || gzip -dc "$blob" 2>/dev/null || cat "$blob"; } | tar -t
}

# ---- --keep-base and --last ----

@test "--keep-base=N: the oldest layers are kept byte for byte, the rest is merged into one layer above" {
    ok -q --keep-base=2 "oci:$IMAGES/stacked" oci:out
    [ "$(gojq '.layers | length' "$(manifest_of out)")" -eq 3 ]
    [ "$(gojq -c '.layers[:2]' "$(manifest_of out)")" = "$(gojq -c '.layers[:2]' "$(manifest_of "$IMAGES/stacked")")" ]
    for blob in $(gojq -r '.layers[:2][].digest[7:]' "$(manifest_of out)"); do
        cmp "out/blobs/sha256/$blob" "$IMAGES/stacked/blobs/sha256/$blob"
    done
    same "oci:$IMAGES/stacked" oci:out
    [ "$(gojq -c '.rootfs.diff_ids[:2]' "$(config_of out)")" = \
        "$(gojq -c '.rootfs.diff_ids[:2]' "$(config_of "$IMAGES/stacked")")" ]
}

@test "whiteouts are kept only where they hide kept content" {
    ok -q --keep-base=2 "oci:$IMAGES/stacked" oci:out
    run entries out 2
    diff <(sort <<<"$output") <(printf '%s\n' etc/ etc/.wh.a etc/c old/ old/.wh..wh..opq old/z \
        tmp/ tmp/.wh.t top | sort)
}

@test "a kept layer that occurs twice is written once" {
    for destination in oci:out docker-archive:out.tar; do
        ok -q --verify --keep-base=3 "oci:$IMAGES/twins" "$destination"
        same "oci:$IMAGES/twins" "$destination"
    done
    [ "$(gojq '.layers | length' "$(manifest_of out)")" -eq 4 ]
    [ -z "$(tar -tf out.tar | sort | uniq -d)" ]
}

@test "a whiteout of the longest name that a file system allows is kept" {
    ok -q --verify --keep-base=1 "oci:$IMAGES/long-name" oci:out
    same "oci:$IMAGES/long-name" oci:out
    [ "$(entries out 1 | grep -c '^\.wh\.n\{255\}$')" -eq 1 ]
}

@test "--last=N merges only the newest layers" {
    ok -q --last=1 "oci:$IMAGES/stacked" oci:last
    ok -q --keep-base=3 "oci:$IMAGES/stacked" oci:keep
    [ "$(digests last)" = "$(digests keep)" ]
    [ "$(gojq '.layers | length' "$(manifest_of last)")" -eq 4 ]
    same "oci:$IMAGES/stacked" oci:last
    ok -q --last=4 "oci:$IMAGES/stacked" oci:all
    [ "$(gojq '.layers | length' "$(manifest_of all)")" -eq 1 ]
}

@test "--keep-base=IMAGE keeps the layers that the image shares with IMAGE" {
    ok -q --keep-base="oci:$IMAGES/base:v1" "oci:$IMAGES/stacked" oci:out
    ok -q --keep-base=2 "oci:$IMAGES/stacked" oci:two
    [ "$(digests out)" = "$(digests two)" ]
    ok -q --keep-base="$IMAGES/other-base" "oci:$IMAGES/stacked" oci:one
    [ "$(gojq -c '.layers[0].digest' "$(manifest_of one)")" = \
        "$(gojq -c '.layers[0].digest' "$(manifest_of "$IMAGES/stacked")")" ]
    [ "$(gojq '.layers | length' "$(manifest_of one)")" -eq 2 ]
    # An archive has no digests of its blobs, so diff_ids are compared.
    ok -q --keep-base="oci:$IMAGES/base:v1" "$IMAGES/stacked.tar" oci:from-archive
    [ "$(gojq '.layers | length' "$(manifest_of from-archive)")" -eq 3 ]
    fails 2 "shares no layers" --keep-base="$IMAGES/layout" "oci:$IMAGES/stacked" oci:none
    fails 2 "--keep-base" --keep-base=./nope "oci:$IMAGES/stacked" oci:none
    [ ! -e none ]
}

@test "contradictory options, or more layers than there are, are refused" {
    fails 2 "give one" --keep-base=1 --last=1 "oci:$IMAGES/stacked" oci:x
    fails 2 "has 4 layers" --keep-base=5 "oci:$IMAGES/stacked" oci:x
    fails 2 "has 4 layers" --last=5 "oci:$IMAGES/stacked" oci:x
    fails 2 "merge nothing" --last=0 "oci:$IMAGES/stacked" oci:x
    fails 2 "not a number" --last=two "oci:$IMAGES/stacked" oci:x
    fails 2 "neither a number nor an image" --keep-base= "oci:$IMAGES/stacked" oci:x
    [ -z "$(ls -A)" ]
}

@test "every way to keep layers gives the same tree" {
    for source in "oci:$IMAGES/stacked" "$IMAGES/stacked.tar"; do
        for kept in 0 1 2 3 4; do
            for destination in "oci:d$kept" "docker-archive:d$kept.tar:d:$kept"; do
                for rules in overlay spec; do
                    rm -rf d*
                    ok -q --semantics=$rules --verify --keep-base=$kept "$source" "$destination"
                    same --semantics=$rules "$source" "$destination"
                done
            done
        done
    done
}

@test "--into=N makes groups of adjacent layers" {
    ok -q --into=2 --verify "oci:$IMAGES/stacked" oci:two
    [ "$(gojq '.layers | length' "$(manifest_of two)")" -eq 2 ]
    same "oci:$IMAGES/stacked" oci:two
    ok -q --keep-base=1 --into=2 --verify "oci:$IMAGES/stacked" oci:above
    [ "$(gojq '.layers | length' "$(manifest_of above)")" -eq 3 ]
    run gojq -r '[.history[] | select(.empty_layer != true) | .comment] | join(",")' "$(config_of two)"
    [[ $output == *"layers merged,"*"layers merged" ]]
    ok -q --json --keep-base=1 --into=2 "oci:$IMAGES/stacked" oci:json
    [ "$(gojq -c '[.made[] | {digest, size}]' <<<"$output")" = \
        "$(gojq -c '[.layers[1:][] | {digest, size}]' "$(manifest_of json)")" ]
    [ "$(gojq -c '[.made[].diff_id]' <<<"$output")" = "$(gojq -c '.rootfs.diff_ids[1:]' "$(config_of json)")" ]
    ok -q --into=99 "oci:$IMAGES/stacked" oci:many
    [ "$(gojq '.layers | length' "$(manifest_of many)")" -eq 4 ]
}

@test "an empty layer is not written" {
    ok --keep-base=2 "oci:$IMAGES/undone" oci:out
    [[ $stderr == *"add nothing"* ]]
    [ "$(gojq '.layers | length' "$(manifest_of out)")" -eq 2 ]
    [ "$(gojq '[.history[] | select(.empty_layer != true)] | length' "$(config_of out)")" -eq 2 ]
    same "oci:$IMAGES/undone" oci:out
    [ -z "$(find out -name '.flatbed-*')" ]
    ok -q --keep-base=2 "oci:$IMAGES/undone" docker-archive:out.tar
    same "oci:$IMAGES/undone" out.tar
}

@test "history: kept layers keep their entries, those of merged layers become empty_layer" {
    ok -q --keep-base=2 "oci:$IMAGES/stacked" oci:out
    run gojq -c '[.history[] | [.created_by, .empty_layer // false, .comment // ""]]' "$(config_of out)"
    [ "$output" = '[["layer 0",false,""],["layer 1",false,""],["layer 2",true,""],["layer 3",true,""],["ENV A=b",true,""],["flatten squash",false,"2 layers merged"]]' ]
    [ "$(gojq -c .config "$(config_of out)")" = "$(gojq -c .config "$(config_of "$IMAGES/stacked")")" ]
}

@test "kept layers are verified like the others" {
    fails 6 "layer 2" --keep-base=2 "oci:$IMAGES/bad-digest" oci:x
    fails 6 "layer 2" --keep-base=3 "oci:$IMAGES/bad-digest" oci:x
    [ -z "$(ls -A)" ]
}

@test "squashing into the same layout does not write kept blobs again" {
    cp -r "$IMAGES/stacked" work
    before=$(find work/blobs -type f -printf '%f %T@\n' | sort)
    ok -q --keep-base=2 oci:work:v1 oci:work:flat
    [ -z "$(comm -23 <(echo "$before") <(find work/blobs -type f -printf '%f %T@\n' | sort))" ]
    same oci:work:v1 oci:work:flat
}

# ---- --dry-run and --verify ----

@test "--dry-run prints the plan, and writes nothing" {
    ok --dry-run --keep-base=2 "oci:$IMAGES/stacked"
    [[ ${lines[0]} == "keep  layer 1 "*"layer 0" ]]
    [[ ${lines[3]} == "merge layer 4 "*"layer 3" ]]
    [[ ${lines[4]} == "layers 4 -> 3 (2 kept), entries 10 -> 9, "*"whiteouts 3" ]]
    ok -n --json --keep-base=2 "oci:$IMAGES/stacked" oci:out
    gojq -e '.layers == {"in":4,"out":3,"kept":2} and (.id | not) and .entries.whiteouts == 3 and
        ([.plan[].action] == ["keep","keep","merge","merge"])' <<<"$output"
    ok -q --json --keep-base=2 "oci:$IMAGES/stacked" oci:out
    gojq -e '.layers == {"in":4,"out":3,"kept":2} and .entries == {"in":10,"out":9,"whiteouts":3}' \
        <<<"$output"
    rm -r out
    ok -n "$IMAGES/old.tar"
    fails 6 "layer 2" -n "oci:$IMAGES/bad-digest"
    [ -z "$(ls -A)" ]
}

@test "--verify compares the trees" {
    ok --verify "oci:$IMAGES/stacked" oci:out
    [[ $stderr == *"verified: the same tree"* ]]
    ok --verify "oci:$IMAGES/indexed" docker-archive:out.tar
    ok --verify --keep-base=1 "oci:$IMAGES/indexed" docker-archive:kept.tar
}

# ---- platforms ----

@test "all images of an index are squashed if the destination can hold an index" {
    ok "oci:$IMAGES/platforms" oci:out
    [[ $stderr == *"attestations"* && $stderr == *"linux/arm/v7: 2 layers became 1"* ]]
    [ "$output" = "$(gojq -r '.manifests[0].digest' out/index.json)" ]
    index=$(manifest_of out)
    gojq -e '.mediaType == "application/vnd.oci.image.index.v1+json" and
        .annotations == {"org.example.index":"kept"} and
        [.manifests[].platform.architecture] == ["amd64","arm64","arm"] and
        .manifests[2].annotations == {"org.example.for":"arm/v7"}' "$index"
    for platform in linux/amd64 linux/arm64 linux/arm/v7; do
        same --platform=$platform "oci:$IMAGES/platforms" oci:out
    done
    ok -q --json --keep-base=1 "oci:$IMAGES/platforms" oci:kept
    gojq -e '[.images[].layers] == [{"in":4,"out":2,"kept":1},{"in":3,"out":2,"kept":1},{"in":2,"out":2,"kept":1}]' \
        <<<"$output"
}

@test "an index in an index is used, or is refused with an error" {
    ok -q "oci:$IMAGES/nested" oci:out
    [ "$(gojq '.manifests | length' "$(manifest_of out)")" -eq 2 ]
    ok -q --platform=linux/arm64 "oci:$IMAGES/nested" oci:one
    same --platform=linux/arm64 "oci:$IMAGES/nested" oci:one
    fails 8 "beside others" "oci:$IMAGES/nested-beside" oci:x
    fails 7 "more than 64 images" "oci:$IMAGES/many-platforms" oci:x
    [ ! -e x ]
}

@test "--platform selects one image, and a destination for one image selects the platform of the host" {
    ok -q --platform=linux/arm64 "oci:$IMAGES/platforms" oci:out
    [ "$(gojq -r .architecture "$(config_of out)")" = arm64 ]
    ok --platform=linux/arm64 "oci:$IMAGES/platforms" docker-archive:one.tar
    [[ $stderr != *"--platform"* ]]
    ok "oci:$IMAGES/platforms" docker-archive:host.tar || [[ $stderr == *"no image for"* ]]
    [[ $stderr == *"--platform chooses another"* || $status -ne 0 ]]
    fails 2 "no image for linux/mips" --platform=linux/mips "oci:$IMAGES/platforms" oci:x
    fails 2 "linux/arm/v7: --keep-base=3" -q --keep-base=3 "oci:$IMAGES/platforms" oci:x
    [ ! -e x ]
}

@test "an archive of several images without a name is an error that lists the names" {
    fails 2 "they are one:v1, two:v2" "$IMAGES/several.tar" oci:x
    ok -q "docker-archive:$IMAGES/several.tar:two:v2" oci:out
    same "oci:$IMAGES/layout" oci:out
}

@test "--platform: a value that is not OS/ARCH is refused before any file is read" {
    local bad
    for bad in "" arm64 linux/ /arm64 linux//v8 linux/arm64/v8/x "linux/arm 64" '*' "linux/arm64/" \
        "sha256:$(printf 0%.0s {1..64})"; do
        fails 2 "--platform='$bad': expected OS/ARCH" --platform="$bad" /no/such/thing oci:out
    done
    fails 2 "expected OS/ARCH" verify --platform=x /no/such/thing /no/such/thing
    fails 2 "expected OS/ARCH" analyze --platform=x /no/such/thing
}

@test "all platforms of an index: the sum of their configs is limited" {
    python3 - <<'END'
import hashlib, json, os
os.makedirs("big/blobs/sha256")
def put(data):
    digest = hashlib.sha256(data).hexdigest()
    with open("big/blobs/sha256/" + digest, "wb") as f:
        f.write(data)
    return {"digest": "sha256:" + digest, "size": len(data)}
layer = put(b"\0" * 1024)
entries = []
for i in range(64):
    config = {"os": "linux", "architecture": f"a{i}", "x": "y" * 8_000_000,
              "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}
    manifest = {"schemaVersion": 2, "config": put(json.dumps(config).encode()), "layers": [layer]}
    entries.append({**put(json.dumps(manifest).encode()), "platform": {"os": "linux", "architecture": f"a{i}"},
                    "mediaType": "application/vnd.oci.image.manifest.v1+json"})
index = put(json.dumps({"schemaVersion": 2, "manifests": entries}).encode())
index["mediaType"] = "application/vnd.oci.image.index.v1+json"
json.dump({"schemaVersion": 2, "manifests": [index]}, open("big/index.json", "w"))
json.dump({"imageLayoutVersion": "1.0.0"}, open("big/oci-layout", "w"))
END
    fails 7 "choose one with --platform" oci:big oci:out
    [ ! -e out ]
    ok -q --platform=linux/a63 oci:big oci:out
}

@test "an archive of several images: the error lists the names and the words to type" {
    fails 2 "name one, as in docker-archive:$IMAGES/several.tar:one:v1; they are one:v1, two:v2" \
        "$IMAGES/several.tar" oci:out
    fails 2 "it has one:v1, two:v2" "docker-archive:$IMAGES/several.tar:three" oci:out
    ok -q "docker-archive:$IMAGES/several.tar:@1" oci:out
    same oci:out "docker-archive:$IMAGES/several.tar:two:v2"
}

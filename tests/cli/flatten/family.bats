#!/usr/bin/env bats
# flatten carve --family: several images whose common content is in layers that they share.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

setup_file() { make_images gojq zstd; }

# manifest LAYOUT TAG: prints the path of the manifest.
manifest() {
    echo "$1/blobs/sha256/$(gojq -r --arg t "$2" '.manifests[]
        | select(.annotations["org.opencontainers.image.ref.name"] == $t) | .digest[7:]' "$1/index.json")"
}

digests() { gojq -r '.layers[].digest' "$(manifest "$@")"; }
blobs() { (cd "$1/blobs/sha256" && ls); }

# entries LAYOUT DIGEST: lists the tar of a layer.
entries() {
    { zstd -dcq "$1/blobs/sha256/${2#*:}" || gzip -dc "$1/blobs/sha256/${2#*:}"; } 2>/dev/null | tar -tv --full-time --utc
}

# family DESTINATION OPTION...: carves three images that differ in an application and in a tool.
family() {
    local to=$1
    shift
    ok carve --family --layer-size=20k "$@" "oci:$IMAGES/owned" "oci:$IMAGES/owned2" "oci:$IMAGES/owned3" "$to"
}

@test "every image is exact, and content that images have in common is in the same layers" {
    family oci:out -q --verify
    same "oci:$IMAGES/owned" oci:out:v1
    same "oci:$IMAGES/owned2" oci:out:v2
    same "oci:$IMAGES/owned3" oci:out:v3
    comm -12 <(digests out v1 | sort) <(digests out v2 | sort) >shared
    comm -12 shared <(digests out v3 | sort) >all
    [ "$(wc -l <all)" -ge 3 ]
    [ "$(wc -l <shared)" -gt "$(wc -l <all)" ]
    # The most shared layers are at the bottom.
    diff <(digests out v1 | head -"$(wc -l <all)" | sort) all
    for digest in $(digests out v1); do ! entries out "$digest" | grep '\.wh\.'; done
}

@test "a file is in one layer of each image, and only images that have it have the layer" {
    family oci:out -q
    for tag in v1 v2 v3; do
        for digest in $(digests out "$tag"); do entries out "$digest"; done >"$tag"
        [ "$(grep -c ' opt/app/main.py$' "$tag")" -eq 1 ]
        [ "$(awk '$6 == "usr/bin/tool"' "$tag" | wc -l)" -eq 1 ]
        [ -z "$(grep -v '^d' "$tag" | awk '{print $6}' | sort | uniq -d)" ]
    done
}

@test "the bytes depend neither on the run nor on the order of the sources" {
    family oci:out -q
    ok carve --family -q --layer-size=20k "oci:$IMAGES/owned3" "oci:$IMAGES/owned2" "oci:$IMAGES/owned" oci:turned
    diff <(blobs out) <(blobs turned)
    family oci:again -q --threads=1
    diff <(blobs out) <(blobs again)
}

@test "images that have little in common, or nothing, or that are the same" {
    ok carve --family -q --verify "oci:$IMAGES/layout" "oci:$IMAGES/owned2" oci:out
    same "oci:$IMAGES/layout" oci:out:v1
    same "oci:$IMAGES/owned2" oci:out:v2
    for tag in a b; do
        cp -r "$IMAGES/owned" "$tag"
        gojq -c --arg t "$tag" '.manifests[0].annotations["org.opencontainers.image.ref.name"] = $t' "$IMAGES/owned/index.json" >"$tag/index.json"
    done
    ok carve --family -q --verify oci:a oci:b oci:twins
    diff <(digests twins a) <(digests twins b)
    same oci:a oci:twins:b
}

@test "hard links and times that differ make other layers, and every image stays exact" {
    ok carve --family -q --verify --layer-size=20k "oci:$IMAGES/owned" "oci:$IMAGES/owned-link" "oci:$IMAGES/owned-later" oci:out
    same "oci:$IMAGES/owned" oci:out:v1
    same "oci:$IMAGES/owned-link" oci:out:v4
    same "oci:$IMAGES/owned-later" oci:out:v5
    [ -z "$(comm -12 <(digests out v1 | sort) <(digests out v5 | sort))" ]
    [ -n "$(comm -12 <(digests out v1 | sort) <(digests out v4 | sort))" ]
}

@test "each image has at most --layers layers, and one is enough" {
    for layers in 1 2 4; do
        family "oci:out$layers" -q --verify "--layers=$layers"
        for tag in v1 v2 v3; do [ "$(digests "out$layers" "$tag" | wc -l)" -le "$layers" ]; done
    done
    fails 2 "--layers=128: expected 1 to 127" carve --family --layers=128 "oci:$IMAGES/owned" "oci:$IMAGES/owned2" oci:no
}

@test "an archive holds all images under their names; layers are stored once" {
    ok carve --family -q --verify "docker-archive:$IMAGES/several.tar:one:v1" "docker-archive:$IMAGES/several.tar:two:v2" out.tar
    same "docker-archive:$IMAGES/several.tar:one:v1" docker-archive:out.tar:one:v1
    same "docker-archive:$IMAGES/several.tar:two:v2" docker-archive:out.tar:two:v2
    [ -z "$(tar tf out.tar | sort | uniq -d)" ]
    family oci-archive:all.tar -q
    same "oci:$IMAGES/owned2" oci-archive:all.tar:v2
    [ -z "$(tar tf all.tar | sort | uniq -d)" ]
    family 'docker-archive:named.tar:lab/app:{tag}' -q
    same "oci:$IMAGES/owned3" docker-archive:named.tar:lab/app:v3
}

@test "the report tells bytes apart and together, and which images share a layer" {
    family oci:out --json
    gojq -e '(.images | length) == 3 and ([.images[].name] == ["v1", "v2", "v3"])' <<<"$output"
    gojq -e '.family.packed | .together < .apart and .shared <= .together' <<<"$output"
    [ "$(gojq .family.packed.apart <<<"$output")" -eq \
        "$(gojq '[.images[].made[].size] | add' <<<"$output")" ]
    [ "$(gojq .family.packed.together <<<"$output")" -eq \
        "$(gojq '[.images[].made[] | {digest, size}] | unique_by(.digest) | map(.size) | add' <<<"$output")" ]
    gojq -e '.family.source.together > 0' <<<"$output"
    gojq -e '.images[0].carved | .[0].images == ["v1", "v2", "v3"] and .[-1].images == ["v1"]' <<<"$output"
    family oci:two
    [[ $stderr == *"family: 3 images take "*" apart and "*" together: "*" layers ("*") are shared"* ]]
    [ "${#lines[@]}" -eq 3 ]
    [[ ${lines[1]} =~ ^v2\ sha256:[0-9a-f]{64}\ sha256:[0-9a-f]{64}$ ]]
}

@test "--dry-run prints all layers and writes nothing" {
    family oci:out -n
    [[ $output == *"v1:"*"v2:"*"v3:"*"family: 3 images take "*" together unpacked"* ]]
    [[ $output == *"torch 2.7.0"*"[in all images]"* ]]
    [[ $output == *"[in v1 and v2]"* ]]
    [ ! -e out ]
    family oci:out -n --json
    gojq -e '.family.unpacked.together < .family.unpacked.apart' <<<"$output"
    [ ! -e out ]
}

@test "an image of the same name in a layout is replaced only with {tag}" {
    family oci:out -q
    family oci:out -q
    fails 2 "another image" carve --family --layers=2 "oci:$IMAGES/owned" "oci:$IMAGES/owned2" oci:out
    ok carve --family -q --layers=2 "oci:$IMAGES/owned" "oci:$IMAGES/owned2" 'oci:out:{tag}'
    [ "$(digests out v1 | wc -l)" -le 2 ]
    [ "$(gojq '.manifests | length' out/index.json)" -eq 3 ]
    same "oci:$IMAGES/owned3" oci:out:v3
}

@test "one image that fails, and nothing is published" {
    fails 5 "bad-whiteout" carve --family "oci:$IMAGES/owned" "oci:$IMAGES/bad-whiteout" oci:out
    [ ! -e out ]
    fails 3 "none.tar" carve --family "oci:$IMAGES/owned" docker-archive:none.tar oci:out
    [ ! -e out ]
    ok carve -q "oci:$IMAGES/layout" oci:there
    cp there/index.json before
    fails 5 "bad-whiteout" carve --family "oci:$IMAGES/owned2" "oci:$IMAGES/bad-whiteout" oci:there
    cmp before there/index.json
}

@test "what a family cannot have is refused" {
    local two=("oci:$IMAGES/owned" "oci:$IMAGES/owned2")
    fails 2 "--family takes two images or more" carve --family "oci:$IMAGES/owned" oci:out
    fails 2 "--like cannot be used together with --family" carve --family --like=oci:x "${two[@]}" oci:out
    fails 2 "cannot be used together with --family" carve --family --like=oci:x --stable-times "${two[@]}" oci:out
    fails 2 "--stable-times cannot be used together with --family" carve --family --stable-times "${two[@]}" oci:out
    fails 2 "--keep-base cannot be used together with --family" carve --family --keep-base=1 "${two[@]}" oci:out
    fails 2 "each image needs a name of its own" carve --family "${two[@]}" oci:out:v1
    fails 2 "each image needs a name of its own" carve --family "${two[@]}" docker://127.0.0.1:1/app:1
    fails 2 "each image needs a name of its own" carve --family "${two[@]}" docker-daemon:
    fails 2 "app:1:{tag} has two tags" carve --family "${two[@]}" 'docker://127.0.0.1:1/app:1:{tag}'
    fails 2 "as another image of the family" carve --family "oci:$IMAGES/owned" "oci:$IMAGES/owned" oci:out
    cp -r "$IMAGES/python" nameless
    gojq -c 'del(.manifests[0].annotations)' "$IMAGES/python/index.json" >nameless/index.json
    fails 2 "the image has no name" carve --family "oci:$IMAGES/owned" oci:nameless oci:out
    fails 2 "the image has no tag for {tag}" carve --family "oci:$IMAGES/owned" oci:nameless 'oci:out:{tag}'
    fails 2 "{tag} is for flatten carve --family alone" carve "oci:$IMAGES/owned" 'oci:out:{tag}'
    fails 2 "no more, unless --family is given" carve "${two[@]}" oci:out
    [ ! -e out ]
}

@test "all platforms of an index, and one of them" {
    ok carve --family -q --verify "oci:$IMAGES/platforms" "oci:$IMAGES/owned2" 'oci:out'
    same "oci:$IMAGES/platforms" oci:out:multi --platform=linux/arm64
    same "oci:$IMAGES/owned2" oci:out:v2
}

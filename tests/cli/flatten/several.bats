#!/usr/bin/env bats
# flatten --all-images: all images of an archive or a layout in one run.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

setup_file() { make_images gojq skopeo; }

# images_in ARCHIVE: prints the RepoTags of each image, as JSON.
images_in() { tar xOf "$1" manifest.json | gojq -c '[.[].RepoTags]'; }

# tags_in LAYOUT: prints its tags.
tags_in() {
    gojq -c '[.manifests[].annotations["org.opencontainers.image.ref.name"]]' "$1/index.json"
}

blobs_in() { tar tf "$1" | grep -c blobs/; }

@test "archive to archive: each image keeps its names, and has a line of output" {
    ok --all-images "$IMAGES/several.tar" out.tar
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[0]} =~ ^one:v1\ sha256:[0-9a-f]{64}\ sha256:[0-9a-f]{64}$ ]]
    [[ ${lines[1]} == "two:v2 sha256:"* ]]
    [[ $stderr == *"one:v1: 4 layers became 1"*"two:v2: 3 layers became 1"* ]]
    [ "$(images_in out.tar)" = '[["one:v1"],["two:v2"]]' ]
    [ "$(skopeo list-tags docker-archive:out.tar | gojq -c .Tags)" = '["one:v1","two:v2"]' ]
    for name in one:v1 two:v2; do
        same "docker-archive:out.tar:$name" "docker-archive:$IMAGES/several.tar:$name"
        ok -q "docker-archive:$IMAGES/several.tar:$name" "docker-archive:alone.tar:$name"
        [ "$(skopeo inspect --raw "docker-archive:out.tar:$name")" = \
            "$(skopeo inspect --raw "docker-archive:alone.tar:$name")" ]
    done
}

@test "layers shared by images are stored once in the archive" {
    ok -q -a "$IMAGES/crowd.tar" out.tar
    [ "$(images_in out.tar)" = '[["app:1"],["app:one"],["app:2"],["base:1"],["top:1"],[]]' ]
    [[ ${lines[4]} == "- sha256:"* ]]
    [ "${#lines[@]}" -eq 5 ]
    # Five images, two with the same tree: 4 layers, 5 configs, 5 manifests.
    [ "$(blobs_in out.tar)" -eq 14 ]
    [ -z "$(tar tf out.tar | sort | uniq -d)" ]
    for n in 1 one 2; do same "docker-archive:out.tar:app:$n" "docker-archive:$IMAGES/crowd.tar:app:$n"; done
    same docker-archive:out.tar:@5 "docker-archive:$IMAGES/crowd.tar:@4"
    ok -q -a --keep-base=1 "docker-archive:$IMAGES/several.tar" kept.tar
    [ -z "$(tar tf kept.tar | sort | uniq -d)" ]
    same docker-archive:kept.tar:one:v1 "docker-archive:$IMAGES/several.tar:one:v1"
}

@test "--verify reads the written images, also a layer shared with another image" {
    ok -q -a --verify "$IMAGES/crowd.tar" out.tar
    ok -q -a "$IMAGES/crowd.tar" plain.tar
    cmp out.tar plain.tar
    ok -q -a --verify --into=2 "$IMAGES/crowd.tar" oci:out
    same oci:out:app:2 "docker-archive:$IMAGES/crowd.tar:app:2"
}

@test "layouts and oci-archives: the tag is the whole name, because two names may have the same tag" {
    ok -q -a "$IMAGES/crowd.tar" oci-archive:out.tar
    ok -q -a "$IMAGES/crowd.tar" oci:out
    [ "$(tags_in out)" = '["app:1","app:one","app:2","base:1","top:1",null]' ]
    same oci:out:top:1 oci-archive:out.tar:top:1
    skopeo copy -q oci:out:base:1 dir:copied
    # The images are converted back, in both forms.
    ok -q -a oci-archive:out.tar back.tar
    ok -q -a oci:out oci:out2
    [ "$(tags_in out2)" = "$(tags_in out)" ]
    [ "$(images_in back.tar)" = '[["app:1"],["app:one"],["app:2"],["base:1"],["top:1"],[]]' ]
    same docker-archive:back.tar:top:1 oci:out2:top:1
}

@test "a single image in a layout gets the name of the command line, or its own tag" {
    ok -q "$IMAGES/old.tar" oci:out:one:v1
    same oci:out:one:v1 "$IMAGES/old.tar"
    skopeo copy -q oci:out:one:v1 dir:copied
    ok -q "$IMAGES/old.tar" oci:own
    [ "$(tags_in own)" = '["v1"]' ]
}

@test "an existing layout keeps its other images" {
    ok -q "$IMAGES/old.tar" oci:out:mine
    ok -q "$IMAGES/new.tar" oci:out:one:v1
    fails 2 "it has another image called one:v1" -q -a "$IMAGES/several.tar" oci:out
    [ "$(tags_in out)" = '["mine","one:v1"]' ]
    ok -q "docker-archive:$IMAGES/several.tar:one:v1" oci:out:one:v1
    ok -q -a "$IMAGES/several.tar" oci:out
    [ "$(tags_in out)" = '["mine","one:v1","two:v2"]' ]
    same oci:out:mine "$IMAGES/old.tar"
    same oci:out:one:v1 "docker-archive:$IMAGES/several.tar:one:v1"
}

@test "an index among the images stays an index, or gives the image of one platform" {
    cp -r "$IMAGES/platforms" mixed
    ok -q "$IMAGES/old.tar" oci:mixed:plain:1
    ok -q -a oci:mixed oci:out
    [[ ${lines[0]} == "multi - sha256:"* ]]
    [[ ${lines[1]} == "plain:1 sha256:"*" sha256:"* ]]
    for p in amd64 arm64 arm/v7; do
        same --platform=linux/$p oci:out:multi "oci:$IMAGES/platforms:multi"
    done
    same oci:out:plain:1 "$IMAGES/old.tar"
    ok -q -a --json --platform=linux/amd64 oci:mixed oci:one
    [ "$(gojq -c '[.images[].name]' <<<"$output")" = '["multi","plain:1"]' ]
    ok -q -a --json oci:mixed oci:again
    [ "$(gojq -c '[.images[0].images[].platform]' <<<"$output")" = \
        '["linux/amd64","linux/arm64","linux/arm/v7"]' ]
    ok -q --platform=linux/arm64 -a "oci:$IMAGES/platforms" oci:arm
    same --platform=linux/arm64 oci:arm:multi "oci:$IMAGES/platforms"
    fails 2 "image @0: " -q -a --platform=linux/s390x oci:mixed oci:none
    [ ! -e none ]
}

@test "an image is selected by its position in a layout, as in an archive" {
    ok -q -a "$IMAGES/several.tar" oci:out
    same oci:out:@1 "docker-archive:$IMAGES/several.tar:@1"
    fails 2 "no image @2" oci:out:@2 oci:x
}

@test "standard input and compressed archives are read" {
    run bash -c 'gzip -1 <"$IMAGES/several.tar" | "$FLATTEN" -q -a - out.tar'
    [ "$status" -eq 0 ]
    same docker-archive:out.tar:two:v2 "docker-archive:$IMAGES/several.tar:two:v2"
}

@test "if one image fails it is named, and no image is written" {
    ok -q "$IMAGES/old.tar" oci:layout:v1
    before=$(find . -type f -exec sha256sum {} + | sort -k2)
    for to in out.tar oci:out oci-archive:out.tar oci:layout; do
        fails 5 "two:v2: layer 2: dir/.wh." -q -a "$IMAGES/bad-second.tar" "$to"
    done
    fails 5 "two images have the name one:v1" -q -a "$IMAGES/named-twice.tar" out.tar
    [ "$(find . -type f -exec sha256sum {} + | sort -k2)" = "$before" ]
    [ "$(ls -A)" = layout ]
}

@test "--dry-run prints each image, and writes nothing" {
    ok -a --dry-run "$IMAGES/several.tar"
    [ "${lines[0]}" = one:v1: ]
    [ "$(grep -c '^merge layer' <<<"$output")" -eq 7 ]
    ok -a --dry-run --json "$IMAGES/several.tar"
    [ "$(gojq -c '[.images[] | [.name, .layers.in]]' <<<"$output")" = '[["one:v1",4],["two:v2",3]]' ]
    [ -z "$(ls -A)" ]
}

@test "more layers are read than files may be open at once" {
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$BATS_TEST_DIRNAME/../../oracle python3 - <<'END'
import images
from tarball import f, tar_bytes
images.write_several("many.tar", {"i:%d" % n: [tar_bytes([f("f%d-%d" % (n, i), "x")]) for i in range(20)]
                                  for n in range(60)})
END
    run bash -c 'ulimit -n 128; "$FLATTEN" -q -a many.tar out.tar'
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 60 ]
    same docker-archive:out.tar:i:59 docker-archive:many.tar:i:59
}

# The first image is malformed, which a run notices when it starts to work.
@test "too many images, or two with one name, are refused before the work" {
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$BATS_TEST_DIRNAME/../../oracle python3 - <<'END'
import images
from tarball import f, tar_bytes
good, bad = [tar_bytes([f("a", "1")])], [tar_bytes([f("dir/.wh.", "")])]
names = lambda first, last: " ".join("i:%d" % n for n in range(first, last))
images.write_several("full.tar", {names(0, 100): good, names(100, 200): good, names(200, 256): good})
images.write_several("more.tar", {names(0, 100): bad, names(100, 200): good, names(200, 257): good})
images.write_several("twice.tar", {"x:1": bad, "y:1": good, "z:1 y:1": good})
END
    ok -q -a full.tar oci:out
    [ "$(gojq '.manifests | length' out/index.json)" -eq 256 ]
    fails 7 "more.tar: 257 images, names and indexes, and --all-images takes at most 256" -a more.tar oci:new
    fails 7 "257 images" -a --dry-run more.tar
    fails 5 "two images have the name y:1" -a twice.tar oci:new
    fails 7 "257 images" -a - oci:new <more.tar
    [ ! -e new ]
}

# edit LAYOUT CODE: changes `items`, the descriptors of the index of several platforms in the layout.
edit() {
    python3 - "$@" <<'END'
import hashlib, json, sys
home, code = sys.argv[1:]
blob = lambda digest: "%s/blobs/sha256/%s" % (home, digest[7:])
index = json.load(open(home + "/index.json"))
inner = json.load(open(blob(index["manifests"][0]["digest"])))
items = inner["manifests"]
exec(code)
inner["manifests"] = items
data = json.dumps(inner).encode()
digest = "sha256:" + hashlib.sha256(data).hexdigest()
open(blob(digest), "wb").write(data)
index["manifests"][0].update(digest=digest, size=len(data))
json.dump(index, open(home + "/index.json", "w"))
END
}

fails_to_be_same() {
    flatten verify "$@"
    show
    [ "$status" -eq 1 ]
}

@test "verify compares all platforms of two indexes" {
    cp -r "$IMAGES/platforms" other
    ok verify "oci:$IMAGES/platforms" oci:other
    for p in amd64 arm64 arm/v7; do [[ $stderr == *"linux/$p: the same tree: "* ]]; done
    # One platform has another tree, and one is missing.
    edit other 'items[1].update(digest=items[2]["digest"], size=items[2]["size"]); items = items[:2]'
    flatten verify "oci:$IMAGES/platforms" oci:other
    show
    [ "$status" -eq 1 ]
    [[ $stderr == *"linux/arm/v7: B has no such image"*"linux/amd64: the same tree: "*"linux/arm64: "*" differ"* ]]
    [[ $output == "linux/arm64:"$'\n'/* ]]
    flatten verify --json "oci:$IMAGES/platforms" oci:other
    [ "$status" -eq 1 ] && [ -z "$stderr" ]
    gojq -e '.same == false and (.platforms | map([.platform, .missing, .same]) ==
             [["linux/arm/v7", "B", false], ["linux/amd64", null, true], ["linux/arm64", null, false]])' <<<"$output"
    ok verify --platform=linux/amd64 "oci:$IMAGES/platforms" oci:other
    flatten verify "oci:$IMAGES/stacked" "oci:$IMAGES/platforms"
    [[ $stderr == *"B has 3 platforms: this machine's is compared (--platform chooses another)"* ]]
}

@test "verify pairs platforms that an index has several times in their order, and needs all layers" {
    for i in one two; do cp -r "$IMAGES/platforms" "$i"; done
    # Three images for one platform: the last of `two` is another.
    edit one 'items = [dict(i, platform=items[0]["platform"]) for i in items]'
    edit two 'items = [dict(i, platform=items[0]["platform"]) for i in items[:2] + items[:1]]'
    ok verify oci:one oci:one
    fails_to_be_same oci:one oci:two
    edit two 'items = items[:2]'
    fails_to_be_same oci:one oci:two
    [[ $stderr == *"linux/amd64: B has no such image"* ]]
    # A platform is text of somebody else.
    edit one 'items = [dict(i, platform={"os": "linux\x1b[2J", "architecture": "a"}) for i in items[:2]]'
    edit two 'items = [dict(i, platform={"os": "linux\x1b[2J", "architecture": "a"}) for i in items[1::-1]]'
    fails_to_be_same oci:one oci:two
    [[ $output$stderr == *"[2J/a"* && $output$stderr != *$'\e'* ]]
    # JSON is printed whole or not at all; the message names the platform.
    cp -r "$IMAGES/platforms" sparse
    edit sparse 'import os; m = json.load(open(blob(items[1]["digest"]))); os.unlink(blob(m["layers"][0]["digest"]))'
    flatten verify --json oci:sparse oci:sparse
    show
    [ "$status" -eq 3 ] && [ -z "$output" ] && [[ $stderr == *"verify: linux/arm64: A: "* ]]
    ok verify --platform=linux/amd64 oci:sparse oci:sparse
}

@test "options that contradict --all-images are refused" {
    fails 2 "an archive or a layout" -a docker-daemon:some:image out.tar
    fails 2 "an archive or a layout" -a docker://localhost:1/some/image out.tar
    fails 2 "without the name" -a "docker-archive:$IMAGES/several.tar:one:v1" out.tar
    fails 2 "keep their names" -a "$IMAGES/several.tar" docker-archive:out.tar:x:1
    fails 2 "keep their names" -a "$IMAGES/several.tar" docker-daemon:x:1
    fails 2 "keep their names" -a "$IMAGES/several.tar" docker://localhost:1/x:1
    fails 2 "a destination is missing" -a "$IMAGES/several.tar"
    fails 2 "multi, not NAME:TAG" -q -a "oci:$IMAGES/platforms" out.tar
    fails 2 "as in docker-daemon:NAME:TAG" "$IMAGES/old.tar" docker-daemon:
    fails 2 "as in docker-daemon:NAME:TAG" docker-daemon: out.tar
    fails 2 "squash takes all of them with --all-images" "$IMAGES/several.tar" out.tar
    [ -z "$(ls -A)" ]
}

@test "a name with a line break is refused" {
    fails 5 "not one line of text" -q "oci:$IMAGES/bad-name" out.tar
    fails 5 "not one line of text" -q "oci:$IMAGES/bad-name" oci:out
    ok -q "oci:$IMAGES/bad-name" oci:out:mine
    fails 5 "is not one for an OCI layout" -q -a "oci:$IMAGES/bad-name" oci:all
}

#!/usr/bin/env bats
# flatten carve: what is in the layers, that the tree is the same, and what stays the same in the next version.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

count_of() { gojq '.layers | length' "$(manifest_of "$1")"; }
digests() { gojq -r '.layers[].digest' "$(manifest_of "$1")"; }

# entries LAYOUT N: lists the tar of layer N, with modes, owners and times.
entries() {
    local blob
    blob=$1/blobs/sha256/$(gojq -r ".layers[$2].digest[7:]" "$(manifest_of "$1")")
    { zstd -dcq "$blob" 2>/dev/null || gzip -dc "$blob" 2>/dev/null || cat "$blob"; } | tar -tv --full-time --utc
}

# layers_of LAYOUT PATH: prints the numbers of the layers that have the path.
layers_of() {
    local i
    for ((i = 0; i < $(count_of "$1"); i++)); do
        entries "$1" "$i" | grep -q " $2\( link to .*\)\?$" && echo "$i"
    done
    return 0
}

@test "the tree is the same, without whiteouts, and the same image gives the same bytes" {
    for image in layout zstd stacked indexed waste python owned; do
        ok carve -q --verify "oci:$IMAGES/$image" "oci:$image:carved"
        same "oci:$IMAGES/$image" "oci:$image:carved"
        ok carve -q "oci:$IMAGES/$image" "oci:$image-again:carved"
        diff <(digests "$image") <(digests "$image-again")
        for ((i = 0; i < $(count_of "$image"); i++)); do
            ! entries "$image" "$i" | grep '\.wh\.'
        done
    done
}

@test "the result depends neither on the number of threads nor on that of processors" {
    local processor
    processor=$(sed -nE 's/^Cpus_allowed_list:\s*([0-9]+).*/\1/p' /proc/self/status)
    for image in "oci:$IMAGES/owned" "oci:$IMAGES/indexed" "$IMAGES/big.tar"; do
        ok carve -q --layer-size=1m "$image" oci:out
        ok carve -q --layer-size=1m --threads=1 "$image" oci:one
        ok carve -q --layer-size=1m --threads=20 "$image" oci:many
        taskset -c "$processor" "$FLATTEN" carve -q --layer-size=1m "$image" oci:alone
        diff -r out one
        diff -r out many
        diff -r out alone
        rm -r out one many alone
    done
}

# frames BLOB: prints how many frames of zstd it has.
frames() { zstd -lv "$1" 2>/dev/null | sed -n 's/^# Zstandard Frames: //p'; }

@test "files of 1 MiB and more are frames of zstd of their own, and each layer is what its diff_id says" {
    local i blob
    for level in 3 6; do
        ok carve -q "--compression=zstd:$level" --layer-size=12m --verify "$IMAGES/big.tar" "oci:out$level"
        same "$IMAGES/big.tar" "oci:out$level"
        for ((i = 0; i < $(count_of "out$level"); i++)); do
            blob=out$level/blobs/sha256/$(digests "out$level" | sed -n "$((i + 1))s/^sha256://p")
            zstd -dcq "$blob" | sha256sum | cut -d' ' -f1 >>"diff_ids$level"
            frames "$blob" >>"frames$level"
        done
        diff "diff_ids$level" <(gojq -r '.rootfs.diff_ids[][7:]' "$(config_of "out$level")")
    done
    # A file of 5 MB is two pieces, between the rest of its layer. Strong levels gain more by one frame.
    [ "$(sort -u frames3 | tr "\n" " ")" = "1 4 " ]
    [ "$(sort -u frames6)" = 1 ]
}

@test "archives of Docker are carved as well, and standard input" {
    ok carve -q --verify "$IMAGES/old.tar" docker-archive:out.tar:carved:1
    same "$IMAGES/old.tar" docker-archive:out.tar
    run --separate-stderr "$FLATTEN" carve -q - oci:piped <"$IMAGES/new.tar"
    [ "$status" -eq 0 ]
    same "$IMAGES/old.tar" oci:piped
}

@test "files of a package are in one layer, which its history names" {
    ok carve -q --layer-size=20k "oci:$IMAGES/owned" oci:out
    [ "$(layers_of out usr/bin/tool)" = "$(layers_of out usr/bin/tool-link)" ]
    [ "$(layers_of out usr/lib/python3/dist-packages/torch/__init__.py)" != "$(layers_of out opt/app/main.py)" ]
    [ "$(layers_of out var/lib/dpkg/status)" -eq $(($(count_of out) - 1)) ]
    gojq -e '[.history[] | select(.empty_layer | not)] | length == (input.layers | length)' \
        "$(config_of out)" "$(manifest_of out)"
    gojq -r '.history[] | select(.empty_layer | not) | .created_by' "$(config_of out)" >created_by
    [ "$(grep -c '^carve: ' created_by)" -eq "$(count_of out)" ]
    grep '^carve: torch 2.7.0' created_by
    [ "$(tail -1 created_by)" = "carve: state of package managers, headers of shared directories" ]
}

@test "a directory that several layers have is described in the newest; the others have time 0" {
    ok carve -q --layer-size=20k "oci:$IMAGES/owned" oci:out
    readarray -t layers < <(layers_of out usr/)
    [ "${#layers[@]}" -gt 2 ]
    [ "${layers[-1]}" -eq $(($(count_of out) - 1)) ]
    entries out "${layers[0]}" | grep -E ' 1970-01-01 00:00:00 +usr/$'
    entries out "${layers[-1]}" | grep -E ' 2001-09-09 01:46:40 +usr/$'
}

@test "the next version shares the layers of what did not change" {
    for image in owned owned2 owned3; do
        ok carve -q --layer-size=20k "oci:$IMAGES/$image" "oci:$image"
    done
    comm -13 <(digests owned | sort) <(digests owned2 | sort) >new
    [ "$(wc -l <new)" -eq 1 ] # the application
    comm -13 <(digests owned | sort) <(digests owned3 | sort) >new
    [ "$(wc -l <new)" -le 2 ] # the tool; status of dpkg and the time of usr/
}

@test "--layers limits the number; one layer is enough" {
    ok carve -q --verify --layers=1 "oci:$IMAGES/owned" oci:one
    [ "$(count_of one)" -eq 1 ]
    ok carve -q --verify --layers=3 --layer-size=1k "oci:$IMAGES/owned" oci:three
    [ "$(count_of three)" -le 3 ]
    fails 2 "--layers=128: expected 1 to 127" carve --layers=128 "oci:$IMAGES/owned" oci:no
    fails 2 "--layers=0: expected 1 to 127" carve --layers=0 "oci:$IMAGES/owned" oci:no
    fails 2 "--layer-size=much: expected a whole number with k, m, g or t" carve --layer-size=much "oci:$IMAGES/owned" oci:no
    fails 2 "--layer-size=0: expected a whole number with k, m, g or t" carve --layer-size=0 "oci:$IMAGES/owned" oci:no
    fails 2 "did you mean 256m?" carve --layer-size=256 "oci:$IMAGES/owned" oci:no
    [ ! -e no ]
}

# kept OLD NEW: prints how many layers of the layout OLD the layout NEW has.
kept() { comm -12 <(digests "$1" | sort) <(digests "$2" | sort) | wc -l; }

@test "--like keeps the layers of the previous version, and puts what changed above them" {
    ok carve -q --layer-size=20k "oci:$IMAGES/owned" oci:one
    ok carve -q --verify --layer-size=20k --like=oci:one "oci:$IMAGES/owned2" oci:two
    same "oci:$IMAGES/owned2" oci:two
    [ "$(kept one two)" -ge $(($(count_of one) - 2)) ] # all but those of the application and of state
    ok carve -q --layer-size=20k --like=oci:one "oci:$IMAGES/owned2" oci:again
    diff <(digests two) <(digests again)
    ok carve -q --verify --layer-size=20k --like=oci:two "oci:$IMAGES/owned2" oci:same
    [ "$(kept two same)" -ge $(($(count_of two) - 1)) ]
}

@test "--like whites out what was removed; --max-dead=0 makes layers anew instead" {
    ok carve -q --layer-size=20k "oci:$IMAGES/owned" oci:one
    ok carve -q --verify --layer-size=20k --max-dead=100 --like=oci:one "oci:$IMAGES/stacked" oci:other
    same "oci:$IMAGES/stacked" oci:other
    ok carve -q --layer-size=20k "oci:$IMAGES/stacked" oci:stacked
    ok carve -q --verify --max-dead=100 --like=oci:stacked "oci:$IMAGES/base" oci:less
    same "oci:$IMAGES/base" oci:less
    ok carve -q --verify --max-dead=0 --like=oci:one "oci:$IMAGES/owned3" oci:clean
    for ((i = 0; i < $(count_of clean); i++)); do ! entries clean "$i" | grep '\.wh\.'; done
    [ "$(layers_of clean usr/bin/tool | wc -l)" -eq 1 ]
}

@test "--like makes a file anew whose hard link has another name" {
    ok carve -q --layer-size=20k "oci:$IMAGES/owned" oci:one
    ok carve -q --verify --max-dead=100 --layer-size=20k --like=oci:one "oci:$IMAGES/owned-link" oci:two
    same "oci:$IMAGES/owned-link" oci:two
    [ "$(layers_of two usr/bin/tool-other)" = "$(layers_of two usr/bin/tool | tail -1)" ]
    [ "$(kept one two)" -ge 1 ]
}

@test "--like takes images that were never carved, and says what it cannot use" {
    ok carve -q --verify "--like=oci:$IMAGES/owned" "oci:$IMAGES/owned2" oci:out
    same "oci:$IMAGES/owned2" oci:out
    [ "$(kept "$IMAGES/owned" out)" -ge 1 ]
    fails 2 "cannot be used together" carve --like=oci:x --keep-base=1 "oci:$IMAGES/owned" oci:no
    fails 2 "--max-dead=101" carve --max-dead=101 "oci:$IMAGES/owned" oci:no
    fails 5 "--like" carve "--like=oci:$IMAGES/bad-whiteout" "oci:$IMAGES/owned" oci:no
    fails 2 "no image named" carve "--like=oci:$IMAGES/owned:none" "oci:$IMAGES/owned" oci:no
    [ ! -e no ]
}

@test "--like with an image that was never carved, or that is another, says so and is exact" {
    ok carve "--like=oci:$IMAGES/owned" "oci:$IMAGES/owned2" oci:never
    [[ $stderr == *"--like: it was never carved"* ]]
    [[ $stderr != *"no layer of it is kept"* ]]
    same "oci:$IMAGES/owned2" oci:never
    ok carve --layer-size=20k "oci:$IMAGES/owned" oci:one
    ok carve --layer-size=20k --like=oci:one "oci:$IMAGES/python" oci:other
    [[ $stderr == *"--like: no layer of it is kept"* ]]
    [[ $stderr != *"never carved"* ]]
    same "oci:$IMAGES/python" oci:other
    ok carve --layer-size=20k --like=oci:one "oci:$IMAGES/owned2" oci:two
    [[ $stderr != *"--like:"* ]]
    ok carve -q "--like=oci:$IMAGES/python" "oci:$IMAGES/owned" oci:quiet
    [ -z "$stderr" ]
}

# platform LAYOUT ARCHITECTURE: copies the layout to ./ARCHITECTURE, as an image for that.
platform() {
    local config manifest index=$2/index.json
    cp -r "$1" "$2"
    config=$(config_of "$2") manifest=$(manifest_of "$2")
    gojq -c --arg a "$2" '.architecture = $a' "$config" >c
    gojq -c --arg d "sha256:$(sha256sum <c | cut -d' ' -f1)" --argjson s "$(stat -c %s c)" \
        '.config.digest = $d | .config.size = $s' "$manifest" >m
    gojq -c --arg d "sha256:$(sha256sum <m | cut -d' ' -f1)" --argjson s "$(stat -c %s m)" \
        '.manifests[-1].digest = $d | .manifests[-1].size = $s' "$index" >i
    mv c "$2/blobs/sha256/$(sha256sum <c | cut -d' ' -f1)"
    mv m "$2/blobs/sha256/$(sha256sum <m | cut -d' ' -f1)"
    mv i "$index"
}

@test "--like with an image for another platform says so, and keeps what is the same" {
    ok carve -q --layer-size=20k "oci:$IMAGES/owned" oci:one
    platform one riscv64
    ok carve --layer-size=20k --like=oci:riscv64 "oci:$IMAGES/owned2" oci:two
    [[ $stderr == *"--like=oci:riscv64: "*"the image is not for linux/amd64: it is used as far as"* ]]
    same "oci:$IMAGES/owned2" oci:two
    [ "$(kept one two)" -ge 1 ]
    # An index that lacks a platform, and one that has it: not this machine's is chosen, but the source's.
    platform "$IMAGES/owned" s390x
    ok carve "--like=oci:$IMAGES/platforms" oci:s390x oci:three
    [[ $stderr == *"--like=oci:"*"linux/s390x"*"it is used as far as"* ]]
    same oci:s390x oci:three
    cp -r "$IMAGES/layout" plain
    platform plain arm64
    ok carve "--like=oci:$IMAGES/platforms" oci:arm64 oci:four
    [[ $stderr != *"as far as"* ]]
    same oci:arm64 oci:four
    ok carve "--like=oci:one" "oci:$IMAGES/platforms" oci:five
    [[ $stderr == *"the image is not for linux/arm64"* ]]
    same "oci:$IMAGES/platforms" oci:five --platform=linux/arm64
}

# only_times A B: the images differ, in nothing but times.
only_times() {
    flatten verify --json --most=1000 "$1" "$2"
    [ "$status" -eq 1 ] || { show; return 1; }
    gojq -e '[.differences[] | (.a, .b) |= (tostring | gsub(" mtime [-0-9.]+"; "")) | select(.a != .b)] == []' <<<"$output"
}

@test "--stable-times: an image that was built again has the layers of the previous version" {
    ok carve -q --layer-size=20k "oci:$IMAGES/owned" oci:one
    ok carve -q --layer-size=20k --like=oci:one "oci:$IMAGES/owned-later" oci:without
    [ "$(kept one without)" -eq 0 ]
    ok carve --verify --layer-size=20k --stable-times --like=oci:one "oci:$IMAGES/owned-later" oci:two
    [[ $stderr == *" files and "*" directories got their time of the previous version"* ]]
    [[ $stderr == *"verified: the same tree, but for these times"* ]]
    diff <(digests one) <(digests two)
    same oci:one oci:two
    only_times "oci:$IMAGES/owned-later" oci:two
}

@test "--stable-times takes what is the same but for its time, and counts it" {
    "$FLATTEN" carve -q --verify --json --stable-times "--like=oci:$IMAGES/timed" "oci:$IMAGES/timed-again" oci:out >json
    # A .py stays with the .pyc that names its new time; a .pyc of a hash does not care; the tool is another one.
    gojq -e '.stable_times == {"files": 3, "directories": 3}' json
    entries out 0 >list
    for ((i = 1; i < $(count_of out); i++)); do entries out "$i" >>list; done
    grep -E ' 1970-01-01 00:16:40 +lib/hashed.py' list
    grep -E ' 1970-01-01 00:16:40 +lib/__pycache__/hashed.cpython-311.pyc' list
    grep -E ' 1970-01-01 00:16:40 +note' list
    grep -E ' 1970-01-01 00:33:20 +lib/tied.py' list
    grep -E ' 1970-01-01 00:33:20 +lib/__pycache__/tied.cpython-311.pyc' list
    grep -E ' 1970-01-01 00:33:20 +bin/tool' list
    ok carve -n --stable-times "--like=oci:$IMAGES/timed" "oci:$IMAGES/timed-again"
    [[ $output == *"times: 3 files and 3 directories got their time of the previous version"* ]]
    "$FLATTEN" carve -q --verify --json --stable-times "--like=oci:$IMAGES/timed" "oci:$IMAGES/timed-both" oci:both >json
    gojq -e '.stable_times == {"files": 6, "directories": 3}' json
    same "oci:$IMAGES/timed" oci:both
    "$FLATTEN" carve -q --json "--like=oci:$IMAGES/timed" "oci:$IMAGES/timed-both" oci:without >json
    gojq -e 'has("stable_times") | not' json
}

@test "--stable-times needs a previous version" {
    fails 2 "--stable-times takes the times of a previous version: name it by --like=IMAGE" \
        carve --stable-times "oci:$IMAGES/timed" oci:no
    [ ! -e no ]
}

@test "--keep-base keeps layers, above which files are carved and whiteouts come first" {
    ok carve -q --verify --keep-base=2 --layer-size=1k "oci:$IMAGES/stacked" oci:out
    same "oci:$IMAGES/stacked" oci:out
    diff <(digests "$IMAGES/stacked" | head -2) <(digests out | head -2)
    entries out 2 | grep '\.wh\.'
}

@test "--keep-base adds no layer if the others change nothing, and leaves room for the kept ones" {
    local all
    all=$(count_of "$IMAGES/stacked")
    ok carve "--keep-base=$all" "oci:$IMAGES/stacked" oci:whole
    [[ $stderr == *"$all layers are kept: nothing else is left to carve"* ]]
    diff <(digests "$IMAGES/stacked") <(digests whole)
    # Docker takes 127 layers.
    ok carve -q --verify --keep-base=126 --layers=127 "oci:$IMAGES/129" oci:one
    [ "$(count_of one)" -eq 127 ]
    fails 7 "127 layers are kept, and Docker takes at most 127: keep fewer" carve --keep-base=127 "oci:$IMAGES/129" oci:no
    [ ! -e no ]
}

@test "every platform of an index is carved" {
    ok carve -q --verify "oci:$IMAGES/platforms" oci:out
    [ "$(gojq '.manifests | length' "out/blobs/sha256/$(gojq -r '.manifests[0].digest[7:]' out/index.json)")" -eq 3 ]
}

@test "hostile images are refused as by squash, and nothing is left" {
    for bad in whiteout dotdot device escape dangling digest header size; do
        flatten carve "oci:$IMAGES/bad-$bad" oci:out
        show
        [ "$status" -ge 5 ]
        [ -z "$(ls -A)" ]
    done
}

@test "a previous version that implies too many directories is refused" {
    fails 7 "directories that no entry describes" carve "--like=oci:$IMAGES/implied" "oci:$IMAGES/owned" oci:out
    [ -z "$(ls -A)" ]
}

@test "without room for the files of the image, the message says what to do, and nothing is left" {
    export TMPDIR=/var/tmp
    run --separate-stderr bash -c 'trap "" XFSZ; ulimit -f 20000; exec "$FLATTEN" carve -q "$IMAGES/big.tar" oci:out'
    show
    refused 3 "the temporary file for the image's files, in $TMPDIR (set TMPDIR)"
    [[ $stderr != *out* ]]
    [ -z "$(ls -A)" ]
}

#!/usr/bin/env bats
# flatten analyze: options, tables, JSON. The figures are compared with a model in
# tests/oracle/analyze.py.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

analyze() { flatten analyze "$@"; }

ok() {
    analyze "$@"
    show
    [ "$status" -eq 0 ] && [ -z "$stderr" ]
}

fails() {
    local expected=$1 text=$2
    shift 2
    analyze "$@"
    show
    refused "$expected" "$text"
}

@test "an invalid command line is refused" {
    fails 2 "SOURCE"
    fails 2 "--jsonn" --jsonn "$IMAGES/layout"
    fails 2 "no such file" ./nope
    ok --help
    [[ $output == *"--platform"* ]]
}

@test "every cause has its bytes, and their sum is the number of bytes that squash removes" {
    ok --json "oci:$IMAGES/waste:v1"
    [ "$(gojq -c '.images[0].dead' <<<"$output")" = \
        '{"deleted":80,"metadata":1000,"opaque":1204,"overwritten":200,"type":0}' ]
    gojq -e '.version == 1 and .images[0].payload.dead == 2484' <<<"$output"
    dead=$("$FLATTEN" --json -q "oci:$IMAGES/waste:v1" oci:flat | gojq '.payload.in - .payload.out')
    [ "$dead" -eq 2484 ]
}

@test "the layer that hides bytes is named with its build step" {
    ok --json "oci:$IMAGES/waste:v1"
    gojq -e '.images[0].kills[] | select(.cause == "metadata") | .layer == 1 and .by == 2' <<<"$output"
    gojq -e '[.images[0].layers[].created_by] == ["layer 0", "layer 1", "layer 2", "layer 3"]' <<<"$output"
    ok "oci:$IMAGES/waste:v1"
    [[ $output == *"1.0 kB of layer 1 in layer 2: metadata only, 1 file"*"layer 1"* ]]
}

@test "control characters in names are escaped" {
    ok "oci:$IMAGES/waste:v1"
    [[ $output == *'/</script><b>\x1b[2J'* && $output != *$'\x1b'* ]]
    ok --json "oci:$IMAGES/waste:v1"
    [[ $output != *$'\x1b'* ]]
    gojq -e '[.images[0].worst[].path] | index("</script><b>\u001b[2J")' <<<"$output"
}

@test "sources of every kind and several images give the same figures" {
    ok --json "$IMAGES/old.tar" "$IMAGES/new.tar" "oci:$IMAGES/layout:v1" "oci:$IMAGES/zstd"
    gojq -e '.images | length == 4 and ([.[] | {payload, dead, kills, worst, dive}] | unique | length == 1)' \
        <<<"$output"
    run --separate-stderr bash -c 'gzip -1 <"$IMAGES/old.tar" | "$FLATTEN" analyze --json -'
    [ "$status" -eq 0 ]
    gojq -e '.images[0].payload.in > 0' <<<"$output"
}

@test "analyze writes no files" {
    ok "oci:$IMAGES/waste:v1"
    [ -z "$(ls -A)" ]
}

# owner KIND NAME: what --json tells of an owner of the image, without its name.
owner() {
    gojq -c --arg kind "$1" --arg name "$2" '.images[0].owners[] | select(.kind == $kind and .name == $name)
        | [.version, .files, .live, .dead_files, .dead, .layers]' <<<"$output"
}

@test "owners have their bytes, live and dead, also those that were removed" {
    ok --json "oci:$IMAGES/removed:v1"
    # Only with the list of libone is the first tool a file of that.
    [ "$(owner dpkg tool)" = '[null,1,1000,1,300,[1,2]]' ]
    [ "$(owner dpkg libone)" = '[null,0,0,2,1500,[1]]' ]
    [ "$(owner pip torch)" = '["2.7",1,45,2,90,[1,2]]' ]
    [ "$(owner directory opt/app)" = '[null,1,60,1,70,[1]]' ]
    [ "$(owner directory "")" = '[null,1,9,0,0,[1]]' ]
    gojq -e '.images[0] | ([.owners[].live] | add) == .payload.live and ([.owners[].dead] | add) == .payload.dead
        and .owners_unread == {"rpm": false, "cut": 0}' <<<"$output"
    ok "oci:$IMAGES/removed:v1"
    [[ $output == *"1.0 kB     300 B        1  dpkg       tool  (1-2)"* ]]
    [[ $output == *"60 B      70 B        1  directory  /opt/app  (1)"* ]]
}

@test "owners are those of carve, from layers of every kind" {
    ok --json "oci:$IMAGES/owned:v1"
    [ "$(owner dpkg libone)" = '["1.0",2,27001,0,0,[1]]' ]
    [ "$(owner pip torch)" = '["2.7.0",2,30027,0,0,[2]]' ]
    [ "$(owner state state)" = '[null,3,211,0,0,[1]]' ]
    gzip=$(gojq -c '.images[0].owners' <<<"$output")
    "$FLATTEN" -q --compression=none --keep-base=1 "oci:$IMAGES/owned:v1" docker-archive:plain.tar
    ok --json plain.tar
    [ "$(gojq -c '.images[0].owners' <<<"$output")" = "$gzip" ]
}

@test "the name of a package is shown harmlessly" {
    ok -q --html=page.html "oci:$IMAGES/removed:v1"
    [[ $output == *'dpkg       <img src=x><b>\x1b[2J  (1)'* && $output != *$'\x1b'* ]]
    run ! grep -q '<img' page.html
    ok --json "oci:$IMAGES/removed:v1"
    [[ $output != *$'\x1b'* ]]
}

@test "databases that lie make another list, and no error" {
    ok --json "oci:$IMAGES/lying"
    gojq -e '.images[0] | ([.owners[].live] | add) == .payload.live and ([.owners[].dead] | add) == .payload.dead
        and .owners_unread.rpm' <<<"$output"
    [ "$(owner pip p)" = '["1",1,900,1,1000,[1,2]]' ]
    [ -z "$(owner dpkg one)" ]
    [ "$(owner dpkg "$(printf 'n%.0s' {1..250})")" = '[null,1,200,0,0,[1]]' ]
    ok -q --html=page.html "oci:$IMAGES/lying"
    [[ $output == *"rpm database is in a form that is not read"* ]]
}

@test "carve is advised where it pays, with the figures of carve --dry-run" {
    ok --json "$IMAGES/one-layer.tar"
    gojq -e '.images[0] | .carve.estimated and .carve.carved.seconds."3" < 0.8 * .carve.source.seconds."3"
        and .carve.source.largest == 60000069' <<<"$output"
    gojq -e '.images[0].advice[] | select(.kind == "carve") | .bytes == 60000069
        and (.text | contains("one-layer.tar DESTINATION"))' <<<"$output"
    figures=$(gojq -c '.images[0].carve | [.source.bytes, .source.seconds, .carved.bytes, .carved.seconds, .probes,
        .layers, .carved.largest]' <<<"$output")
    run --separate-stderr "$FLATTEN" carve --dry-run --json "$IMAGES/one-layer.tar"
    show
    [ "$(gojq -c '[.pull.source.bytes, .pull.source.seconds, .pull.carved.bytes, .pull.carved.seconds, .lookups.probes,
        (.carved | length), ([.carved[].bytes] | max)]' <<<"$output")" = "$figures" ]
    # One file per directory of 100 MB would be in one layer as well; and small images are pulled in a moment.
    ok --json "$IMAGES/big.tar" "oci:$IMAGES/owned:v1"
    gojq -e 'all(.images[]; .carve == null and all(.advice[]; .kind != "carve"))' <<<"$output"
}

@test "rules are met or broken; they can come from a file, and the command line overrides the file" {
    ok --max-wasted=3% --max-depth=4 --max-probes=9 --min-efficiency=0 "oci:$IMAGES/waste:v1"
    [[ $output == *"Rules"*"kept"* ]]
    analyze --max-wasted=2% "oci:$IMAGES/waste:v1"
    [ "$status" -eq 4 ]
    [[ $output == *"BROKEN"* && $stderr == "flatten: error: oci:"*" 2.69 % dead of at most 2 %" ]]
    for rule in --max-wasted=2kB --min-efficiency=99% --min-efficiency=.99 --max-depth=3 --max-probes=0.9; do
        analyze -q --json "${rule/=./=0.}" "$IMAGES/old.tar" "oci:$IMAGES/waste:v1"
        [ "$status" -eq 4 ]
        gojq -e '.images[1].rules | length == 1 and .[0].kept == false' <<<"$output"
    done
    echo '{ "max_depth": 3, /* few */ "max_wasted": "90%" }' >rules.json
    analyze --config=rules.json "oci:$IMAGES/waste:v1"
    [ "$status" -eq 4 ]
    ok --config=rules.json --max-depth=4 "oci:$IMAGES/waste:v1"
}

@test "invalid rules are refused" {
    for rule in --max-wasted=-1 --max-wasted=x --max-wasted=101% --max-wasted=1XB --max-depth=1e9 \
        --max-depth= --min-efficiency=1.5 --max-probes=1.2.3 --max-probes=2x; do
        fails 2 "" "$rule" "oci:$IMAGES/waste:v1"
    done
    fails 3 "nope" --config=nope "oci:$IMAGES/waste:v1"
    for text in '[]' '{"max-depth": 3}' '{"max_depth": []}' '{"max_depth": 3, "max_depth": 3}' '{"max_depth": "x"}'; do
        echo "$text" >rules.json
        fails 5 "rules.json: " --config=rules.json "oci:$IMAGES/waste:v1"
    done
}

@test "--html writes one file, and names in the image are escaped" {
    ok -q --html=page.html "oci:$IMAGES/waste:v1"
    [[ $output == *"Dead bytes"* ]]
    [ "$(ls -A)" = page.html ]
    [ "$(grep -c '</script>' page.html)" -eq 2 ]
    run ! grep -qE '(src|href)="?(https?:)?//' page.html
    sed -n 's/.*id="data">\(.*\)<\/script>/\1/p' page.html >data.json
    "$FLATTEN" analyze --json "oci:$IMAGES/waste:v1" >plain.json
    gojq -e --slurpfile plain plain.json '.images[0] | (.tree | [.live, .dead]) == (.payload | [.live, .dead])
        and del(.tree, .hidden) == $plain[0].images[0]' data.json
    # The table says what a layer hides, in bytes and files.
    gojq -e '.images[0] | (.layers | map(.killed | add)) as $killed
        | all(.hidden[]; .bytes == $killed[.by - 1] and .tree.bytes == .bytes and .tree.files == .files)
        and ([.hidden[].bytes] | add) == .payload.dead
        and ([.hidden[].files] | add) == ([.kills[].files] | add)' data.json
    rm data.json plain.json
    fails 3 "nowhere" --html=nowhere/page.html "oci:$IMAGES/waste:v1"
    fails 5 "whiteout" --html=other.html "oci:$IMAGES/bad-whiteout"
    [ "$(ls -A)" = page.html ]
}

@test "--contents finds .pyc files that do not match their source" {
    ok --json --contents "oci:$IMAGES/python"
    [ "$(gojq -c '.images[0].pyc | [.files, .stale, .orphans]' <<<"$output")" = '[5,2,1]' ]
    [ "$(gojq -c '.images[0].pyc.worst | sort' <<<"$output")" = \
        '["lib/__pycache__/m.cpython-311.opt-1.pyc","lib/__pycache__/n.cpython-39.pyc"]' ]
    gojq -e '.images[0].advice[] | select(.kind == "pyc") | .text | startswith("2 .pyc files")' <<<"$output"
    gojq -e '.images[0].duplicates.worst | any(.paths == ["lib/n.py", "lib/o.py", "lib/m.py"])' <<<"$output"
    ok --json "oci:$IMAGES/python"
    gojq -e '(.images[0] | has("pyc") or has("duplicates")) or has("shared") | not' <<<"$output"
    ok --contents "oci:$IMAGES/python" "oci:$IMAGES/python"
    [[ $output == *"2 older or newer"* && $output == *"Together"* ]]
}

@test "--zfs: a sample agrees with the full count, within its error" {
    ok --json --zfs=8K "$IMAGES/mixed.tar"
    sample=$output
    ok --json --zfs=8K --exact "$IMAGES/mixed.tar"
    gojq -e '.images[0].zfs | .records == .sampled and .lz4.error == 0' <<<"$output"
    gojq -e --argjson sample "$sample" '.images[0].zfs as $all | $sample.images[0].zfs |
        .sampled < $all.sampled and .records == $all.records and .zstd.error > 0 and
        (["lz4", "zstd"] | all(. as $k | $sample.images[0].zfs[$k] |
            (.ratio / $all[$k].ratio - 1 | fabs) <= 2 * .error))' <<<"$output"
    gojq -e '[.images[0].zfs.directories[].path] == ["data", "text"]' <<<"$output"
    ok --zfs=1M --exact "$IMAGES/mixed.tar"
    [[ $output == *"in records of 1024 KiB"*"compression=off tank/mixed/data"$'\n'*"# for /data: 24.0 MB"* ]]
    [[ $output == *"zfs create -p -o recordsize=128K -o compression=zstd tank/mixed"$'\n'* ]]
    for size in 0 3K 128 32M 128Q 4KK x ""; do
        fails 2 "" "--zfs=$size" "$IMAGES/mixed.tar"
    done
}

@test "--dedup: data common to several images is stored once, at 320 bytes a record" {
    ok --json --dedup "$IMAGES/mixed.tar"
    alone=$(gojq -c '.images[0].zfs | .record, .dedup' <<<"$output")
    [ "${alone%%$'\n'*}" = 131072 ] # the default record size of ZFS
    gojq -e '.dedup == .images[0].zfs.dedup and .dedup.memory == 320 * .dedup.entries' <<<"$output"
    ok --json --dedup "$IMAGES/mixed.tar" "$IMAGES/mixed.tar"
    [ "$(gojq -c '.images[1].zfs | .record, .dedup' <<<"$output")" = "$alone" ]
    gojq -e '.images[0].zfs.dedup as $one | .dedup | .records == 2 * $one.records and .entries == $one.entries
        and .ratio >= 2 and .error == 0' <<<"$output"
    gojq -e '[.images[].zfs.datasets[]] | all(.dedup and (.command | contains(" -o dedup=on tank/mixed")))' \
        <<<"$output"
    ok --dedup --zfs=4K "$IMAGES/mixed.tar" "oci:$IMAGES/waste:v1"
    [[ $output == *"dedup=off: it would store "*" of memory; below 2.00"*"Deduplicated across all images"* ]]
    # Names in the image are not interpreted by the shell.
    [ -z "$(grep -o 'zfs create .*' <<<"$output" | tr -d 'A-Za-z0-9_.:/= -' | tr -d '\n')" ]
    ok "$IMAGES/mixed.tar"
    [[ $output != *"zfs create"* ]]
}

@test "advice names the build steps" {
    ok --json "oci:$IMAGES/waste:v1"
    gojq -e '[.images[0].advice[].kind] | contains(["touch", "delete", "flatten", "depth"])' <<<"$output"
    gojq -e '.images[0].advice[] | select(.kind == "touch") | .bytes == 1000 and (.text | contains("COPY --chown"))' \
        <<<"$output"
}

@test "an invalid image is an error, and nothing is printed" {
    fails 5 "layer 2: dir/.wh.: a whiteout" "oci:$IMAGES/bad-whiteout"
    fails 8 "overlayfs" "oci:$IMAGES/waste:v1" "oci:$IMAGES/bad-device"
    fails 6 "descriptor says" "oci:$IMAGES/bad-size"
    fails 7 "layers" "oci:$IMAGES/deep"
}

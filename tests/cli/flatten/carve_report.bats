#!/usr/bin/env bats
# flatten carve: what it says of the result and of a rehearsal.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

@test "--dry-run prints the layers and writes nothing" {
    ok carve --dry-run --layer-size=20k "oci:$IMAGES/owned"
    [[ $output == *torch* ]]
    [ -z "$(ls -A)" ]
}

@test "the mean of layers searched is told beside that of the source, as flatten analyze counts both" {
    for image in layout stacked indexed waste python owned divergent many twins; do
        "$FLATTEN" analyze --json "oci:$IMAGES/$image" >analysis
        "$FLATTEN" carve -q --json --layer-size=1k "oci:$IMAGES/$image" "oci:$image" >json
        "$FLATTEN" analyze --json "oci:$image" >after
        gojq -e --argjson a "$(gojq '.images[0].lookups.existing.mean' analysis)" --argjson b "$(gojq '.images[0].lookups.existing.mean' after)" \
            '.lookups | (.source_probes - $a | fabs) < 0.0001 and (.probes - $b | fabs) < 0.0001
             and .above_source == (.probes >= .source_probes + 0.005)' json
    done
    # One layer of packages that many directories share is better than many.
    ok carve -n --layer-size=20k "oci:$IMAGES/owned"
    [[ $output =~ "lookups search "[0-9.]+" layers on average, more than in the source ("[0-9.]+"): --layers="([0-9]+)" makes fewer layers; ".*" in several layers" ]]
    [ "${BASH_REMATCH[1]}" -gt 0 ]
    planned=$(grep -c ^make <<<"$output")
    ok carve -n "--layers=${BASH_REMATCH[1]}" "oci:$IMAGES/owned"
    [ "$(grep -c ^make <<<"$output")" -lt "$planned" ]
    ok carve --layers=1 "oci:$IMAGES/owned" oci:one
    [[ $stderr == *"lookups search 1.00 layers on average (source: 1."* ]]
    # With --like fewer layers are no advice: that would keep none.
    ok carve -q --layer-size=20k "oci:$IMAGES/owned" oci:first
    ok carve -n --layer-size=20k --like=oci:first "oci:$IMAGES/owned2"
    [[ $output == *"more than in the source"* && $output != *"makes fewer layers"* ]]
    # The layers of a kept base are not read.
    "$FLATTEN" carve -n --json --keep-base=1 "oci:$IMAGES/stacked" >json
    gojq -e '.lookups | .source_probes == null and .above_source == null and .probes == null' json
    ok carve -n --keep-base=1 "oci:$IMAGES/stacked"
    [[ $output == *"lookups are not counted with --keep-base"* ]]
}

@test "--dry-run prints sizes, the largest layer, and what pulls cost before and after, by stated rates" {
    ok carve --dry-run --layer-size=20k "oci:$IMAGES/owned"
    [[ $output == *"largest layer: 30.7 kB unpacked: torch 2.7.0"* ]]
    [[ $output == *"pull, in seconds: "*"the source"*"carved"* ]]
    [[ $output == *"40 MB/s a stream; 200 MB/s are unpacked"*"sizes when compressed are estimated"* ]]
    [[ $output != *"previous version"* ]]
    "$FLATTEN" carve -n --json --layer-size=20k "oci:$IMAGES/owned" >json
    gojq -e '.pull.estimated and .pull.stream_rate == 40000000 and (.pull | has("update") | not)' json
    gojq -e '.pull.carved.bytes == ([.carved[].packed] | add)' json
    gojq -e --argjson size "$(gojq '[.layers[].size] | add' "$(manifest_of "$IMAGES/owned")")" '.pull.source.bytes == $size' json
    gojq -e '.pull[] | objects | .seconds | .["1"] >= .["3"] and .["3"] >= .["10"] and .["10"] > 0' json
}

@test "the result tells what pulls cost, with the sizes of its blobs, and for a host that has the previous version" {
    ok carve --layer-size=20k "oci:$IMAGES/owned" oci:one
    [[ $stderr == *"a pull takes about "*"(the source: "*"(carved: "*"with 3 streams of 40 MB/s"* ]]
    [[ $stderr != *estimated* ]]
    "$FLATTEN" carve -q --json --layer-size=20k --like=oci:one "oci:$IMAGES/owned2" oci:two >json
    gojq -e '.pull.estimated == false and .pull.update.bytes < .pull.carved.bytes' json
    gojq -e --argjson size "$(gojq '[.layers[].size] | add' "$(manifest_of two)")" '.pull.carved.bytes == $size' json
    gojq -e '.pull.update.seconds["3"] < .pull.carved.seconds["3"]' json
    ok carve --layer-size=20k --like=oci:one "oci:$IMAGES/owned2" oci:three
    [[ $stderr == *"(carved, above the previous version: "* ]]
    ok carve --layer-size=20k "oci:$IMAGES/owned" docker-archive:out.tar
    [[ $stderr == *"sizes when compressed are estimated"* ]]
}

@test "options that have no effect are refused" {
    fails 2 "--max-dead is about layers of a previous version: name it by --like=IMAGE" carve --max-dead=5 "oci:$IMAGES/owned" oci:no
    fails 2 "a layer has 1k at least: did you mean 512m?" carve --layer-size=512 "oci:$IMAGES/owned" oci:no
    fails 2 "no name of the form NAME:TAG, as a docker-archive needs it: use oci-archive:FILE" \
        carve --family "oci:$IMAGES/owned:v1" "oci:$IMAGES/owned2:v2" docker-archive:no
    [ ! -e no ]
}

@test "content that does not compress is estimated as large as it is" {
    "$FLATTEN" carve -n --json --layer-size=500k "oci:$IMAGES/noise" >json
    gojq -e '.pull.estimated and (.pull.carved.bytes / .pull.source.bytes | . > 0.99 and . < 1.01)' json
}

@test "what a kept base costs counts as well" {
    for way in -n "oci:out"; do
        "$FLATTEN" carve -q --json --keep-base=2 "oci:$IMAGES/noise" "$way" >json
        gojq -e '.pull.carved.bytes / .pull.source.bytes | . > 0.99 and . < 1.01' json
    done
    # The share that layers take is that of those above.
    "$FLATTEN" carve -n --json --keep-base=1 "oci:$IMAGES/uneven" >json
    gojq -e '.pull.carved.bytes / .pull.source.bytes | . > 0.99 and . < 1.01' json
    ok carve -n --keep-base=2 "oci:$IMAGES/noise"
    [[ $output == "keep layer 1 "*" as it is "*"keep layer 2 "*"make layer 3 "* ]]
}

@test "the numbers of entries are those of the tree, written or not, and in a family, too" {
    paths=$("$FLATTEN" analyze --json "oci:$IMAGES/owned" | gojq '.images[0].lookups.paths')
    for way in -n oci:out; do
        "$FLATTEN" carve -q --json --layer-size=20k "oci:$IMAGES/owned" "$way" >json
        gojq -e ".entries.out == $paths" json
    done
    "$FLATTEN" carve -q --json --family "oci:$IMAGES/owned" "oci:$IMAGES/owned2" "oci:family:{tag}" >json
    gojq -e ".images[0].entries.out == $paths" json
}

@test "lookups stay within their limit from version to version, and layers that are made anew for it are told" {
    PYTHONDONTWRITEBYTECODE=1 python3 "$FLATTEN_LIB/growing_image.py" . 9
    ok carve -q oci:0 oci:carved-0
    for i in {1..8}; do
        "$FLATTEN" carve --json "--like=oci:carved-$((i - 1))" "oci:$i" "oci:carved-$i" >json 2>>said
        gojq -e '.lookups.probes <= 1.5' json
    done
    grep "layers are made anew, as lookups would search too many; if it was made with --layers or --layer-size, give" said
    # The same image with these options keeps all.
    ok carve -q --layers=10 oci:8 oci:many
    ok carve --layers=10 --like=oci:many oci:8 oci:again
    [[ $stderr == *"all "*" layers are those of the previous version"* ]]
}

@test "--like says which layers stay, and why none does" {
    ok carve -q --layer-size=20k "oci:$IMAGES/owned" oci:one
    ok carve --layer-size=20k --like=oci:one "oci:$IMAGES/owned" oci:same
    [[ $stderr == *"all "*" layers are those of the previous version"*"above the previous version: 0 B"* ]]
    ok carve -n --layers=1 --like=oci:one "oci:$IMAGES/owned2"
    [[ $stderr == *"no layer of it is kept: with the new ones they are more than --layers"* ]]
    ok carve -q "oci:$IMAGES/timed" oci:timed
    ok carve -n --like=oci:timed "oci:$IMAGES/timed-again"
    show
    ok carve -n --like=oci:one "oci:$IMAGES/noise"
    [[ $stderr == *"no layer of it is kept: none of its files is the same; if only times differ, --stable-times helps"* ]]
}

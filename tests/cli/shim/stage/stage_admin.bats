#!/usr/bin/env bats
# Staged volumes as the administrator sees them: explain, check, status, stage, gc, metrics.
# shellcheck disable=SC2154  # status and stderr are set by bats' run

load ../lib/stage

explain() { run --separate-stderr "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$BUNDLE/config.json" "$@"; }
explained() {
    explain --json
    echo "$status $output $stderr"
    [ "$(gojq -r '.operations[] | select(.kind == "volume") | .stage' <<<"$output")" = "$1" ]
    [[ $(gojq -r '.operations[] | select(.kind == "volume") | .reason' <<<"$output") == *"$2"* ]]
}

@test "explain: would be staged, copying, staged, not staged; and what else deny makes of it" {
    explained miss "would be staged"
    [ "$status" -eq 0 ]
    [ ! -e "$CACHE" ]
    policy '"else": "deny"'
    explained miss "would be staged; the policy wants the copy"
    [ "$status" -eq 1 ]
    policy '"else": "deny", "wait": 60'
    explained miss "would be staged"
    [ "$status" -eq 0 ]
    head -c 100M /dev/zero >"$SOURCE/large"
    policy '"bandwidth": "8m"'
    launch
    wait_until has_progress
    explained copying ", from the source meanwhile"
    [[ $output =~ copying:\ [0-9]+\ % ]]
    stage
    [[ $output =~ copying\ +[0-9]+\ % ]]
    for pid in $(copiers); do kill -KILL "$pid"; done
    wait_until no_copiers
    policy
    staged
    explained hit staged
    touch "$SOURCE"
    explained stale "would be staged anew"
}

has_progress() { explain; [[ $output == *"copying: "[0-9]* ]]; }

@test "stage: list, JSON, launches, pin, drop, and a copy that is asked for again after a failure" {
    staged
    launch
    launch
    stage --json
    echo "$output"
    gojq -e '.caches[0].copies[0] | .state == "staged" and .launches == 2 and .files == 5 and (.mounted | not)' <<<"$output"
    stage
    [[ ${lines[1]} == STATE*SIZE*FOR*LAUNCHES*USED*SOURCE* ]]
    [[ ${lines[2]} == staged*all*2*"$SOURCE" ]]
    stage --json --wait data=imagenet
    gojq -e --arg copy "$(tree)" '.state == "hit" and .copy == $copy' <<<"$output"
    ln -s nowhere "$(entries)/pinned"
    stage --pin data=imagenet
    [ "$status" -ne 0 ]
    [[ $stderr == *"/pinned: "* ]]
    rm "$(entries)/pinned"
    stage --pin data=imagenet
    stage --json "$SOURCE"
    [ -e "$(entries)/pinned" ]
    stage --unpin "$SOURCE"
    [ ! -e "$(entries)/pinned" ]
    stage --drop "$SOURCE"
    [[ $stderr == *dropped* ]]
    run ! has_entry
    stage --drop "$SOURCE"
    [ "$status" -eq 2 ]
    mkdir -p "$CACHE"
    mount -t tmpfs -o size=64k,mode=0700 none "$CACHE"
    head -c 1M /dev/zero >"$SOURCE/large"
    stage --wait data=imagenet
    [ "$status" -eq 1 ]
    mount -o remount,size=16m "$CACHE"
    stage --wait data=imagenet
    [ "$status" -eq 0 ]
}

@test "metrics: hits, misses, bytes, the wait, copies, evictions and room" {
    launch
    wait_until no_copiers
    launch
    launch
    [ "$(metric 'flatbed_stage_launches_total{result="hit"}')" = 2 ]
    [ "$(metric 'flatbed_stage_launches_total{result="copying"}')" = 1 ]
    [ "$(metric flatbed_stage_hit_bytes_total)" = 80 ]
    [ "$(metric 'flatbed_stage_copies_total{result="made"}')" = 1 ]
    [ "$(metric flatbed_stage_copied_bytes_total)" = 40 ]
    [ "$(metric "flatbed_stage_room_bytes{cache=\"$CACHE\"}")" = "$(gojq .room "$(entries)/record.json")" ]
    grep -qx '# TYPE flatbed_stage_room_bytes gauge' "$DIR/flatbed.prom"
    policy '"max": "1k"'
    "$FLATBED" gc --policy "$DIR/policy.json" --dry-run | grep -qx 'would remove 1 staged copy'
    has_entry
    "$FLATBED" gc --policy "$DIR/policy.json" | grep -qx 'removed 1 staged copy'
    run ! has_entry
    [ "$(metric flatbed_stage_evictions_total)" = 1 ]
    [ "$(metric flatbed_stage_room_bytes)" = 0 ]
    policy '"wait": 60'
    launch
    got_copy
    [ "$(metric flatbed_stage_waited_milliseconds_total)" -gt 0 ]
}

@test "a cache in its source is not copied, and a source in the cache is refused" {
    mkdir -p "$SOURCE/cache"
    CACHE=$SOURCE/cache policy '"wait": 60'
    launch
    got_source
    saying "the cache and the source lie in one another"
    mkdir -m 0700 "$DIR/nfs/closed"
    mkdir "$DIR/nfs/closed/imagenet"
    sed -i "s|\"cache\": \"[^\"]*\"|\"cache\": \"$DIR/nfs\"|" "$DIR/policy.json"
    EXPECTED=1 launch
    [[ $stderr == *"lies in the cache of staged copies"* ]]
    config '"flatbed.stage": "off"'
    sed -i 's/"wait": 60/"ask": ["off"]/' "$DIR/policy.json"
    EXPECTED=1 launch
}

@test "check names what is wrong with a cache" {
    findings() { run "$FLATBED" check "$@" "$DIR/policy.json"; echo "$output"; }
    findings
    [[ $output != *cache-* ]]
    mkdir -m 0755 "$CACHE"
    findings
    [[ $output == *"must be a directory that only root can look into"*"[cache-refused]"* ]]
    chmod 0700 "$CACHE"
    mount -t tmpfs -o size=1m,mode=0700 none "$CACHE"
    policy '"max": "2m", "per_owner": "3m"'
    findings
    [[ $output == *"tmpfs"*"[cache-slow]"* ]]
    [[ $output == *"\"max\" is 2.0 MiB"*"1.0 MiB"*"[cache-small]"* ]]
    [[ $output == *"[cache-limits]"* ]]
    CACHE=$DIR/nfs/cache policy
    findings --policy-only
    [[ $output == *"may have in it"*"[cache-in-source]"* ]]
    CACHE=$DIR/nfs/cache policy '' '"names": ["imagenet"]'
    findings --policy-only
    [[ $output != *cache-in-source* ]]
}

@test "a progress bar on a terminal, with rate and time left" {
    head -c 24M /dev/zero >"$SOURCE/large"
    policy '"bandwidth": "8m"'
    run script -qec "'$FLATBED' stage --policy '$DIR/policy.json' --wait data=imagenet" /dev/null
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output =~ \[#+\.*\]\ +[0-9]+\ %,\ [0-9.]+\ MiB\ of\ 24\.0\ MiB,.*\ MiB/s,\ [0-9]+\ s\ left ]]
}

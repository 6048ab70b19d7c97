#!/usr/bin/env bats
# "warm": what a container reads in its first seconds is recorded, and read ahead at the next cold start.
# shellcheck disable=SC2154,SC2016  # status and output are set by bats' run; inner shells expand

load lib/warm

setup_file() {
    : "${FLATBED:?the flatbed to test}" "${FLATBED_RUNTIME:?the runtime to test}"
}

@test "the first start is recorded, the next cold one is read ahead, and spared its reads" {
    cold
    job "$READS"
    launch
    settle
    record image
    [ "$(field image whole)" = 1 ]
    grep -q ' data/small1$' <(record image)
    grep -q ' data/small6$' <(record image)
    ! grep -q unread <(record image) || false
    # The large files have the ranges that were read, with what the kernel read ahead.
    range=$(record image | sed -n 's/^0 \([0-9+,]*\) data\/big$/\1/p')
    [[ $range == 10485760+* && ${range#*+} -lt 8000000 ]]
    [[ $(record volume | tail -n 1) == "0 0+"*" model" ]]

    cold
    job "PATH=/bin; while [ ! -e /go ]; do busybox sleep 0.05; done; $READS"
    launch
    wait_until has_cached "$IMAGE/2/data/small1" 300000
    wait_until has_cached "$IMAGE/2/data/big" 2097152
    wait_until has_cached "$VOLUME/model" 1048576
    touch "$ROOT/go"
    settle
    [ "$(cached "$IMAGE/1/data/unread")" -eq 0 ]
    [ "$(field image judged)" = 1 ]
    [ "$(field image gain)" -ge 90 ]
    [ "$(field volume gain)" -ge 90 ]
}

# again: starts the next container cold; it runs the job.
again() { cold && launch && settle; }

@test "a gain below 5 % in two cold starts in a row turns the image off, and says so; --drop begins anew" {
    FOR=4 policy # for a job on a busy machine to read what there is
    cold
    job "$READS"
    launch
    settle
    record volume
    FOR=1 policy
    job :
    again
    [ "$(field image gain)" = 0 ]
    [ "$(field image low)" = 1 ]
    [ -z "$(field image off)" ]
    again
    [[ $(field image off) == *"less than 5 %"* ]]
    again
    [ "$(cached "$IMAGE/2/data/small1")" -eq 0 ]
    [ "$(field image judged)" = 2 ]
    warm --show
    [[ $output == *" off "* ]]
    warm --show --json
    gojq -e '.records[] | select(.kind == "image") | .off != "" and .gain == 0' <<<"$output"
    root c1
    run -0 "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$BUNDLE/config.json"
    [[ $output == *"nothing is read ahead: it saved 0 %"* ]]
    umount "$ROOT"
    warm --drop "$VOLUME"
    [ "$status" -eq 0 ]
    ! record volume || false
    warm --drop "$VOLUME"
    [ "$status" -eq 1 ]
}

@test "by hand: a volume is read ahead, its record shown; only what was recorded is read" {
    cold
    job "$READS"
    launch
    settle
    cold
    warm "$VOLUME" --json
    gojq -e '.read >= 1048576 and .read < 8000000 and .cached == 0' <<<"$output"
    has_cached "$VOLUME/model" 1048576
    ! has_cached "$VOLUME/model" 8000000 || false
    [ "$(cached "$IMAGE/2/data/big")" -eq 0 ]
    warm "$VOLUME"
    [[ $stderr == *"0 B read in"* ]]
    warm --show "$VOLUME"
    [[ $output == *" in 1 file"*" model"* ]]
    mkdir "$DIR/srv/other"
    warm "$DIR/srv/other"
    [ "$status" -eq 1 ]
    warm --record "$VOLUME"
    [ "$status" -eq 2 ]
    warm --for 3m --record x
    [ "$status" -eq 2 ]
    warm no-such-container-or-image
    [ "$status" -eq 2 ]
    rm -r "$STORE"
    warm "$VOLUME"
    [ "$status" -eq 1 ]
    [[ $stderr == *"there is no record of it in $STORE: a policy that says"* ]]
    warm --drop "$VOLUME"
    [ "$status" -eq 1 ]
}

@test "of a container that is killed what it read is recorded, and the next start records it all" {
    cold
    job "PATH=/bin; busybox mkfifo /pipe; busybox echo x >/pipe & busybox cat /pipe; busybox cat /data/small1 >/dev/null; : >/done"
    launch
    wait_until [ -e "$ROOT/done" ]
    kill -9 "$(cat "$DIR/pid.c1")"
    settle
    record image | grep -q ' data/small1$'
    [ "$(field image whole)" = 0 ]
    job "$READS"
    again
    [ "$(field image whole)" = 1 ]
    record image | grep -q ' data/small6$'
}

@test "large files that were cached before the start are recorded by the next cold one" {
    cat "$IMAGE/2/data/big" >/dev/null
    job "$READS"
    launch
    settle
    [ "$(field image whole)" = 0 ]
    ! record image | grep ' data/big$' || false
    again
    [ "$(field image whole)" = 1 ]
    record image | grep -q ' data/big$'
}

@test "files of terabytes, which a container can make of holes, are left out" {
    truncate -s 8T "$VOLUME/huge"
    cold
    job "$READS; busybox dd if=/weights/huge of=/dev/null bs=1M count=1 skip=4000000 2>/dev/null"
    launch
    settle
    record volume
    [[ $(record volume | tail -n 1) == "0 0+"*" model" ]]
    ! record volume | grep -q huge || false
    [ "$(field volume whole)" = 1 ]
}

@test "two launches at once, a process that is killed, a launch that fails: one record, no leftovers" {
    cold
    FOR=60 policy # on a busy machine the second launch takes longer than the usual time
    job "$READS" 60
    launch
    first=$(watchers)
    mkdir "$DIR/bundle2" "$DIR/bundle2/rootfs"
    (BUNDLE=$DIR/bundle2 ROOT=$DIR/bundle2/rootfs launch c2)
    kill -9 "$first"
    wait_until no_watchers
    kill -9 "$(cat "$DIR/pid.c2")"
    ! record image || false
    umount -l "$DIR/bundle2/rootfs"
    settle
    policy
    job "$READS"
    again
    record image >/dev/null
    touch "$DIR/fail"
    EXPECTED=1 launch
    settle
    rm "$DIR/fail"
    [ "$(find "$STORE" -name record | wc -l)" -eq 2 ]
    [ -z "$(find "$STORE" -name '.*' -type f)" ]
}

@test "a record that cannot be read is replaced; one with hostile paths opens nothing else" {
    cold
    job "$READS"
    launch
    settle
    volume=$(grep -l '^flatbed volume' "$STORE"/*/record)
    # As root alone may write there, but a container chose the paths.
    mkfifo "$VOLUME/fifo"
    ln -s "$IMAGE/1/data" "$VOLUME/dir"
    ln -s "$IMAGE/1/data/unread" "$VOLUME/link"
    mknod "$VOLUME/null" c 1 3
    for path in fifo dir/unread link null nothing; do
        sed -i -e "s|^reads .*|reads 2|" -e '/^reads/,$ { /^reads/! d }' "$volume"
        printf '0 0+1048576 %s\n0 0+1048576 model\n' "$path" >>"$volume"
        cold
        warm "$VOLUME"
        [ "$status" -eq 0 ]
        has_cached "$VOLUME/model" 1048576
        [ "$(cached "$IMAGE/1/data/unread")" -eq 0 ]
    done
    for path in ../../image/1/data/unread /etc/passwd a/../b; do
        sed -i '$ d' "$volume"
        printf '0 0+1048576 %s\n' "$path" >>"$volume"
        warm "$VOLUME"
        [ "$status" -eq 1 ]
        [[ $stderr == *"expected a clean relative path"* ]]
    done
    again
    tail -n 1 "$volume" | grep -q '^0 0+.* model$'
}

@test "memory: no more is read than \"max\", and the container's limit" {
    cold
    job "$READS"
    launch
    settle
    cold
    policy '"max": "1m"'
    warm "$VOLUME" --json
    gojq -e '.read <= 1048576' <<<"$output"
    # The container's limit.
    bundle() {
        echo '{ "ociVersion": "1.0.2", "root": { "path": "rootfs" }, "process": { "user": { "uid": 0, "gid": 0 } }, "mounts": [],
            "linux": { "resources": { "memory": { "limit": 600000 } } } }' >"$BUNDLE/config.json"
    }
    policy
    job :
    again
    total=0
    for file in "$IMAGE"/*/data/* "$VOLUME/model"; do total=$((total + $(cached "$file"))); done
    [ "$total" -gt 0 ]
    [ "$total" -lt 1300000 ]
}

@test "record: off and a profile; explain, check, status and gc" {
    policy '"record": "off"' '"profiles": [ { "name": "lab", "match": { "annotation": { "lab": "yes" } }, "warm": { "record": "first", "for": 1 } } ]'
    cold
    job "$READS"
    launch
    wait_until no_watchers
    settle
    ! record image || false
    root c1
    run -0 "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$BUNDLE/config.json"
    [[ $output == *"nothing is read ahead: there is no record of its image"* ]]
    run -0 "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$BUNDLE/config.json" --annotation lab=yes --json
    gojq -e '.warm == "there is no record of its image: 1 second of a start are recorded"' <<<"$output"
    umount "$ROOT"
    bundle() {
        echo '{ "ociVersion": "1.0.2", "root": { "path": "rootfs" }, "process": { "user": { "uid": 0, "gid": 0 } }, "mounts": [],
            "annotations": { "lab": "yes" } }' >"$BUNDLE/config.json"
    }
    again
    root c1
    run -0 "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$BUNDLE/config.json"
    [[ $output == *" files of the image, recorded on 20"* ]]
    umount "$ROOT"

    run "$FLATBED" gc --policy "$DIR/policy.json" --dry-run --json
    gojq -e '.records == 0' <<<"$output"
    touch -d '40 days ago' "$STORE"/*
    run "$FLATBED" gc --policy "$DIR/policy.json" --dry-run
    [[ $output == *"would remove 2 records of warm"* ]]
    touch "$STORE"/*
    rm -rf "$IMAGE/1"
    run -0 "$FLATBED" gc --policy "$DIR/policy.json"
    [[ $output == *"removed 1 record of warm"* ]]
    [ "$(find "$STORE" -name record | wc -l)" -eq 1 ]

    chmod 0755 "$STORE"
    run "$FLATBED" check "$DIR/policy.json"
    [[ $output == *"warm-refused"* ]]
    for wrong in '"record": "second"' '"max": "0%"' '"max": "many"' '"cache": "x"' '"files": 1'; do
        policy "$wrong"
        run "$FLATBED" check "$DIR/policy.json"
        [ "$status" -eq 1 ]
    done
    for seconds in 0 601 1.5 '"30s"'; do
        FOR=$seconds policy
        run "$FLATBED" check "$DIR/policy.json"
        [ "$status" -eq 1 ]
    done
}

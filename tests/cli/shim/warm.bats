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
    # Of the large files the part that was read, with what the kernel reads ahead.
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

#!/usr/bin/env bats
# Runs of flatten at the same time, runs that were killed, and runs that end badly after the image is published.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

tags_in() { gojq -r '.manifests[].annotations["org.opencontainers.image.ref.name"]' "$1/index.json" | sort; }

# all_succeed N LAYOUT: N runs at the same time, each with a tag of its own.
all_succeed() {
    local i pids=() failed=0
    for ((i = 1; i <= $1; i++)); do
        "$FLATTEN" -q "$IMAGES/old.tar" "oci:$2:flat$i" >/dev/null 2>"log$i" 3>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || failed=$((failed + 1)); done
    cat log*
    rm log*
    [ "$failed" -eq 0 ]
}

@test "several runs at the same time into a layout that does not exist all succeed" {
    for _ in 1 2 3; do
        all_succeed 8 new
        [ "$(tags_in new)" = "$(printf 'flat%s\n' 1 2 3 4 5 6 7 8)" ]
        same oci:new:flat1 "$IMAGES/old.tar"
        same oci:new:flat8 "$IMAGES/old.tar"
        [ "$(ls -A)" = new ]
        [ -z "$(find new -name '.*')" ]
        rm -r new
    done
}

@test "several runs at the same time into a layout that exists, or an empty directory, all succeed" {
    ok -q "$IMAGES/new.tar" oci:l:mine
    all_succeed 8 l
    [ "$(tags_in l | wc -l)" -eq 9 ]
    same oci:l:mine oci:l:flat5
    mkdir empty
    all_succeed 4 empty
    [ "$(tags_in empty | wc -l)" -eq 4 ]
}

@test "several runs at the same time into one archive all succeed, and the archive is complete" {
    local i pids=()
    for i in 1 2 3 4; do
        "$FLATTEN" -q "$IMAGES/old.tar" out.tar >/dev/null 3>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i"; done
    same out.tar "$IMAGES/old.tar"
    [ "$(ls -A)" = out.tar ]
}

left_overs() { find . -name '.flatbed-*' | wc -l; }
has_left_overs() { [ "$(left_overs)" -gt 0 ]; }

# killed DESTINATION: kills a run in the middle of a layer. zstd:19 takes seconds.
killed() {
    "$FLATTEN" -q -c zstd:19 "$IMAGES/slow.tar" "$1" >/dev/null 3>&- &
    local pid=$!
    wait_until has_left_overs
    kill -9 $pid
    wait $pid || true
    has_left_overs
}

@test "the next run removes what a killed run left of a new layout" {
    killed oci:a
    ok -q "$IMAGES/old.tar" oci:b
    [ "$(left_overs)" -eq 0 ]
    [ "$(ls -A)" = b ]
}

@test "the next run removes what a killed run left in a layout that exists" {
    ok -q "$IMAGES/old.tar" oci:l:one
    killed oci:l:two
    ok -q "$IMAGES/old.tar" oci:l:three
    [ "$(left_overs)" -eq 0 ]
    [ "$(tags_in l)" = "one
three" ]
    same oci:l:one oci:l:three
}

@test "the next run removes what a killed run left of an archive" {
    killed docker-archive:a.tar
    ok -q "$IMAGES/old.tar" b.tar
    [ "$(ls -A)" = b.tar ]
}

@test "the next run removes what a killed analyze --html left" {
    mkfifo pipe
    "$FLATTEN" analyze --html=page.html docker-archive:- <pipe >/dev/null 2>&1 3>&- &
    local pid=$!
    exec 7>pipe
    wait_until has_left_overs
    "$FLATTEN" analyze --html=other.html "$IMAGES/old.tar" >/dev/null
    has_left_overs # of the run that still works
    kill -9 $pid
    wait $pid || true
    exec 7>&-
    has_left_overs
    "$FLATTEN" analyze --html=other.html "$IMAGES/old.tar" >/dev/null
    [ "$(ls -A)" = "other.html
pipe" ]
}

@test "a run removes nothing of a run that still works, and no files of others" {
    local pid
    for destination in oci:a docker-archive:a.tar; do
        "$FLATTEN" -q -c zstd:19 "$IMAGES/slow.tar" "$destination" >/dev/null 3>&- &
        pid=$!
        wait_until has_left_overs
        ok -q "$IMAGES/old.tar" oci:b
        ok -q "$IMAGES/old.tar" b.tar
        wait $pid
        same "$destination" "$IMAGES/slow.tar"
    done
    touch .flatbed-0123456789abcdef # of flatbed, which has no lock
    ok -q "$IMAGES/old.tar" oci:c
    [ -e .flatbed-0123456789abcdef ]
}

# ---- after publishing ----

@test "an unwritable standard output is an error that says that the image is published" {
    run bash -c '"$FLATTEN" -q "$IMAGES/old.tar" oci:out:v1 >/dev/full'
    [ "$status" -eq 3 ]
    [[ $output == "flatten: error: standard output: "*"; the new image has been published"* ]]
    same oci:out:v1 "$IMAGES/old.tar"
    run bash -c '"$FLATTEN" -q "$IMAGES/old.tar" out.tar 2>log | true; echo "${PIPESTATUS[0]}"'
    [ "$output" = 0 ] || { [ "$output" = 3 ] && grep -q "has been published" log; }
    run bash -c '"$FLATTEN" verify --json "$IMAGES/old.tar" "$IMAGES/new.tar" >/dev/full'
    [ "$status" -eq 3 ]
    [[ $output != *"published"* ]]
}

is_index() { [ -e "$1/index.json" ]; }

@test "a signal after publishing ends the run, which says that the image is published" {
    local pid status
    for signal in TERM:15 INT:2 HUP:1; do
        mkfifo full
        # bash starts background processes with SIGINT ignored; python gives its child the default.
        exec 7<>full
        python3 -c 'import os; os.set_blocking(7, False)
try:
    while True: os.write(7, bytes(4096))
except BlockingIOError: os.set_blocking(7, True)'
        python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$FLATTEN" -q "$IMAGES/old.tar" oci:out:v1 >full 2>log 3>&- &
        pid=$!
        wait_until is_index out
        kill -"${signal%:*}" "$pid"
        status=0
        wait "$pid" || status=$?
        exec 7>&-
        cat log
        [ "$status" -eq $((128 + ${signal#*:})) ]
        grep -q "stopped by signal ${signal#*:}; the new image has been published" log
        same oci:out:v1 "$IMAGES/old.tar"
        rm -r out full
    done
}

@test "a signal before publishing says that nothing was published" {
    local pid status=0
    "$FLATTEN" -q -c zstd:19 "$IMAGES/slow.tar" oci:out >/dev/null 2>log 3>&- &
    pid=$!
    wait_until has_left_overs
    kill -TERM "$pid"
    wait "$pid" || status=$?
    cat log
    [ "$status" -eq 143 ]
    grep -q "stopped by signal 15; nothing was published" log
    [ "$(ls -A)" = log ]
}

# ---- beside others ----

# A thread with a lower priority would starve beside busy ones, and all others would wait for it: the verifier
# checks every layer before anything is published.
@test "all threads have the priority of the command" {
    local pid
    nice -n 5 "$FLATTEN" -q -c zstd:19 "$IMAGES/slow.tar" oci:a >/dev/null 3>&- &
    pid=$!
    wait_until has_left_overs
    cat "/proc/$pid/task/"*/stat "/proc/$(pgrep -P "$pid")/task/"*/stat |
        sed 's/.*) //' | cut -d ' ' -f 17 | sort | uniq -c >nices
    kill "$pid"
    wait "$pid" || true
    cat nices
    [ "$(wc -l <nices)" -eq 1 ]
    grep -qE "^ *[0-9]+ $(($(nice) + 5))\$" nices
    [ "$(awk '{ print $1 }' nices)" -gt 3 ]
}

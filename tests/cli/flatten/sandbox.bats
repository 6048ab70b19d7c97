#!/usr/bin/env bats
# The process that reads images (reader): its restrictions, and the state after it or the keeper dies.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

# True if flatten has a list of system calls: a build with AddressSanitizer has none.
has_list() { ! grep -qa __asan_init "$FLATTEN"; }

# start_reading WORD...: starts flatten with an archive whose end is missing, and waits until the reader
# is in its sandbox. KEEPER and READER are the process IDs; fd 7 is the write end of the archive.
start_reading() {
    [ -p pipe ] || mkfifo pipe
    "$FLATTEN" "$@" <pipe >stdout 2>stderr 3>&- 7>&- &
    KEEPER=$!
    exec 7>pipe
    head -c 20000 "$IMAGES/big.tar" >&7
    READER=
    until [ -n "$READER" ] && grep -q '^NoNewPrivs:.*1$' "/proc/$READER/status" &&
        [[ $(readlink "/proc/$READER/fd/"*) == *pipe* ]]; do
        kill -0 "$KEEPER"
        sleep 0.01
        READER=$(tr -d ' ' <"/proc/$KEEPER/task/$KEEPER/children")
    done
}

# Closes the archive, waits for the keeper, and sets status and stderr.
finish() {
    exec 7>&-
    status=0
    wait "$KEEPER" || status=$?
    stderr=$(cat stderr)
    rm -f pipe stdout stderr
}

@test "the reader has no capabilities, no_new_privs, a list of system calls, and no open files" {
    start_reading docker-archive:- oci:out:x
    cat "/proc/$READER/status"
    grep -qE '^CapEff:\s+0+$' "/proc/$READER/status"
    grep -qE '^CapPrm:\s+0+$' "/proc/$READER/status"
    grep -qE '^CapInh:\s+0+$' "/proc/$READER/status"
    grep -qE '^CapAmb:\s+0+$' "/proc/$READER/status"
    if has_list; then
        grep -qE '^Seccomp:\s+2$' "/proc/$READER/status"
    fi
    # Standard input is open in the keeper only; the reader has its output, the socket, and the archive.
    ls -l "/proc/$READER/fd"
    [ "$(readlink "/proc/$READER/fd/0")" = /dev/null ]
    [[ $(readlink "/proc/$READER/fd/3") == socket:* ]]
    [ "$(find "/proc/$READER/fd" -lname "$PWD/*" ! -lname '*/std*' ! -lname '*/pipe' | wc -l)" -eq 0 ]
    # The keeper has no seccomp filter of its own.
    grep -qE '^Seccomp:\s+0$' "/proc/$KEEPER/status" || [ "$(grep Seccomp: /proc/self/status)" = "$(grep Seccomp: "/proc/$KEEPER/status")" ]
    finish
    [ "$status" -eq 5 ]
}

@test "the reader opens no file, runs no program and makes no connection while it reads" {
    has_list || skip "AddressSanitizer: no list of system calls"
    command -v strace >/dev/null || { echo "strace is needed"; return 1; }
    for source in "oci:$IMAGES/layout:v1" "$IMAGES/old.tar"; do
        rm -rf out
        strace -f -qq -o trace "$FLATTEN" -q --verify "$source" oci:out >/dev/null
        # The first process of the trace is the keeper. All other threads belong to the reader.
        awk 'NR == 1 { keeper = $1 }
             /seccomp\(SECCOMP_SET_MODE_FILTER/ && !/unfinished/ { confined = 1 }
             /<\.\.\. seccomp resumed>/ { confined = 1 }
             confined && $1 != keeper { print $2 }' trace | sed 's/(.*//' | sort -u >calls
        cat calls
        grep -qx clone calls
        ! grep -E '^(open|exec|socket|connect|bind|fork|vfork|unlink|rename|mkdir|link|symlink|chmod|chown|mount|kill|ptrace|bpf|stat|newfstatat|statx|readlink|access|getdents|io_uring)' calls
    done
}

@test "a killed reader is an error, and no partial output is left" {
    for i in 1 2 3; do
        start_reading docker-archive:- "$([ "$i" = 2 ] && echo oci:out || echo docker-archive:out.tar)"
        kill -9 "$READER"
        finish
        echo "$status: $stderr"
        [ "$status" -eq 3 ]
        [[ $stderr == *"died of signal 9"*"nothing was published"* ]]
        [ -z "$(ls -A)" ]
    done
    start_reading docker-archive:- oci:out
    kill -SYS "$READER"
    finish
    [ "$status" -eq 3 ]
    [[ $stderr == *"a system call that its sandbox forbids"* ]]
    [ -z "$(ls -A)" ]
}

@test "a reader killed while it writes leaves no partial output" {
    for i in $(seq 1 8); do
        "$FLATTEN" -q "$IMAGES/big.tar" oci:out >/dev/null 2>"$BATS_TEST_TMPDIR/err" &
        local keeper=$! status=0
        sleep "$(awk -v r=$RANDOM -v i="$i" 'BEGIN { print (i / 8) * 0.5 * (0.5 + r / 32768) }')"
        kill -9 "$(tr -d ' ' <"/proc/$keeper/task/$keeper/children")" 2>/dev/null || true
        wait "$keeper" || status=$?
        echo "$status: $(cat "$BATS_TEST_TMPDIR/err")"
        [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
        if [ "$status" -eq 0 ] || grep -q "has been published" "$BATS_TEST_TMPDIR/err"; then
            same oci:out "$IMAGES/big.tar"
            rm -r out
        fi
        [ -z "$(ls -A)" ]
    done
}

@test "the reader dies when the keeper dies" {
    start_reading docker-archive:- oci:out
    kill -9 "$KEEPER"
    while [ -e "/proc/$READER" ] && ! grep -q '^State:.*Z' "/proc/$READER/status"; do
        sleep 0.05
    done
    finish
    [ "$status" -eq $((128 + 9)) ]
    [ ! -e out ]
}

@test "SIGTERM to the keeper, or to both processes, stops both" {
    for both in 0 1; do
        start_reading docker-archive:- oci:out
        kill -TERM "$KEEPER"
        [ "$both" = 0 ] || kill -TERM "$READER" 2>/dev/null || true
        finish
        [ "$status" -eq $((128 + 15)) ]
        [ ! -e "/proc/$READER" ]
        [ -z "$(ls -A)" ]
    done
}

@test "SIGTERM to either process during the reading leaves no partial output" {
    local sink who
    for sink in docker-archive:out.tar oci-archive:out.tar oci:out; do
        for who in KEEPER READER; do
            start_reading docker-archive:- "$sink"
            kill -TERM "${!who}"
            finish
            echo "$sink, $who: $status: $stderr"
            [ "$who" = READER ] || [ "$status" -eq $((128 + 15)) ]
            [ "$status" -ne 0 ]
            [ ! -e "/proc/$READER" ]
            [ -z "$(ls -A)" ]
        done
    done
}

@test "SIGKILL during the writing leaves no partial output" {
    local sink i left
    for sink in docker-archive:out.tar oci-archive:out.tar oci:out; do
        for i in 1 2 3 4; do
            "$FLATTEN" -q "$IMAGES/big.tar" "$sink" >/dev/null 2>&1 3>&- &
            local keeper=$!
            sleep "$(awk -v r=$RANDOM -v i="$i" 'BEGIN { print (i / 4) * 0.5 * (0.5 + r / 32768) }')"
            kill -9 "$keeper" 2>/dev/null || true
            wait "$keeper" || true
            left=$(ls)
            echo "$sink: $left"
            [ -z "$left" ] || same "$sink" "$IMAGES/big.tar"
            # At most one hidden temporary file or directory is beside it.
            [ "$(find . -mindepth 1 -maxdepth 1 -name '.*' | wc -l)" -le 1 ]
            rm -rf out out.tar .[!.]*
        done
    done
}

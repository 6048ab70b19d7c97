#!/usr/bin/env bats
# flatbed watch on processes whose root is an overlay: a storm of lookups with known numbers. Needs root.
# shellcheck disable=SC2154,SC2016  # status and output are set by bats' run; inner shells expand

bats_require_minimum_version 1.5.0

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    [ "$(id -u)" -eq 0 ] || { [ "$CI" != true ] && skip "needs root"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-watch.XXXXXX")
    chmod 0755 "$DIR"
    WATCHED=
    BOX=
}

teardown() {
    [ -n "${DIR-}" ] || return 0
    [ -z "$WATCHED" ] || kill -9 "$WATCHED" 2>/dev/null || true
    [ -z "$BOX" ] || kill -9 "$BOX" 2>/dev/null || true
    wait
    while read -r where; do
        umount -l "$where" || true
    done < <(awk -v dir="$DIR" 'index($5 "/", dir "/") == 1 { print $5 }' /proc/self/mountinfo | tac)
    rm -rf --one-file-system "$DIR"
}

wait_until() {
    local end=$((SECONDS + 60))
    until "$@"; do
        [ $SECONDS -lt $end ] || { echo "not in time: $*"; cat "$DIR"/watch.*; return 1; }
        sleep 0.05
    done
}

# box COMMAND...: a process with an overlay of four directories as its root, /lib/x in two layers; it runs a script
# that waits at /go.
box() {
    local name
    mkdir -p "$DIR"/l1/{bin,etc,lib,proc} "$DIR"/l2/lib/x "$DIR"/l3/{lib/x,etc} "$DIR/fs" "$DIR/m"
    cp "$(command -v busybox)" "$DIR/l1/bin/busybox"
    for name in sh find; do ln -s busybox "$DIR/l1/bin/$name"; done
    for name in $(seq 100); do echo x >"$DIR/l3/etc/f$name"; done
    mount -t tmpfs none "$DIR/fs"
    mkdir "$DIR/fs/u" "$DIR/fs/w"
    mount -t overlay none "$DIR/m" -o "lowerdir=$DIR/l3:$DIR/l2:$DIR/l1,upperdir=$DIR/fs/u,workdir=$DIR/fs/w"
    M=$DIR/m
    mkfifo "$M/go" "$M/end"
    { echo 'echo >/ready; read -r x </go'; cat; } >"$M/script"
    "$@" chroot "$M" /bin/sh /script 3>&- &
    BOX=$!
    wait_until [ -e "$M/ready" ]
}

# watch OPTION...: watches it in the background.
watch() {
    "${WITHOUT[@]}" "$FLATBED" watch "$@" >"$DIR/watch.out" 2>"$DIR/watch.err" 3>&- &
    WATCHED=$!
    wait_until grep -q watching "$DIR/watch.err"
}

# ended: waits for both; the report is in $output.
ended() {
    wait "$WATCHED" || { cat "$DIR/watch.err"; return 1; }
    WATCHED=
    output=$(cat "$DIR/watch.out")
}

is() { gojq -e "$1" <<<"$output" >/dev/null || { echo "not $1: $output"; return 1; }; }
at() { is ".directories[] | select(.directory == \"$1\") | $2"; }

STORM='i=0; while [ $i -lt 500 ]; do [ -e /lib/x/missing$i ]; i=$((i+1)); done
i=1; while [ $i -le 100 ]; do read -r x </etc/f$i; i=$((i+1)); done
cd /etc; i=1; while [ $i -le 7 ]; do [ -e f$i ]; i=$((i+1)); done'

@test "bad arguments, and containers that are none" {
    run "$FLATBED" watch
    [ "$status" -eq 2 ]
    run "$FLATBED" watch --for=86401 x
    [ "$status" -eq 2 ]
    run "$FLATBED" watch --top=0 x
    [ "$status" -eq 2 ]
    run "$FLATBED" watch no-such-container
    [ "$status" -eq 2 ]
    [[ $output == *"no container 'no-such-container'"* ]]
    run "$FLATBED" watch "$DIR"
    [ "$status" -eq 2 ]
    run "$FLATBED" watch --help
    [ "$status" -eq 0 ]
}

@test "a storm in a pid namespace is counted exactly, with the layers of its directories" {
    box unshare --pid --fork <<<"$STORM"
    watch --json "$M"
    echo >"$M/go"
    ended
    at /lib/x '.lookups == 500 and .misses == 500 and .stats + .accesses == 500 and .layers == 2 and .probes == 1000'
    at /etc '.opens == 100 and .lookups == 107 and .misses == 0 and .layers == 2 and .probes == 214'
    is '.by == "tracepoints" and .layers == 4 and .lost == 0 and (has("opens_only") | not)'
    is '.programs[] | select(.program == "sh") | .misses == 500 and .opens >= 100'
    is '.depth.probes > .depth.probes_with_one_layer and (.depth | has("seconds_saved") | not)'
}

@test "without a pid namespace, tasks are chosen by their mount namespace" {
    box unshare --mount <<<"$STORM; read -r x </end"
    watch --json "$M"
    echo >"$M/go"
    echo >"$M/end"
    ended
    at /lib/x '.misses == 500 and .layers == 2'
    at /etc '.opens == 100 and .lookups == 107'
    is "[.directories[] | select(.directory | startswith(\"$DIR\"))] == []"
}

@test "a program that changes directories by descriptors is followed" {
    box unshare --pid --fork <<<'find /tree -mmin +1; read -r x </end'
    for name in a b c; do mkdir -p "$M/tree/$name/sub"; touch "$M/tree/$name/sub"/{1,2,3,4,5}; done
    watch --json --top=1000 "$M"
    echo >"$M/go"
    echo >"$M/end"
    ended
    for name in a b c; do at "/tree/$name/sub" '.lookups == 5 and .layers == 1'; done
}

@test "without bpf(2), fanotify sees the opens, and the reason is said" {
    box unshare --mount --pid --fork <<<"$STORM; read -r x </end"
    WITHOUT=(python3 "$BATS_TEST_DIRNAME/without_bpf.py")
    watch --json "$M"
    grep -q "only opens are seen, no misses: the kernel refuses a map of BPF" "$DIR/watch.err"
    echo >"$M/go"
    echo >"$M/end"
    ended
    is '.by == "fanotify" and (.opens_only | test("BPF")) and .all.misses == 0 and .all.stats == 0'
    at /etc '.opens == 100 and .layers == 2'
}

@test "in another pid namespace, where threads have other numbers, fanotify sees the opens" {
    box unshare --mount --pid --kill-child bash -c '"$@"; sleep 600' -- <<<"$STORM; read -r x </end"
    WITHOUT=(nsenter --target="$(pgrep -P "$BOX")" --pid -- unshare --fork --mount-proc)
    watch --json "$M"
    grep -q "only opens are seen, no misses: this is not the host's namespace of process ids" "$DIR/watch.err"
    echo >"$M/go"
    echo >"$M/end"
    ended
    is '.by == "fanotify" and .all.misses == 0'
    at /etc '.opens == 100 and .layers == 2'
}

@test "--misses, --costs, --for and Ctrl-C; hostile names are escaped" {
    box unshare --pid --fork <<<'i=0; while [ $i -lt 9 ]; do [ -e "$(printf "/lib/\033[2J/m")" ]; i=$((i+1)); done
        read -r x </etc/f1; read -r x </end'
    printf '{"k": {"stat": {"mount": 0}, "missing": {"mount": 1}}, "lookups": [
        {"kind": "stat", "cold": "mount", "layers": {"1": 1}},
        {"kind": "missing", "cold": "mount", "layers": {"1": 2}}]}' >"$DIR/costs"
    watch --misses --costs="$DIR/costs" "$M"
    echo >"$M/go"
    echo >"$M/end"
    ended
    [[ $output == *'/lib/\x1b[2J'* ]]
    [[ $output != *$'\x1b'* ]]
    [[ $output != *" /etc"$'\n'* ]]
    # /lib is in three layers: nine misses, two more layers, two seconds each
    [[ $output == *"save up to 36 s"* ]] || { echo "$output"; return 1; }
}

@test "--for ends it, and a signal does: both with a report" {
    box unshare --pid --fork <<<'read -r x </end'
    run --separate-stderr "$FLATBED" watch --for=1 --json "$M"
    [ "$status" -eq 0 ]
    is '.seconds >= 1'
    watch --json "$M"
    kill -INT "$WATCHED"
    ended
    is '.by == "tracepoints"'
    echo >"$M/go"
    echo >"$M/end"
}

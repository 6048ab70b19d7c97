#!/usr/bin/env bats
# flatbed start-time on layers made by hand, below a directory of the test alone, with the real runc. Needs root.
# No test drops the caches of the host.
# shellcheck disable=SC2154  # status and output are set by bats' run

bats_require_minimum_version 1.5.0

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    [ "$(id -u)" -eq 0 ] || { [ "$CI" != true ] && skip "needs root"; return 1; }
    command -v runc busybox >/dev/null || { [ "$CI" != true ] && skip "needs runc and busybox"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-start.XXXXXX")
    chmod 0755 "$DIR"
    echo '{ "version": 1 }' >"$DIR/policy.json"
    layers 12
}

teardown() {
    [ -n "${DIR-}" ] || return 0
    [ -z "${CHILD-}" ] || kill "$CHILD" 2>/dev/null || true
    rm -rf --one-file-system "$DIR"
}

# layers COUNT: a root with busybox, and layers above it that all have /lib/d; sets LAYERS.
layers() {
    local i
    mkdir -p "$DIR/l/0/bin" "$DIR/l/0/etc" "$DIR/l/0/work" "$DIR/temporary"
    cp "$(command -v busybox)" "$DIR/l/0/bin/busybox"
    for i in sh ls cat id sleep touch; do ln -s busybox "$DIR/l/0/bin/$i"; done
    LAYERS=$DIR/l/0
    for i in $(seq "$(($1 - 1))"); do
        mkdir -p "$DIR/l/$i/lib/d"
        touch "$DIR/l/$i/lib/d/f$i"
        LAYERS=$DIR/l/$i:$LAYERS
    done
}

start() { run --separate-stderr "$FLATBED" start-time --dir="$DIR/temporary" --policy="$DIR/policy.json" --runs=2 "$@"; }
exits() { [ "$status" -eq "$1" ] || { echo "status $status: $output $stderr"; return 1; }; }
has() { [[ $output$stderr == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n%s\n' "$1" "$output" "$stderr"; return 1; }; }
is() { gojq -e "$@" <<<"$output" >/dev/null || { echo "not $1: $output $stderr"; return 1; }; }

# nothing_stays: neither files nor mounts.
nothing_stays() {
    [ -z "$(ls -A "$DIR/temporary")" ] || { ls -AR "$DIR/temporary"; return 1; }
    [ ! -e "$DIR/l/0/made" ]
    ! grep -F "$DIR" /proc/self/mountinfo || return 1
}

# is_running: the command of the container is.
is_running() { pgrep -fx '/bin/sleep 7321' >/dev/null; }
wait_until() { for _ in $(seq 300); do ! "$@" || return 0; sleep 0.1; done; return 1; }
is_not_running() { ! is_running; }

# has_leftover: flatbed stale finds the tree of a killed measurement, once the last process that uses it has ended.
has_leftover() {
    run --separate-stderr "$FLATBED" stale --beside="$DIR/temporary" --json
    exits 0 && is '.stale | length == 1 and .[0].bytes > 0'
}

@test "the table has a row for each root, and says what was not measured" {
    start "$LAYERS" -- /bin/sh -c 'ls -R /lib >/dev/null && touch /made'
    exits 0
    [[ $output =~ "12 layers; 2 runs of each" ]]
    [[ $output =~ warm\ +overlay\ +[0-9.]+\ s ]]
    [[ $output =~ warm\ +restacked\ +[0-9.]+\ s ]]
    has "caches was not measured: no --volume"
    has "worth it"
    [[ $output != *$'\e'* ]]
    nothing_stays
}

@test "a program of the image is filtered, gains nothing, and reaches no device and no namespace" {
    for i in grep mknod unshare mount head; do ln -s busybox "$DIR/l/0/bin/$i"; done
    start "$LAYERS" -- /bin/sh -c 'grep -q "^Seccomp:.2" /proc/self/status && grep -q "^NoNewPrivs:.1" /proc/self/status &&
        ! unshare -n true && ! unshare -U true && ! mount -t tmpfs t /work && ! mknod /work/disk b 7 0 && ! mknod /work/m c 1 1 &&
        head -c 1 /dev/zero >/dev/null'
    exits 0
}

@test "--json has every run, and a volume is a root of its own" {
    mkdir "$DIR/cache"
    start --json --volume="$DIR/cache:/cache" "$LAYERS" -- /bin/sh -c '! touch /cache/x'
    exits 0
    is '[.times[] | .cache + " " + .root] == ["warm overlay", "warm restacked", "warm caches"]'
    is '[.times[].seconds | length] == [2, 2, 2] and .layers == 12 and .runs == 2 and .left_out == []'
    is 'all(.times[]; .median >= .low and .median <= .high and .low > 0)'
    is '[.times[].verdict] | .[0] == "base" and (.[1:] | all(. == "worth" or . == "not-worth"))'
    [ -z "$(ls -A "$DIR/cache")" ]
    nothing_stays
}

@test "a volume is read-only unless it says rw, and there only in the runs with caches" {
    mkdir "$DIR/cache"
    start --volume="$DIR/cache:/cache" "$LAYERS" -- /bin/sh -c '[ ! -d /cache ] || touch /cache/x'
    exits 1
    has "Read-only file system"
    has "(caches, warm)"
    start --volume="$DIR/cache:/cache:rw" "$LAYERS" -- /bin/sh -c '[ ! -d /cache ] || touch /cache/x'
    exits 0
    [ -e "$DIR/cache/x" ]
}

@test "caches of presets in the policy are mounted where their directories exist, with their variable" {
    mkdir "$DIR/torch"
    cat >"$DIR/policy.json" <<END
{ "version": 1, "volumes": { "cache": { "source": "$DIR/{name}", "target": "/cache/{name}", "access": "rw",
    "presets": ["torch", "huggingface"] } } }
END
    start --json "$LAYERS" -- /bin/sh -c '[ ! -d /cache ] || [ "$TORCH_HOME$HF_HOME" = /cache/torch ]'
    exits 0
    is '[.times[].root] == ["overlay", "restacked", "caches"]'
    [ -z "$(ls -A "$DIR/torch")" ]
}

@test "--limit: 0 within it, 4 beyond it, of the root that --limit-of names" {
    start --limit=1000 "$LAYERS" -- /bin/sh -c 'ls -R /lib'
    exits 0
    has "is within the limit"
    start --limit=0.000001 --limit-of=restacked --json "$LAYERS" -- /bin/sh -c 'ls -R /lib'
    exits 4
    is '.limit | .root == "restacked" and .exceeded'
    start --limit=1 --limit-of=caches "$LAYERS" -- /bin/sh -c 'ls -R /lib'
    exits 2
    has "was not measured"
}

@test "a command that fails ends the measurement, with its standard error and status" {
    start "$LAYERS" -- /bin/sh -c 'printf "oh \033[31mno\n" >&2; exit 7'
    exits 1
    has 'oh \x1b[31mno'
    has "the command failed with status 7 (overlay, warm)"
    [ -z "$output" ]
    start "$LAYERS" -- /no/such/program
    exits 1
    has "/no/such/program"
    nothing_stays
}

@test "a command that does not end is ended by --timeout, with what it started" {
    start --timeout=1 "$LAYERS" -- /bin/sh -c '/bin/sleep 7321 & sleep 600'
    exits 7
    has "longer than 1 seconds"
    is_not_running
    nothing_stays
}

@test "a signal ends the container and removes everything; so does the death of flatbed" {
    "$FLATBED" start-time --dir="$DIR/temporary" --policy="$DIR/policy.json" "$LAYERS" -- /bin/sleep 7321 3>&- &
    CHILD=$!
    wait_until is_running
    kill -TERM "$CHILD"
    status=0
    wait "$CHILD" || status=$?
    exits 143
    is_not_running
    nothing_stays
    "$FLATBED" start-time --dir="$DIR/temporary" --policy="$DIR/policy.json" "$LAYERS" -- /bin/sleep 7321 3>&- &
    CHILD=$!
    wait_until is_running
    kill -KILL "$CHILD"
    wait_until is_not_running
    ! grep -F "$DIR" /proc/self/mountinfo || return 1
    # A killed measurement leaves an unfinished tree, which the next one removes.
    wait_until has_leftover
    start "$LAYERS" -- /bin/sh -c 'ls /'
    exits 0
    nothing_stays
}

@test "an image of one layer is measured, and there is nothing to compare it with" {
    start "$DIR/l/0" -- /bin/sh -c 'ls /'
    exits 0
    has "restacked was not measured: the image has one layer already"
    has "nothing to compare"
}

@test "wrong command lines" {
    start "$LAYERS"
    exits 2
    start --runs=0 "$LAYERS" -- true
    exits 2
    start --limit=soon "$LAYERS" -- true
    exits 2
    start --limit-of=overlay "$LAYERS" -- true
    exits 2
    start --volume=here "$LAYERS" -- true
    exits 2
    start --volume="$DIR/nothing:/x" "$LAYERS" -- true
    exits 3
    start "$DIR/l/nothing:$DIR/l/0" -- /bin/sh -c :
    exits 3
    start --runtime=/no/runc "$LAYERS" -- true
    exits 9
    nothing_stays
}

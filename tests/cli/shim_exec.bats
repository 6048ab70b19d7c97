#!/usr/bin/env bats
# flatbed-runtime: what create gave to the environment is there in exec as well.

load lib/shim

# The state of these tests' containers, whose --root is $DIR/root.
state_folder() { echo "/run/flatbed/state/$(sed 's|/|%2F|g' <<<"$DIR/root")"; }

teardown() {
    forget
    rm -rf --one-file-system "$(state_folder)" "$DIR"
}

# made [WORDS…]: a container c1 of that root, which has DATA.
made() { run shim "$@" --root "$DIR/root" create --bundle "$BUNDLE" c1; }

# execs PROCESS_JSON [ID]: the environment that the runtime is given, as one line.
execs() {
    echo "$1" >"$DIR/process.json"
    run shim --root "$DIR/root" exec --process "$DIR/process.json" --detach "${2-c1}"
    [ "$status" -eq 7 ]
    called_with --root "$DIR/root" exec --process "$DIR/process.json" --detach "${2-c1}"
    jq -c .env "$DIR/process.json"
}

@test "exec gets what create added" {
    as_root
    made
    [ "$(execs '{"args":["x"],"env":["P=1"]}')" = '["P=1","DATA=/work/imagenet"]' ]
    [ "$(execs '{"args":["x"]}')" = '["DATA=/work/imagenet"]' ]
    [ "$(execs '{"args":["x"],"env":null}')" = '["DATA=/work/imagenet"]' ]
}

@test "what exec sets itself stays" {
    as_root
    made
    [ "$(execs '{"env":["DATA=/mine"]}')" = '["DATA=/mine"]' ]
    [ "$(execs '{"env":["DATA="]}')" = '["DATA="]' ]
}

@test "what the container sets itself is not ours to repeat" {
    as_root
    sed -i 's|"A=1"|"DATA=/mine"|' "$BUNDLE/config.json"
    made
    [ "$(execs '{"env":["P=1"]}')" = '["P=1"]' ]
}

@test "a container of another name or root gets nothing" {
    as_root
    made
    [ "$(execs '{"env":["P=1"]}' c2)" = '["P=1"]' ]
    echo '{"env":["P=1"]}' >"$DIR/process.json"
    run shim --root "$DIR" exec --process "$DIR/process.json" c1
    run shim --root root exec --process "$DIR/process.json" c1
    [ "$(jq -c .env "$DIR/process.json")" = '["P=1"]' ]
}

@test "an untouched process file keeps its inode; an edited one its mode and owner" {
    as_root
    made
    local before
    echo '{"env":["DATA=x"]}' >"$DIR/process.json"
    before=$(stat -c '%i %y' "$DIR/process.json")
    run shim --root "$DIR/root" exec -p "$DIR/process.json" c1
    [ "$(stat -c '%i %y' "$DIR/process.json")" = "$before" ]
    echo '{"env":[]}' >"$DIR/process.json"
    chmod 0604 "$DIR/process.json"
    run shim --root "$DIR/root" exec -p "$DIR/process.json" c1
    [ "$(stat -c %a "$DIR/process.json")" = 604 ]
    [ "$(jq -c .env "$DIR/process.json")" = '["DATA=/work/imagenet"]' ]
}

@test "nothing about an exec fails: no file, a bad one, a link, a damaged or foreign state" {
    as_root
    made
    local text
    run shim --root "$DIR/root" exec -p /nonexistent c1
    [ "$status" -eq 7 ]
    for text in '' '{' '[]' '{"env":{}}' '{"env":1}' '{"Env":["P=1"]}' '{"env":[],"env":[]}'; do
        echo "$text" >"$DIR/process.json"
        run --separate-stderr shim --root "$DIR/root" exec -p "$DIR/process.json" c1
        [ "$status" -eq 7 ]
        # shellcheck disable=SC2154
        [ "$stderr" = err ]
        [ "$(cat "$DIR/process.json")" = "$text" ]
    done
    echo '{"env":[]}' >"$DIR/real.json"
    ln -sf real.json "$DIR/process.json"
    run shim --root "$DIR/root" exec -p "$DIR/process.json" c1
    [ "$(cat "$DIR/real.json")" = '{"env":[]}' ]
    rm "$DIR/process.json"
    for text in '' '{' '[]' '{"env":{}}' '{"env":[1]}'; do
        echo "$text" >"$(state_folder)/c1.json"
        [ "$(execs '{"env":["P=1"]}')" = '["P=1"]' ]
    done
    echo '{"env":["EVIL=1"]}' >"$(state_folder)/c1.json"
    chmod 0666 "$(state_folder)/c1.json"
    [ "$(execs '{"env":["P=1"]}')" = '["P=1"]' ]
}

@test "a policy that broke since is no obstacle" {
    as_root
    made
    echo '{' >"$DIR/policy.json"
    echo '{"env":[]}' >"$DIR/process.json"
    run shim "--flatbed-runtime=$DIR/low" --root "$DIR/root" exec -p "$DIR/process.json" c1
    [ "$status" -eq 7 ]
    [ "$(jq -c .env "$DIR/process.json")" = '["DATA=/work/imagenet"]' ]
}

@test "state is root's, goes with delete, and is replaced by the next container" {
    as_root
    made
    [ "$(stat -c '%a %u' "$(state_folder)/c1.json")" = '600 0' ]
    [ "$(stat -c '%a %u' "$(state_folder)")" = '700 0' ]
    run shim --root "$DIR/root" delete --force c1
    [ ! -e "$(state_folder)/c1.json" ]
    run shim --root "$DIR/root" delete c1
    [ "$status" -eq 7 ]
    made
    config "$BUNDLE"
    annotate ""
    made
    [ ! -e "$(state_folder)/c1.json" ]
}

@test "names cannot lead elsewhere" {
    as_root
    run shim --root "$DIR/root" create --bundle "$BUNDLE" ../../c1
    [ "$status" -ne 7 ] || [ -e "$(state_folder)/%2E.%2F..%2Fc1.json" ]
    [ ! -e /run/flatbed/c1.json ]
}

@test "stacked on itself, and in a second edit, it keeps what the first one added" {
    as_root
    printf '#!/bin/sh\nexec %s --flatbed-policy=%s/policy.json --flatbed-runtime=%s/low "$@"\n' \
        "$FLATBED_RUNTIME" "$DIR" "$DIR" >"$DIR/wrapper"
    chmod 0755 "$DIR/wrapper"
    made "--flatbed-runtime=$DIR/wrapper"
    [ "$(execs '{"env":[]}')" = '["DATA=/work/imagenet"]' ]
    made
    [ "$(execs '{"env":[]}')" = '["DATA=/work/imagenet"]' ]
}

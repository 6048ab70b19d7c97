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

@test "an exec without rules never fails: no file, a bad one, a link" {
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
    for text in '{"env":{}}' '{"env":[1]}'; do
        echo "$text" >"$(state_folder)/c1.json"
        [ "$(execs '{"env":["P=1"]}')" = '["P=1"]' ]
    done
}

# refused TEXT PROCESS_JSON [ID]: the runtime is not called, and the file stays as it was.
refused() {
    echo "$2" >"$DIR/process.json"
    rm -f "$DIR/low.words"
    run --separate-stderr shim --root "$DIR/root" exec --process "$DIR/process.json" "${3-c1}"
    [ "$status" -eq 1 ]
    # shellcheck disable=SC2154
    [[ "$stderr" = *"$1"* ]] || { echo "$stderr" && false; }
    [ ! -e "$DIR/low.words" ]
    [ "$(cat "$DIR/process.json")" = "$2" ]
}

@test "a state that is damaged, or not root's alone, stops an exec: it may have held rules" {
    as_root
    made
    local text
    for text in '' '{' '[]' '{"rules":1}' '{"rules":{"root":1}}' '{"rules":{"privileged":{}}}'; do
        echo "$text" >"$(state_folder)/c1.json"
        refused '' '{"env":["P=1"]}'
    done
    echo '{"env":["EVIL=1"]}' >"$(state_folder)/c1.json"
    chmod 0666 "$(state_folder)/c1.json"
    refused 'cannot be read' '{"env":["P=1"]}'
}

# guarded SECURITY: a policy with that section, and a container of user 1000 that has two capabilities.
guarded() {
    sed -i "s|\"volumes\"|\"security\": { $1 }, &|" "$DIR/policy.json"
    jq -c '.process.user.uid = 1000 |
        .process.capabilities = {"bounding": ["CAP_CHOWN", "CAP_KILL"], "effective": ["CAP_KILL"]}' \
        "$BUNDLE/config.json" >"$DIR/new" && cp "$DIR/new" "$BUNDLE/config.json"
    made
    [ "$status" -eq 7 ] || { echo "$output" && false; }
}

# becomes PROCESS_JSON: what the runtime is given for it.
becomes() {
    execs "$1" >/dev/null
    jq -c . "$DIR/process.json"
}

@test "an exec is not root where the container may not be" {
    as_root
    guarded '"user": { "root": "deny", "say": "run with --user" }'
    refused 'root on this host: run with --user' '{"user":{"uid":0,"gid":0}}'
    refused "policy.json:4)" '{"user":{"gid":5}}'
    refused 'security.user' '{"args":["sh"]}'
    refused 'would be read as "user"' '{"user":{"uid":1000},"User":{"uid":0}}'
    refused 'would be read as "uid"' '{"user":{"uid":1000,"UID":0}}'
    refused 'uid' '{"user":{"uid":"1000"}}'
    refused '' '{'
    becomes '{"user":{"uid":1001}}'
    refused ': by CAP_SETUID' '{"user":{"uid":1001},"capabilities":{"ambient":["CAP_SETUID"]}}'
    becomes '{"user":{"uid":1001},"capabilities":{"bounding":["CAP_SETUID"],"ambient":["CAP_CHOWN"]}}'
}

@test "an exec keeps no capability to become root by" {
    as_root
    guarded '"user": { "root": "deny" }, "capabilities": { "drop": ["SETUID"] }'
    becomes '{"user":{"uid":1001},"capabilities":{"ambient":["CAP_SETUID"]}}' >/dev/null
    [ "$(jq -c .capabilities.ambient "$DIR/process.json")" = '[]' ]
}

@test "the root of a user namespace of its own is not the host's" {
    as_root
    jq -c '.linux = {"uidMappings": [{"containerID": 0, "hostID": 100000, "size": 2000},
        {"containerID": 5000, "hostID": 0, "size": 1}]} | .linux.gidMappings = .linux.uidMappings' "$BUNDLE/config.json" >"$DIR/new"
    cp "$DIR/new" "$BUNDLE/config.json"
    guarded '"user": { "root": "deny" }'
    becomes '{"user":{"uid":0}}'
    refused 'root on this host' '{"user":{"uid":5000}}'
}

@test "an exec has no more than its container: privileged is denied" {
    as_root
    guarded '"privileged": "deny"'
    refused 'more than its container' '{"capabilities":{"bounding":["CAP_KILL","CAP_SYS_ADMIN"]}}'
    refused 'CAP_SYS_PTRACE' '{"capabilities":{"ambient":["CAP_SYS_PTRACE"]}}'
    refused 'CAP_OF_TOMORROW' '{"capabilities":{"effective":["CAP_OF_TOMORROW"]}}'
    refused 'would be read as "bounding"' '{"capabilities":{"Bounding":["CAP_SYS_ADMIN"]}}'
    becomes '{"capabilities":{"bounding":["CAP_KILL"]}}'
    becomes '{}'
}

@test "what security takes away from a container, its exec does not get either" {
    as_root
    guarded '"privileged": "deny", "capabilities": { "max": ["CHOWN", "SETUID"], "drop": ["SETUID"] }, "no_new_privileges": true'
    [ "$(becomes '{"capabilities":{"bounding":["CAP_CHOWN","CAP_KILL","CAP_SETUID"],"effective":["CAP_KILL"]}}')" = \
        '{"capabilities":{"bounding":["CAP_CHOWN"],"effective":[]},"noNewPrivileges":true,"env":["DATA=/work/imagenet"]}' ] ||
        { cat "$DIR/process.json" && false; }
    [ "$(becomes '{"noNewPrivileges":false}' | jq .noNewPrivileges)" = true ]
}

@test "a permissive policy refuses no exec, and takes away what it takes away" {
    as_root
    sed -i 's|"version": 1,|& "mode": "permissive",|' "$DIR/policy.json"
    guarded '"user": { "root": "deny" }, "privileged": "deny", "capabilities": { "drop": ["KILL"] }'
    [ "$(becomes '{"user":{"uid":0},"capabilities":{"bounding":["CAP_KILL","CAP_SYS_ADMIN"]}}' | jq -c .capabilities.bounding)" = '["CAP_SYS_ADMIN"]' ]
}

@test "the rules are those of the profile that counted, and of each flatbed-runtime before" {
    as_root
    sed -i 's|"version": 1,|& "profiles": [ { "name": "staff", "match": { "uid": ["1000"] }, "security": { "user": { "root": "allow" } } } ],|' "$DIR/policy.json"
    guarded '"user": { "root": "deny" }'
    becomes '{"user":{"uid":0}}'
    printf '#!/bin/sh\nexec %s --flatbed-policy=%s/policy.json --flatbed-runtime=%s/low "$@"\n' \
        "$FLATBED_RUNTIME" "$DIR" "$DIR" >"$DIR/wrapper"
    chmod 0755 "$DIR/wrapper"
    sed 's|"volumes"|"security": { "user": { "root": "deny" } }, &|; s|"profiles".*||; s|"security".*"volumes"|"security": { "user": { "root": "deny" } }, "volumes"|' "$DIR/policy.json" >"$DIR/outer.json"
    chmod 0644 "$DIR/outer.json"
    run "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/outer.json" "--flatbed-runtime=$DIR/wrapper" --root "$DIR/root" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    refused 'outer.json' '{"user":{"uid":0}}'
}

@test "no container starts whose exec could not be held to rules" {
    as_root
    sed -i 's|"volumes"|"security": { "no_new_privileges": true }, &|' "$DIR/policy.json"
    local before
    before=$(cat "$BUNDLE/config.json")
    run shim --root root create --bundle "$BUNDLE" c1
    [ "$status" -eq 1 ]
    [[ "$output" = *"--root root is relative"* ]]
    [ "$(cat "$BUNDLE/config.json")" = "$before" ]
}

@test "a name too long to keep anything under: exec passes, and no container with rules starts" {
    as_root
    local long
    long=$(printf 'c%.0s' $(seq 1 210))
    annotate ""
    sed -i '/"logs"/,/"create"/d; s|"names": \["imagenet"\],|"names": ["imagenet"]|; s|"env": { "DATA": "{target}" } },|}|' "$DIR/policy.json"
    run shim --root "$DIR/root" create --bundle "$BUNDLE" "$long"
    [ "$status" -eq 7 ] || { echo "$output" && false; }
    [ "$(execs '{"env":["P=1"]}' "$long")" = '["P=1"]' ]
    sed -i 's|"volumes"|"security": { "no_new_privileges": true }, &|' "$DIR/policy.json"
    run shim --root "$DIR/root" create --bundle "$BUNDLE" "$long"
    [ "$status" -eq 1 ]
    [[ "$output" = *"cannot be kept"* ]] || { echo "$output" && false; }
}

@test "a refused exec is written down" {
    as_root
    sed -i "s|\"version\": 1,|& \"audit\": { \"file\": \"$DIR/log/audit.jsonl\" },|" "$DIR/policy.json"
    mkdir -m 0755 "$DIR/log"
    guarded '"user": { "root": "deny" }'
    refused 'root on this host' '{}'
    [ "$(tail -n 1 "$DIR/log/audit.jsonl" | jq -r '.command, .container, .verdict')" = $'exec\nc1\ndenied' ] ||
        { cat "$DIR/log/audit.jsonl" && false; }
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

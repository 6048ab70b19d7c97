#!/usr/bin/env bats
# flatbed-runtime: exec gets the environment that create added, and the rules of the container.

load ../lib/shim

# The state of the containers in these tests, whose --root is $DIR/root.
state_directory() { echo "/run/flatbed/state/$(sed 's|/|%2F|g' <<<"$DIR/root")"; }

teardown() {
    forget
    rm -rf --one-file-system "$(state_directory)" "$DIR"
}

# made [WORDS…]: creates a container c1 with --root $DIR/root, which has the variable DATA.
made() {
    run shim "$@" --root "$DIR/root" create --bundle "$BUNDLE" c1
    mkdir -p "$DIR/root/c1" # as a low-level runtime does
}

# execs PROCESS_JSON [ID]: prints the environment that the runtime is given, as one line. The file stays as it was.
execs() {
    echo "$1" >"$DIR/process.json"
    run shim --root "$DIR/root" exec --process "$DIR/process.json" --detach "${2-c1}"
    [ "$status" -eq 7 ]
    [ "$(sed 's|^/proc/self/fd/[0-9]*$|FILE|' "$DIR/low.words")" = \
        "$(printf '%s\n' "$DIR/low" --root "$DIR/root" exec --process "${3-FILE}" --detach "${2-c1}")" ]
    [ "$(cat "$DIR/process.json")" = "$1" ]
    gojq -c .env "$DIR/low.process"
}

@test "exec gets the variables that create added" {
    as_root
    made
    [ "$(execs '{"args":["x"],"env":["P=1"]}')" = '["P=1","DATA=/work/imagenet"]' ]
    [ "$(execs '{"args":["x"]}')" = '["DATA=/work/imagenet"]' ]
    [ "$(execs '{"args":["x"],"env":null}')" = '["DATA=/work/imagenet"]' ]
}

@test "a variable set by exec is kept" {
    as_root
    made
    [ "$(execs '{"env":["DATA=/mine"]}')" = '["DATA=/mine"]' ]
    [ "$(execs '{"env":["DATA="]}')" = '["DATA="]' ]
}

@test "a variable set by the container is not added to exec" {
    as_root
    sed -i 's|"A=1"|"DATA=/mine"|' "$BUNDLE/config.json"
    made
    [ "$(execs '{"env":["P=1"]}')" = '["P=1"]' ]
}

@test "a container with another name or --root gets nothing" {
    as_root
    made
    [ "$(execs '{"env":["P=1"]}' c2 "$DIR/process.json")" = '["P=1"]' ]
    echo '{"env":["P=1"]}' >"$DIR/process.json"
    run shim --root "$DIR" exec --process "$DIR/process.json" c1
    [ "$(gojq -c .env "$DIR/low.process")" = '["P=1"]' ]
    run shim --root root exec --process "$DIR/process.json" c1
    [ "$(gojq -c .env "$DIR/low.process")" = '["P=1"]' ]
}

@test "the process file stays as it is, and the runtime reads a copy of what was judged" {
    as_root
    made
    local before
    echo '{"env":[]}' >"$DIR/process.json"
    before=$(stat -c '%i %y' "$DIR/process.json")
    run shim --root "$DIR/root" exec "--process=$DIR/process.json" c1
    [ "$status" -eq 7 ]
    [ "$(stat -c '%i %y' "$DIR/process.json")" = "$before" ]
    # Behind "=" as well; and in the runtime's way is no low number (--preserve-fds).
    grep -qE '^--process=/proc/self/fd/[0-9]{3,}$' "$DIR/low.words"
}

@test "an exec without rules never fails: missing file, invalid file" {
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
        cmp "$DIR/process.json" "$DIR/low.process"
    done
    for text in '{"env":{}}' '{"env":[1]}'; do
        echo "$text" >"$(state_directory)/c1.json"
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

@test "a damaged state, or one not owned by root, stops an exec, because it may contain rules" {
    as_root
    made
    local text
    for text in '' '{' '[]' '{}' '{"rules":1}' '{"rules":{"root":1}}' '{"rules":{"privileged":{}}}'; do
        echo "$text" >"$(state_directory)/c1.json"
        refused '' '{"env":["P=1"]}'
    done
    echo '{"env":["EVIL=1"]}' >"$(state_directory)/c1.json"
    chmod 0666 "$(state_directory)/c1.json"
    refused 'cannot be read' '{"env":["P=1"]}'
}

# guarded SECURITY: a policy with this section, and a container of user 1000 with two capabilities.
guarded() {
    sed -i "s|\"volumes\"|\"security\": { $1 }, &|" "$DIR/policy.json"
    gojq -c '.process.user.uid = 1000 | .linux.seccomp.defaultAction = "SCMP_ACT_ERRNO" |
        .process.capabilities = {"bounding": ["CAP_CHOWN", "CAP_KILL"], "effective": ["CAP_KILL"]}' \
        "$BUNDLE/config.json" >"$DIR/new" && cp "$DIR/new" "$BUNDLE/config.json"
    made
    [ "$status" -eq 7 ] || { echo "$output" && false; }
}

# becomes PROCESS_JSON: prints the process that the runtime is given for it.
becomes() {
    execs "$1" >/dev/null
    gojq -c . "$DIR/low.process"
}

@test "an exec as root is refused where the container may not run as root" {
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
    refused ': by CAP_DAC_READ_SEARCH (reads all files' '{"user":{"uid":1001},"capabilities":{"ambient":["CAP_DAC_READ_SEARCH"]}}'
    refused ': by CAP_MKNOD' '{"user":{"uid":1001},"capabilities":{"ambient":["CAP_KILL","CAP_MKNOD"]}}'
    refused ': by CAP_OF_TOMORROW' '{"user":{"uid":1001},"capabilities":{"ambient":["CAP_OF_TOMORROW"]}}'
    becomes '{"user":{"uid":1001},"capabilities":{"bounding":["CAP_SETUID"],"ambient":["CAP_KILL"]}}'
}

@test "an exec that asks for a realtime priority is refused where the container may not have one" {
    as_root
    guarded '"realtime": "deny"'
    refused 'security.realtime: the process could run before all others of this host (' '{"rlimits":[{"type":"RLIMIT_RTPRIO","soft":1,"hard":1}]}'
    refused 'policy.json:4): RLIMIT_NICE above 20' '{"rlimits":[{"type":"RLIMIT_NICE","soft":0,"hard":40}]}'
    refused 'process.scheduler' '{"scheduler":{"policy":"SCHED_FIFO","priority":1}}'
    refused 'process.ioPriority' '{"ioPriority":{"class":"IOPRIO_CLASS_RT"}}'
    becomes '{"rlimits":[{"type":"RLIMIT_NOFILE","soft":1,"hard":1}],"scheduler":{"policy":"SCHED_IDLE"}}'
}

@test "an exec with a group that is not its user's is refused, and supplementary ones are taken away" {
    as_root
    gojq -c '.process.user.gid = 7777001' "$BUNDLE/config.json" >"$DIR/new"
    cp "$DIR/new" "$BUNDLE/config.json"
    low_level "$DIR/low" runc 1.3.0
    guarded '"user": { "groups": "own" }'
    refused 'the group 42' '{"user":{"uid":7777001,"gid":42}}'
    refused 'the group 0 (root), which is' '{"user":{"uid":7777001}}'
    [ "$(becomes '{"user":{"uid":7777001,"gid":7777001,"additionalGids":[6,7777002,0]}}' | gojq -c '{user}')" = \
        '{"user":{"additionalGids":[7777002],"gid":7777001,"uid":7777001}}' ]
}

@test "an exec without a process file is refused, and the message names the option that is not known" {
    as_root
    guarded '"user": { "root": "deny" }'
    run shim --root "$DIR/root" exec c1 id
    [ "$status" -eq 1 ]
    [[ $output == *"needs its process as a file: write exec --process FILE ID, or use the engine's exec"* ]]
    echo '{"user":{"uid":1000}}' >"$DIR/process.json"
    run shim --root "$DIR/root" exec "--proc=$DIR/process.json" c1
    [ "$status" -eq 1 ]
    [[ $output == *"the option '--proc=$DIR/process.json' is not known"*"write exec --process FILE ID"* ]]
    run shim --root "$DIR/root" exec -dp "$DIR/process.json" c1
    [ "$status" -eq 1 ]
    [[ $output == *"'-dp' is not known"*"write exec --process FILE ID"* ]]
}

@test "an exec loses a dropped capability that would make it root" {
    as_root
    guarded '"user": { "root": "deny" }, "capabilities": { "drop": ["SETUID"] }'
    refused ': by CAP_CHOWN' '{"user":{"uid":1001},"capabilities":{"ambient":["CAP_SETUID","CAP_CHOWN"]}}'
    becomes '{"user":{"uid":1001},"capabilities":{"ambient":["CAP_SETUID"]}}' >/dev/null
    [ "$(gojq -c .capabilities.ambient "$DIR/low.process")" = '[]' ]
}

@test "root in a user namespace is not root on the host" {
    as_root
    gojq -c '.linux = {"namespaces": [{"type": "user"}], "uidMappings": [{"containerID": 0, "hostID": 100000, "size": 2000}]} |
        .linux.gidMappings = .linux.uidMappings' "$BUNDLE/config.json" >"$DIR/new"
    cp "$DIR/new" "$BUNDLE/config.json"
    guarded '"user": { "root": "deny" }'
    becomes '{"user":{"uid":0}}'
}

@test "an exec has no more privileges than its container: privileged is denied" {
    as_root
    guarded '"privileged": "deny"'
    refused 'more than its container' '{"capabilities":{"bounding":["CAP_KILL","CAP_SYS_ADMIN"]}}'
    refused 'CAP_SYS_PTRACE' '{"capabilities":{"ambient":["CAP_SYS_PTRACE"]}}'
    refused 'CAP_OF_TOMORROW' '{"capabilities":{"effective":["CAP_OF_TOMORROW"]}}'
    refused 'would be read as "bounding"' '{"capabilities":{"Bounding":["CAP_SYS_ADMIN"]}}'
    becomes '{"capabilities":{"bounding":["CAP_KILL"]}}'
    becomes '{}'
}

@test "security takes the same privileges from an exec as from its container" {
    as_root
    guarded '"privileged": "deny", "capabilities": { "max": ["CHOWN", "SETUID"], "drop": ["SETUID"] }, "no_new_privileges": true'
    [ "$(becomes '{"capabilities":{"bounding":["CAP_CHOWN","CAP_KILL","CAP_SETUID"],"effective":["CAP_KILL"]}}')" = \
        '{"capabilities":{"bounding":["CAP_CHOWN"],"effective":[]},"env":["DATA=/work/imagenet"],"noNewPrivileges":true}' ] ||
        { cat "$DIR/low.process" && false; }
    [ "$(becomes '{"noNewPrivileges":false}' | gojq .noNewPrivileges)" = true ]
}

@test "a permissive policy refuses no exec, and still takes privileges away" {
    as_root
    sed -i 's|"version": 1,|& "mode": "permissive",|' "$DIR/policy.json"
    guarded '"user": { "root": "deny" }, "privileged": "deny", "capabilities": { "drop": ["KILL"] }'
    [ "$(becomes '{"user":{"uid":0},"capabilities":{"bounding":["CAP_KILL","CAP_SYS_ADMIN"]}}' | gojq -c .capabilities.bounding)" = '["CAP_SYS_ADMIN"]' ]
}

@test "exec follows the rules of the profile in force, and of each earlier flatbed-runtime" {
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

@test "a container whose rules cannot be stored for exec does not start" {
    as_root
    sed -i 's|"volumes"|"security": { "no_new_privileges": true }, &|' "$DIR/policy.json"
    local before
    before=$(cat "$BUNDLE/config.json")
    run shim --root root create --bundle "$BUNDLE" c1
    [ "$status" -eq 1 ]
    [[ "$output" = *"--root root is relative"* ]]
    [ "$(cat "$BUNDLE/config.json")" = "$before" ]
}

@test "with a name too long for a state file, exec passes and a container with rules does not start" {
    as_root
    local long
    long=$(printf 'c%.0s' $(seq 1 210))
    annotate ""
    sed -i '/"logs"/,/"create"/d; s|"names": \["imagenet"\],|"names": ["imagenet"]|; s|"env": { "DATA": "{target}" } },|}|' "$DIR/policy.json"
    run shim --root "$DIR/root" create --bundle "$BUNDLE" "$long"
    [ "$status" -eq 7 ] || { echo "$output" && false; }
    [ "$(execs '{"env":["P=1"]}' "$long" "$DIR/process.json")" = '["P=1"]' ]
    sed -i 's|"volumes"|"security": { "no_new_privileges": true }, &|' "$DIR/policy.json"
    run shim --root "$DIR/root" create --bundle "$BUNDLE" "$long"
    [ "$status" -eq 1 ]
    [[ "$output" = *"cannot be kept"* ]] || { echo "$output" && false; }
}

@test "a permissive policy refuses no exec for its process file" {
    as_root
    sed -i 's|"version": 1,|& "mode": "permissive",|' "$DIR/policy.json"
    guarded '"no_new_privileges": true'
    local text
    for text in '' '{' '{"user":{"uid":"x"}}' '{"User":{"uid":0}}'; do
        echo "$text" >"$DIR/process.json"
        run shim --root "$DIR/root" exec -p "$DIR/process.json" c1
        [ "$status" -eq 7 ]
        [ "$(cat "$DIR/low.process")" = "$text" ]
    done
    run shim --root "$DIR/root" exec -p /nonexistent c1
    [ "$status" -eq 7 ]
    [ "$(becomes '{}' | gojq .noNewPrivileges)" = true ]
    # Together with a policy that is enforced, the file is needed.
    printf '#!/bin/sh\nexec %s --flatbed-policy=%s/inner.json --flatbed-runtime=%s/low "$@"\n' \
        "$FLATBED_RUNTIME" "$DIR" "$DIR" >"$DIR/wrapper"
    chmod 0755 "$DIR/wrapper"
    sed 's|"mode": "permissive",||' "$DIR/policy.json" >"$DIR/inner.json"
    chmod 0644 "$DIR/inner.json"
    made "--flatbed-runtime=$DIR/wrapper"
    refused '' '{'
}

@test "a process file that is a pipe or a link is read once; what is refused reaches no runtime" {
    as_root
    guarded '"user": { "root": "deny" }'
    run shim --root "$DIR/root" exec -p /dev/stdin c1 < <(echo '{"user":{"uid":1001}}')
    [ "$status" -eq 7 ]
    [ "$(gojq -c . "$DIR/low.process")" = '{"env":["DATA=/work/imagenet"],"user":{"uid":1001}}' ]
    rm "$DIR/low.words"
    run shim --root "$DIR/root" exec -p /dev/stdin c1 < <(echo '{"user":{"uid":0}}')
    [ "$status" -eq 1 ]
    [[ $output = *"root on this host"* ]]
    [ ! -e "$DIR/low.words" ]
    echo '{"user":{"uid":0}}' >"$DIR/real.json"
    ln -s real.json "$DIR/link.json"
    run shim --root "$DIR/root" exec -p "$DIR/link.json" c1
    [ "$status" -eq 1 ]
    [ ! -e "$DIR/low.words" ]
    echo '{"user":{"uid":7}}' >"$DIR/real.json"
    run shim --root "$DIR/root" exec -p "$DIR/link.json" c1
    [ "$(gojq -c .user "$DIR/low.process")" = '{"uid":7}' ]
    [ -L "$DIR/link.json" ]
}

@test "an exec follows the rules by each name of --root" {
    as_root
    guarded '"user": { "root": "deny" }'
    ln -s . "$DIR/self"
    ln -s root "$DIR/link"
    echo '{"user":{"uid":0}}' >"$DIR/process.json"
    cd "$DIR"
    local root
    for root in "$DIR//root/" "$DIR/./root" "$DIR/self/root" "$DIR/link" root ./root link; do
        rm -f "$DIR/low.words"
        run shim --root "$root" exec -p "$DIR/process.json" c1
        [ "$status" -eq 1 ] || { echo "$root" && false; }
        [ ! -e "$DIR/low.words" ]
    done
    # The names of the default: both runtimes have one.
    local id=names-$$
    run shim create --bundle "$BUNDLE" "$id"
    for root in /run/runc /run//crun/; do
        run shim --root "$root" exec -p "$DIR/process.json" "$id"
        [ "$status" -eq 1 ] || { echo "$root" && false; }
    done
    run shim --root /run/runc delete "$id"
    [ ! -e "/run/flatbed/state/default/$id.json" ]
    rm -r "$DIR/root"
    run shim --root "$DIR/self//root" delete c1
    [ ! -e "$(state_directory)/c1.json" ]
    run shim --root "$DIR/self//root/" create --bundle "$BUNDLE" c1 # the directory is not there yet
    [ -e "$(state_directory)/c1.json" ]
    run shim --root "$DIR/root" delete c1
    [ ! -e "$(state_directory)/c1.json" ]
}

@test "a refused exec is audited" {
    as_root
    sed -i "s|\"version\": 1,|& \"audit\": { \"file\": \"$DIR/log/audit.jsonl\" },|" "$DIR/policy.json"
    mkdir -m 0755 "$DIR/log"
    guarded '"user": { "root": "deny" }'
    refused 'root on this host' '{}'
    [ "$(tail -n 1 "$DIR/log/audit.jsonl" | gojq -r '.command, .container, .verdict')" = $'exec\nc1\ndenied' ] ||
        { cat "$DIR/log/audit.jsonl" && false; }
}

@test "an exec works with a policy that became invalid since create" {
    as_root
    made
    echo '{' >"$DIR/policy.json"
    echo '{"env":[]}' >"$DIR/process.json"
    run shim "--flatbed-runtime=$DIR/low" --root "$DIR/root" exec -p "$DIR/process.json" c1
    [ "$status" -eq 7 ]
    [ "$(gojq -c .env "$DIR/low.process")" = '["DATA=/work/imagenet"]' ]
}

@test "state is owned by root, removed by delete with the container, and replaced by the next container" {
    as_root
    made
    [ "$(stat -c '%a %u' "$(state_directory)/c1.json")" = '600 0' ]
    [ "$(stat -c '%a %u' "$(state_directory)")" = '700 0' ]
    run shim --root "$DIR/root" delete c1
    [ "$status" -eq 7 ]
    [ -e "$(state_directory)/c1.json" ] # the runtime refused, and has it still
    rmdir "$DIR/root/c1"
    run shim --root "$DIR/root" delete --force c1
    [ ! -e "$(state_directory)/c1.json" ]
    run shim --root "$DIR/root" delete c1
    [ "$status" -eq 7 ]
    made
    config "$BUNDLE"
    annotate ""
    made
    [ "$(gojq -c '[.env, .made[].subject]' "$(state_directory)/c1.json")" = '[null,"logs"]' ]
    sed -i '/"logs"/,/}/d' "$DIR/policy.json"
    sed -i 's|"env": { "DATA": "{target}" } },|"env": { "DATA": "{target}" } }|' "$DIR/policy.json"
    config "$BUNDLE"
    annotate ""
    made
    [ ! -e "$(state_directory)/c1.json" ]
}

@test "names cannot lead outside the state directory" {
    as_root
    run shim --root "$DIR/root" create --bundle "$BUNDLE" ../../c1
    [ "$status" -ne 7 ] || [ -e "$(state_directory)/%2E.%2F..%2Fc1.json" ]
    [ ! -e /run/flatbed/c1.json ]
}

@test "two stacked wrappers and a second edit keep the variables of the first edit" {
    as_root
    printf '#!/bin/sh\nexec %s --flatbed-policy=%s/policy.json --flatbed-runtime=%s/low "$@"\n' \
        "$FLATBED_RUNTIME" "$DIR" "$DIR" >"$DIR/wrapper"
    chmod 0755 "$DIR/wrapper"
    made "--flatbed-runtime=$DIR/wrapper"
    [ "$(execs '{"env":[]}')" = '["DATA=/work/imagenet"]' ]
    made
    [ "$(execs '{"env":[]}')" = '["DATA=/work/imagenet"]' ]
}

# spelt FLAVOR WORDS…: runs "exec WORDS" over a runtime of that flavor; PROCESS stands for the process file.
spelt() {
    low_level "$DIR/low" "$1"
    shift
    rm -f "$DIR/low.words"
    run --separate-stderr shim --root "$DIR/root" exec "${@//PROCESS/$DIR/process.json}"
}

@test "an exec is judged in each spelling that its runtime accepts" {
    as_root
    guarded '"user": { "root": "deny" }'
    ln -s process.json "$DIR/=process.json"
    cd "$DIR"
    local words
    echo '{"user":{"uid":0}}' >"$DIR/process.json"
    for words in "-p=PROCESS" "-process PROCESS" "-process=PROCESS" "--p PROCESS"; do
        # shellcheck disable=SC2086
        spelt runc $words c1
        [ "$status" -eq 1 ] && [[ "$stderr" = *"root on this host"* ]] && ! called || { echo "runc $words: $stderr" && false; }
    done
    for words in -pPROCESS "-dp PROCESS" -dpPROCESS "--tty=x -p PROCESS" "-t -pPROCESS" "-p=process.json"; do
        # shellcheck disable=SC2086
        spelt crun $words c1
        [ "$status" -eq 1 ] && [[ "$stderr" = *"root on this host"* ]] && ! called || { echo "crun $words: $stderr" && false; }
    done
    echo '{"user":{"uid":1001}}' >"$DIR/process.json"
    spelt runc -p=PROCESS c1
    [ "$status" -eq 7 ]
    grep -qE '^-p=/proc/self/fd/[0-9]+$' "$DIR/low.words"
    spelt crun -dpPROCESS c1
    [ "$status" -eq 7 ]
    grep -qE '^-dp/proc/self/fd/[0-9]+$' "$DIR/low.words"
}

@test "an exec in doubt is refused, and the message says what to write" {
    as_root
    guarded '"user": { "root": "deny" }'
    echo '{"user":{"uid":1001}}' >"$DIR/process.json"
    local words
    for words in "--new-option -p process.json c1" "-dp process.json c1" "-p PROCESS --log l c1" "-p PROCESS ./c1" "-p"; do
        # shellcheck disable=SC2086
        spelt runc $words
        [ "$status" -eq 1 ] && ! called || { echo "runc $words" && false; }
        [[ "$stderr" = *"as in: exec --detach --process FILE ID"* ]] || { echo "$stderr" && false; }
    done
    spelt crun --proc PROCESS c1 # --process or --process-label
    [ "$status" -eq 1 ] && ! called
    # Nothing is refused where nothing is judged.
    sed -i 's|"version": 1,|& "mode": "off",|' "$DIR/policy.json"
    spelt runc -dp PROCESS c1
    [ "$status" -eq 7 ]
}

@test "an exec without a process file is refused where the container has rules" {
    as_root
    guarded '"no_new_privileges": true'
    local words
    for words in "c1 sh" "--user 0 c1 sh" "-d --cap CAP_SYS_ADMIN c1 sh" "--no-new-privs=false c1 sh"; do
        # shellcheck disable=SC2086
        spelt runc $words
        [ "$status" -eq 1 ] && ! called || { echo "$words" && false; }
        [[ "$stderr" = *"write exec --process FILE ID"* ]] || { echo "$stderr" && false; }
    done
    spelt crun -tpPROCESS c1 sh # crun reads --tty=pPROCESS
    [ "$status" -eq 1 ] && ! called
    spelt runc c2 sh
    [ "$status" -eq 7 ]
    sed -i 's|"rules":{|&"permissive":true,|' "$(state_directory)/c1.json"
    spelt runc c1 sh
    [ "$status" -eq 7 ]
}

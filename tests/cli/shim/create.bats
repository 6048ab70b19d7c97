#!/usr/bin/env bats
# flatbed-runtime: calls passed on, runtimes found, config.json edited.

load lib/shim

# ------------------------------------------------------------------ passing on

@test "words, exit status and streams of the low-level runtime are passed on" {
    run --separate-stderr shim --root /r state --odd '' 'a b' $'new\nline' '*'
    [ "$status" -eq 7 ]
    [ "$output" = out ]
    [ "$stderr" = err ]
    called_with --root /r state --odd '' 'a b' $'new\nline' '*'
}

@test "a call without a command is passed on too" {
    run --separate-stderr shim
    [ "$status" -eq 7 ]
    called_with
}

@test "the low-level runtime is executed in the same process, with its descriptors, signals and umask" {
    printf '#!/bin/sh\necho $$; umask; grep SigIgn /proc/self/status; echo five >&5; ls /proc/self/fd | wc -l\n' >"$DIR/low"
    exec 5>"$DIR/five"
    (
        umask 027
        trap '' USR1
        exec "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    ) >"$DIR/out" &
    local pid=$!
    wait $pid
    (
        umask 027
        trap '' USR1
        exec sh "$DIR/low"
    ) >"$DIR/direct"
    exec 5>&-
    [ "$(sed -n 1p "$DIR/out")" = $pid ]
    diff <(sed 1d "$DIR/out") <(sed 1d "$DIR/direct")
    [ "$(cat "$DIR/five")" = $'five\nfive' ]
}

@test "the environment is passed on, with a depth added" {
    LISTEN_FDS=2 run shim state c1
    grep -qx LISTEN_FDS=2 "$DIR/low.env"
    grep -qx FLATBED_DEPTH=1 "$DIR/low.env"
}

@test "options of flatbed-runtime are removed only before the command" {
    run shim state c1 --flatbed-policy=x
    called_with state c1 --flatbed-policy=x
}

@test "an unknown option that starts with --flatbed is refused" {
    run --separate-stderr "$FLATBED_RUNTIME" --flatbed-polcy=x state c1
    refused "unknown option '--flatbed-polcy=x'"
}

@test "--flatbed-runtime overrides the policy's runtime" {
    low_level "$DIR/other" runc
    run shim "--flatbed-runtime=$DIR/other" state c1
    [ -e "$DIR/other.words" ]
    run ! called
}

@test "--flatbed-version prints the version of flatbed-runtime" {
    run --separate-stderr shim --flatbed-version
    [ "$status" -eq 0 ]
    [[ $output == flatbed-runtime\ * ]]
    [ -z "$stderr" ]
}

@test "--version and features are answered by the low-level runtime" {
    run --separate-stderr shim --version
    [ "$output" = "runc version 1.0" ]
    [ "$stderr" = "spec: 1.0.2" ]
    run --separate-stderr shim features
    [ "$output" = out ]
}

# ------------------------------------------------------------------ finding the low-level runtime

@test "the first existing runtime of the list is used" {
    sed -i "s|\[\"$DIR/low\"\]|[\"/nonexistent/x\", \"no-such-runtime\", \"$DIR/low\"]|" "$DIR/policy.json"
    run shim state c1
    called_with state c1
}

@test "a file that is not executable, a directory and flatbed-runtime itself are skipped" {
    cp "$DIR/low" "$DIR/plain"
    chmod 0644 "$DIR/plain"
    ln -s "$FLATBED_RUNTIME" "$DIR/self"
    sed -i "s|\[\"$DIR/low\"\]|[\"$DIR/plain\", \"$DIR\", \"$DIR/self\", \"$DIR/low\"]|" "$DIR/policy.json"
    run shim state c1
    called_with state c1
}

@test "a missing runtime is an error that lists the paths tried" {
    ln -s "$FLATBED_RUNTIME" "$DIR/self"
    sed -i "s|\[\"$DIR/low\"\]|[\"$DIR/none\", \"$DIR/self\"]|" "$DIR/policy.json"
    run --separate-stderr shim state c1
    refused "$DIR/none \(not found\), $DIR/self \(is flatbed-runtime itself\)"
}

@test "a wrapper that starts flatbed-runtime again is stopped" {
    printf '#!/bin/sh\necho again >>%s/count\nexec %s --flatbed-policy=%s/policy.json "$@"\n' \
        "$DIR" "$FLATBED_RUNTIME" "$DIR" >"$DIR/low"
    run --separate-stderr shim state c1
    refused "was started 4 times by itself"
    [ "$(wc -l <"$DIR/count")" -eq 4 ]
}

@test "PATH is not searched for the runtime" {
    low_level "$DIR/runc" runc
    sed -i "s|\"$DIR/low\"|\"no-such-runtime\"|" "$DIR/policy.json"
    cp "$DIR/runc" "$DIR/no-such-runtime"
    PATH=$DIR:$PATH run --separate-stderr shim state c1
    refused "no-such-runtime \(not found\)"
}

# ------------------------------------------------------------------ editing

@test "create adds mounts and variables, makes directories, and prints nothing" {
    run --separate-stderr shim --log "$DIR/log" --log-format json create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$output" = out ]
    [ "$stderr" = err ]
    [ ! -e "$DIR/log" ]
    called_with --log "$DIR/log" --log-format json create --bundle "$BUNDLE" c1
    [ "$(gojq -c '[.mounts[].destination]' "$DIR/low.config")" = '["/proc","/logs","/work/imagenet"]' ]
    [ "$(gojq -c '.mounts[1].options' "$DIR/low.config")" = '["rbind","rw","rprivate","nosuid","nodev"]' ]
    [ "$(gojq -r '.mounts[1].source' "$DIR/low.config")" = "$DIR/srv/logs/c1" ]
    [ "$(gojq -c .process.env "$DIR/low.config")" = '["A=1","DATA=/work/imagenet"]' ]
    [ "$(stat -c '%a %u:%g' "$DIR/srv/logs/c1")" = "750 0:0" ]
    grep -q 18446744073709551615 "$DIR/low.config"
}

@test "run and restore edit as well; start, kill and state do not" {
    local command before
    for command in run restore; do
        config "$BUNDLE"
        run shim $command --bundle "$BUNDLE" c1
        [ "$(gojq '.mounts | length' "$DIR/low.config")" = 3 ]
    done
    config "$BUNDLE"
    before=$(sha256sum <"$BUNDLE/config.json")
    for command in start kill state delete exec; do
        run shim $command --bundle "$BUNDLE" c1
        untouched "$before"
    done
}

@test "a second edit changes nothing, including the times of the file" {
    local before
    run shim create --bundle "$BUNDLE" c1
    before=$(sha256sum <"$BUNDLE/config.json"; stat -c '%i %y' "$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$(sha256sum <"$BUNDLE/config.json"; stat -c '%i %y' "$BUNDLE/config.json")" = "$before" ]
}

@test "two stacked wrappers edit once" {
    printf '#!/bin/sh\nexec %s --flatbed-policy=%s/policy.json --flatbed-runtime=%s/low "$@"\n' \
        "$FLATBED_RUNTIME" "$DIR" "$DIR" >"$DIR/wrapper"
    chmod 0755 "$DIR/wrapper"
    run shim "--flatbed-runtime=$DIR/wrapper" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    grep -qx FLATBED_DEPTH=2 "$DIR/low.env"
    [ "$(gojq '.mounts | length' "$DIR/low.config")" = 3 ]
    [ "$(gojq '.process.env | length' "$DIR/low.config")" = 2 ]
}

@test "a config.json without requests is unchanged byte for byte" {
    local before
    sed -i '/"logs"/,/create/d; s|"env": { "DATA": "{target}" } },|"env": { "DATA": "{target}" } }|' "$DIR/policy.json"
    annotate ""
    before=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    untouched "$before"
}

@test "mode, owner and the other files of the directory are kept" {
    chmod 0604 "$BUNDLE/config.json"
    [ "$(id -u)" -ne 0 ] || chown 12:34 "$BUNDLE/config.json"
    local owner
    owner=$(stat -c '%a %u:%g' "$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$(stat -c '%a %u:%g' "$BUNDLE/config.json")" = "$owner" ]
    [ "$(ls -A "$BUNDLE")" = config.json ]
}

@test "without --bundle, the working directory is the bundle" {
    cd "$BUNDLE"
    run shim create c1
    [ "$(gojq '.mounts | length' "$DIR/low.config")" = 3 ]
}

@test "a relative bundle is resolved in the working directory, which does not change" {
    printf '#!/bin/sh\npwd >%s/pwd\n' "$DIR" >"$DIR/low"
    cd "$DIR"
    run shim create --bundle bundle c1
    [ "$(cat "$DIR/pwd")" = "$DIR" ]
    [ "$(gojq '.mounts | length' "$BUNDLE/config.json")" = 3 ]
}

@test "--config of crun replaces config.json; the runtime is asked whether it is crun" {
    low_level "$DIR/low" crun
    mkdir "$DIR/elsewhere"
    config "$DIR/elsewhere"
    run shim create --bundle "$BUNDLE" --config "$DIR/elsewhere/config.json" c1
    [ "$status" -eq 7 ]
    [ "$(gojq '.mounts | length' "$DIR/elsewhere/config.json")" = 3 ]
    [ "$(gojq '.mounts | length' "$BUNDLE/config.json")" = 1 ]
}

@test "an ambiguous command line needs the flavour from the policy or from --version" {
    printf '#!/bin/sh\necho kata 3\n' >"$DIR/low"
    run --separate-stderr shim create "-b=$BUNDLE" c1
    refused "says neither runc nor crun"
    sed -i 's|"paths"|"flavor": "runc", "paths"|' "$DIR/policy.json"
    run shim create "-b=$BUNDLE" c1
    [ "$status" -eq 0 ]
    [ "$(gojq '.mounts | length' "$BUNDLE/config.json")" = 3 ]
}

@test "a runtime that hangs when asked for its version is given up" {
    printf '#!/bin/sh\nexec sleep 3600\n' >"$DIR/low"
    SECONDS=0
    run --separate-stderr shim create "-b=$BUNDLE" c1
    refused "says neither runc nor crun"
    [ "$SECONDS" -lt 300 ]
}

@test "the pause container of a pod gets no volumes" {
    local before
    sed -i 's|"annotations": {|"annotations": { "io.kubernetes.cri.container-type": "sandbox",|' "$BUNDLE/config.json"
    before=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    untouched "$before"
}


# ------------------------------------------------------------------ called as a hook

@test "the hook reads the state that it is given to its end" {
    # 1 MB does not fit into a pipe: crun takes it for an error if the hook leaves some.
    set -o pipefail
    head -c 1000000 /dev/zero | "$FLATBED_RUNTIME" --flatbed-check-mounts /
}

@test "inherited descriptors are judged where security or binds hold, and nowhere else" {
    run --separate-stderr shim create --preserve-fds=2 --bundle "$BUNDLE" c1 4</
    [ "$status" -eq 7 ]
    sed -i '1a "security": { "privileged": "deny" },' "$DIR/policy.json"
    rm "$DIR/low.words"
    config "$BUNDLE"
    run --separate-stderr shim create --preserve-fds=2 --bundle "$BUNDLE" c1 4</
    refused "the descriptor [34] is"
}

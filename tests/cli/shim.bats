#!/usr/bin/env bats
# flatbed-runtime before a runtime that only notes how it was called: what is passed on, what is
# edited, and what is said when it is not. $FLATBED_RUNTIME is the program.

bats_require_minimum_version 1.5.0

setup() {
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-shim.XXXXXX")
    chmod 0755 "$DIR"
    BUNDLE=$DIR/bundle
    mkdir -p "$BUNDLE" "$DIR/srv/data/imagenet" "$DIR/srv/logs"
    low_level "$DIR/low" runc
    policy
    config "$BUNDLE"
    unset FLATBED_DEPTH
}

teardown() { rm -rf --one-file-system "$DIR"; }

# low_level FILE FLAVOR: notes its words, environment and open descriptors beside itself.
low_level() {
    cat >"$1" <<END
#!/bin/sh
if [ "\$1" = --version ]; then
    echo "$2 version 1.0"
    echo "spec: 1.0.2" >&2
    exit 0
fi
printf '%s\n' "\$0" "\$@" >"$1.words"
env >"$1.env"
ls -l /proc/self/fd >"$1.fds"
cat "$BUNDLE/config.json" >"$1.config" 2>/dev/null
echo out
echo err >&2
exit 7
END
    chmod 0755 "$1"
}

policy() {
    cat >"$DIR/policy.json" <<END
{
  "version": 1,
  "runtime": { "paths": ["$DIR/low"] },
  "volumes": {
    "data": { "source": "$DIR/srv/data/{name}", "target": "/work/{name}", "names": ["imagenet"],
              "env": { "DATA": "{target}" } },
    "logs": { "source": "$DIR/srv/logs/{container}", "target": "/logs", "access": "rw",
              "always": true, "create": { "mode": "0750" } }
  }
}
END
    chmod 0644 "$DIR/policy.json"
}

config() {
    cat >"$1/config.json" <<END
{ "ociVersion": "1.0.2", "process": { "user": { "uid": 0, "gid": 0 }, "env": ["A=1"],
  "rlimits": [ { "type": "RLIMIT_NOFILE", "hard": 18446744073709551615, "soft": 1 } ] },
  "annotations": { "flatbed.data": "imagenet" },
  "mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" } ] }
END
}

# annotate VALUE: what flatbed.data says.
annotate() { sed -i "s|\"flatbed.data\": \"[^\"]*\"|\"flatbed.data\": \"$1\"|" "$BUNDLE/config.json"; }

shim() { "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" "$@"; }

called() { [ -e "$DIR/low.words" ]; }

# The low-level runtime ran with exactly these words.
called_with() {
    printf '%s\n' "$DIR/low" "$@" >"$DIR/expected"
    diff "$DIR/expected" "$DIR/low.words"
}

# refused REGEX: exit 1, nothing on stdout, the message on stderr, nothing called.
refused() {
    # shellcheck disable=SC2154
    echo "status $status, stdout '$output', stderr '$stderr'"
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [[ $stderr =~ $1 ]]
    ! called
}

untouched() { [ "$(sha256sum <"$BUNDLE/config.json")" = "$1" ]; }

# ------------------------------------------------------------------ passing on

@test "words, exit status and streams are the low-level runtime's" {
    run --separate-stderr shim --root /r state --odd '' 'a b' $'new\nline' '*'
    [ "$status" -eq 7 ]
    [ "$output" = out ]
    [ "$stderr" = err ]
    called_with --root /r state --odd '' 'a b' $'new\nline' '*'
}

@test "no command at all is passed on too" {
    run --separate-stderr shim
    [ "$status" -eq 7 ]
    called_with
}

@test "it is an exec: the process stays, and its descriptors, signals and umask" {
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

@test "own options are removed, and only where they come first" {
    run shim state c1 --flatbed-policy=x
    called_with state c1 --flatbed-policy=x
}

@test "an own option that does not exist is refused" {
    run --separate-stderr "$FLATBED_RUNTIME" --flatbed-polcy=x state c1
    refused "unknown option '--flatbed-polcy=x'"
}

@test "--flatbed-runtime overrides the policy's runtime" {
    low_level "$DIR/other" runc
    run shim "--flatbed-runtime=$DIR/other" state c1
    [ -e "$DIR/other.words" ]
    run ! called
}

@test "--flatbed-version is ours" {
    run --separate-stderr shim --flatbed-version
    [ "$status" -eq 0 ]
    [[ $output == flatbed-runtime\ * ]]
    [ -z "$stderr" ]
}

@test "--version and features are the low-level runtime's" {
    run --separate-stderr shim --version
    [ "$output" = "runc version 1.0" ]
    [ "$stderr" = "spec: 1.0.2" ]
    run --separate-stderr shim features
    [ "$output" = out ]
}

# ------------------------------------------------------------------ finding it

@test "the first runtime that exists is taken" {
    sed -i "s|\[\"$DIR/low\"\]|[\"/nonexistent/x\", \"no-such-runtime\", \"$DIR/low\"]|" "$DIR/policy.json"
    run shim state c1
    called_with state c1
}

@test "what is not executable, a folder, or flatbed-runtime itself is passed over" {
    cp "$DIR/low" "$DIR/plain"
    chmod 0644 "$DIR/plain"
    ln -s "$FLATBED_RUNTIME" "$DIR/self"
    sed -i "s|\[\"$DIR/low\"\]|[\"$DIR/plain\", \"$DIR\", \"$DIR/self\", \"$DIR/low\"]|" "$DIR/policy.json"
    run shim state c1
    called_with state c1
}

@test "no runtime at all is an error that says what was looked for" {
    ln -s "$FLATBED_RUNTIME" "$DIR/self"
    sed -i "s|\[\"$DIR/low\"\]|[\"$DIR/none\", \"$DIR/self\"]|" "$DIR/policy.json"
    run --separate-stderr shim state c1
    refused "$DIR/none \(not found\), $DIR/self \(is flatbed-runtime itself\)"
}

@test "a wrapper that leads back here ends" {
    printf '#!/bin/sh\necho again >>%s/count\nexec %s --flatbed-policy=%s/policy.json "$@"\n' \
        "$DIR" "$FLATBED_RUNTIME" "$DIR" >"$DIR/low"
    run --separate-stderr shim state c1
    refused "was started 4 times by itself"
    [ "$(wc -l <"$DIR/count")" -eq 4 ]
}

@test "PATH has no say" {
    low_level "$DIR/runc" runc
    sed -i "s|\"$DIR/low\"|\"no-such-runtime\"|" "$DIR/policy.json"
    cp "$DIR/runc" "$DIR/no-such-runtime"
    PATH=$DIR:$PATH run --separate-stderr shim state c1
    refused "no-such-runtime \(not found\)"
}

# ------------------------------------------------------------------ editing

@test "create adds mounts and variables, makes folders, and says nothing" {
    run --separate-stderr shim --log "$DIR/log" --log-format json create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$output" = out ]
    [ "$stderr" = err ]
    [ ! -e "$DIR/log" ]
    called_with --log "$DIR/log" --log-format json create --bundle "$BUNDLE" c1
    [ "$(jq -c '[.mounts[].destination]' "$DIR/low.config")" = '["/proc","/logs","/work/imagenet"]' ]
    [ "$(jq -c '.mounts[1].options' "$DIR/low.config")" = '["rbind","rw","rprivate","nosuid","nodev"]' ]
    [ "$(jq -r '.mounts[1].source' "$DIR/low.config")" = "$DIR/srv/logs/c1" ]
    [ "$(jq -c .process.env "$DIR/low.config")" = '["A=1","DATA=/work/imagenet"]' ]
    [ "$(stat -c '%a %u:%g' "$DIR/srv/logs/c1")" = "750 0:0" ]
    grep -q 18446744073709551615 "$DIR/low.config"
}

@test "run and restore edit as well; start, kill and state do not" {
    local command before
    for command in run restore; do
        config "$BUNDLE"
        run shim $command --bundle "$BUNDLE" c1
        [ "$(jq '.mounts | length' "$DIR/low.config")" = 3 ]
    done
    config "$BUNDLE"
    before=$(sha256sum <"$BUNDLE/config.json")
    for command in start kill state delete exec; do
        run shim $command --bundle "$BUNDLE" c1
        untouched "$before"
    done
}

@test "a second edit changes nothing, not even the file's time" {
    local before
    run shim create --bundle "$BUNDLE" c1
    before=$(sha256sum <"$BUNDLE/config.json"; stat -c '%i %y' "$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$(sha256sum <"$BUNDLE/config.json"; stat -c '%i %y' "$BUNDLE/config.json")" = "$before" ]
}

@test "stacked on itself it edits once" {
    printf '#!/bin/sh\nexec %s --flatbed-policy=%s/policy.json --flatbed-runtime=%s/low "$@"\n' \
        "$FLATBED_RUNTIME" "$DIR" "$DIR" >"$DIR/wrapper"
    chmod 0755 "$DIR/wrapper"
    run shim "--flatbed-runtime=$DIR/wrapper" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    grep -qx FLATBED_DEPTH=2 "$DIR/low.env"
    [ "$(jq '.mounts | length' "$DIR/low.config")" = 3 ]
    [ "$(jq '.process.env | length' "$DIR/low.config")" = 2 ]
}

@test "what asks for nothing stays byte for byte" {
    local before
    sed -i '/"logs"/,/create/d; s|"env": { "DATA": "{target}" } },|"env": { "DATA": "{target}" } }|' "$DIR/policy.json"
    annotate ""
    before=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    untouched "$before"
}

@test "mode, owner and the folder's other files are kept" {
    chmod 0604 "$BUNDLE/config.json"
    [ "$(id -u)" -ne 0 ] || chown 12:34 "$BUNDLE/config.json"
    local owner
    owner=$(stat -c '%a %u:%g' "$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$(stat -c '%a %u:%g' "$BUNDLE/config.json")" = "$owner" ]
    [ "$(ls -A "$BUNDLE")" = config.json ]
}

@test "no bundle means the working directory" {
    cd "$BUNDLE"
    run shim create c1
    [ "$(jq '.mounts | length' "$DIR/low.config")" = 3 ]
}

@test "a relative bundle is relative to the working directory, which stays" {
    printf '#!/bin/sh\npwd >%s/pwd\n' "$DIR" >"$DIR/low"
    cd "$DIR"
    run shim create --bundle bundle c1
    [ "$(cat "$DIR/pwd")" = "$DIR" ]
    [ "$(jq '.mounts | length' "$BUNDLE/config.json")" = 3 ]
}

@test "crun's --config replaces config.json; the runtime is asked which it is" {
    low_level "$DIR/low" crun
    mkdir "$DIR/elsewhere"
    config "$DIR/elsewhere"
    run shim create --bundle "$BUNDLE" --config "$DIR/elsewhere/config.json" c1
    [ "$status" -eq 7 ]
    [ "$(jq '.mounts | length' "$DIR/elsewhere/config.json")" = 3 ]
    [ "$(jq '.mounts | length' "$BUNDLE/config.json")" = 1 ]
}

@test "a line with two meanings needs a flavour: from the policy, or from --version" {
    printf '#!/bin/sh\necho kata 3\n' >"$DIR/low"
    run --separate-stderr shim create "-b=$BUNDLE" c1
    refused "says neither runc nor crun"
    sed -i 's|"paths"|"flavor": "runc", "paths"|' "$DIR/policy.json"
    run shim create "-b=$BUNDLE" c1
    [ "$status" -eq 0 ]
    [ "$(jq '.mounts | length' "$BUNDLE/config.json")" = 3 ]
}

@test "a runtime that hangs when asked is not waited for" {
    printf '#!/bin/sh\nexec sleep 60\n' >"$DIR/low"
    SECONDS=0
    run --separate-stderr shim create "-b=$BUNDLE" c1
    refused "says neither runc nor crun"
    [ "$SECONDS" -lt 10 ]
}

@test "the pause container of a pod gets no volumes" {
    local before
    sed -i 's|"annotations": {|"annotations": { "io.kubernetes.cri.container-type": "sandbox",|' "$BUNDLE/config.json"
    before=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    untouched "$before"
}

# ------------------------------------------------------------------ refusing

@test "a refusal: one JSON record, the same text on stderr, exit 1" {
    annotate secret
    run --separate-stderr shim --log "$DIR/log" --log-format json create --bundle "$BUNDLE" c1
    refused "flatbed.data: 'secret' is not offered; there are: imagenet \($DIR/policy.json:5\)"
    [ "$(wc -l <"$DIR/log")" -eq 1 ]
    [ "$(jq -r .level "$DIR/log")" = error ]
    [ "$(jq -r .msg "$DIR/log")" = "$stderr" ]
    [[ $(jq -r .time "$DIR/log") =~ ^[0-9-]{10}T[0-9:]{8}Z$ ]]
}

@test "a refusal in text form, appended to what the log has" {
    annotate secret
    echo before >"$DIR/log"
    run --separate-stderr shim --log "$DIR/log" create --bundle "$BUNDLE" c1
    [ "$(sed -n 1p "$DIR/log")" = before ]
    [[ $(sed -n 2p "$DIR/log") =~ ^time=\"[0-9TZ:-]+\"\ level=error\ msg=\"flatbed: ]]
}

@test "a refusal goes to crun's file: log, and to no syslog: file" {
    annotate secret
    cd "$DIR"
    run --separate-stderr shim --log "file:$DIR/log" --log-format json create --bundle "$BUNDLE" c1
    [ "$(jq -r .level "$DIR/log")" = error ]
    run --separate-stderr shim --log syslog:me create --bundle "$BUNDLE" c1
    refused secret
    [ ! -e "$DIR/syslog:me" ]
}

@test "a log that cannot be written does not hide the message" {
    annotate secret
    run --separate-stderr shim --log /nonexistent/log create --bundle "$BUNDLE" c1
    refused secret
    mkfifo "$DIR/fifo"
    run --separate-stderr timeout 10 "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" \
        --log "$DIR/fifo" create --bundle "$BUNDLE" c1
    refused secret
}

@test "a refusal leaves config.json alone and makes no folder" {
    annotate secret
    local before
    before=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    untouched "$before"
    [ ! -e "$DIR/srv/logs/c1" ]
}

@test "permissive: what would be refused is left out, silently" {
    annotate "secret,imagenet"
    sed -i 's|"version": 1,|"version": 1, "mode": "permissive",|' "$DIR/policy.json"
    run --separate-stderr shim --log "$DIR/log" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$stderr" = err ]
    [ ! -e "$DIR/log" ]
    [ "$(jq -c '[.mounts[].destination]' "$DIR/low.config")" = '["/proc","/logs","/work/imagenet"]' ]
}

@test "a source that does not exist is refused; an optional one is skipped" {
    rmdir "$DIR/srv/data/imagenet"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "volumes.data 'imagenet': $DIR/srv/data/imagenet does not exist"
    sed -i 's|"names": \["imagenet"\]|"names": ["imagenet"], "optional": true|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$(jq -c '[.mounts[].destination]' "$DIR/low.config")" = '["/proc","/logs"]' ]
    [ "$(jq -c .process.env "$DIR/low.config")" = '["A=1"]' ]
}

@test "permissive: a source that cannot be had is left out too" {
    rmdir "$DIR/srv/data/imagenet"
    sed -i 's|"version": 1,|"version": 1, "mode": "permissive",|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$(jq -c '[.mounts[].destination]' "$DIR/low.config")" = '["/proc","/logs"]' ]
}

@test "config.json that is no regular file, doubled, or odd is refused" {
    local file=$BUNDLE/config.json
    mv "$file" "$DIR/real.json"
    ln -s "$DIR/real.json" "$file"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "not a regular file"
    rm "$file"
    mkfifo "$file"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "not a regular file"
    rm "$file"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "No such file or directory"
    echo '{"mounts":[],"mounts":[]}' >"$file"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "given twice"
    echo '{"Mounts":[]}' >"$file"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused 'would be read as "mounts"'
    echo '{' >"$file"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused 'config.json: [0-9]+:[0-9]+:'
}

@test "a line that creates and cannot be read is refused" {
    run --separate-stderr shim create --bundle "$BUNDLE"
    refused "no container id"
    run --separate-stderr shim create --bundle "$BUNDLE" c1 c2
    refused "more than one container id"
    sed -i 's|"version": 1,|"version": 1, "mode": "off",|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1 c2
    called_with create --bundle "$BUNDLE" c1 c2
}

# ------------------------------------------------------------------ policies

# break_policy HOW: the policy becomes one that does not load.
break_policy() {
    policy
    case $1 in
        syntax) echo '}' >"$DIR/policy.json" ;;
        key) echo '{"version":1,"volums":{}}' >"$DIR/policy.json" ;;
        version) echo '{"version":2}' >"$DIR/policy.json" ;;
        writable) chmod 0666 "$DIR/policy.json" ;;
        missing) rm "$DIR/policy.json" ;;
    esac
}

@test "a policy that does not load lets nothing start, and everything stop" {
    local how word
    for how in syntax key version writable missing; do
        break_policy $how
        for word in create run restore; do
            run --separate-stderr shim $word --bundle "$BUNDLE" c1
            refused "policy.json"
        done
        for word in start state kill delete pause resume ps list; do
            run --separate-stderr shim "--flatbed-runtime=$DIR/low" $word c1
            called_with $word c1
            rm "$DIR/low.words"
        done
    done
}

@test "the runtime of a policy that is broken elsewhere still counts" {
    sed -i 's|"volumes"|"volums"|' "$DIR/policy.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused 'policy.json:4:3: unknown key "volums"; did you mean "volumes"\?'
    run shim kill c1 KILL
    called_with kill c1 KILL
}

@test "a policy that is off, or permissive and broken, passes on" {
    local before mode
    before=$(sha256sum <"$BUNDLE/config.json")
    for mode in off permissive; do
        policy
        sed -i "s|\"version\": 1,|\"version\": 1, \"mode\": \"$mode\",|; s|\"volumes\"|\"volums\"|" "$DIR/policy.json"
        rm -f "$DIR/low.words"
        run shim create --bundle "$BUNDLE" c1
        [ "$status" -eq 7 ]
        called
        untouched "$before"
    done
}

@test "files of policy.d are read after it" {
    mkdir "$DIR/policy.d"
    echo '{"version":1,"volumes":{"logs":{"target":"/elsewhere"}}}' >"$DIR/policy.d/10-logs.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$(jq -r '.mounts[1].destination' "$DIR/low.config")" = /elsewhere ]
    echo '{"version":1,"volumes":{"logs":{"targt":"/x"}}}' >"$DIR/policy.d/20-bad.json"
    rm "$DIR/low.words"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused 'policy.d/20-bad.json:1:33: unknown key "targt"; did you mean "target"\?'
}

# ------------------------------------------------------------------ hostile users

as_root() { [ "$(id -u)" -eq 0 ] || skip "needs root"; }

@test "a user's symlink is not followed, whoever it names" {
    as_root
    mkdir -p "$DIR/home/alice"
    ln -s /etc "$DIR/home/alice/imagenet"
    chown -hR 12345 "$DIR/home/alice"
    sed -i "s|$DIR/srv/data/{name}|$DIR/home/alice/{name}|" "$DIR/policy.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "'imagenet' on the way is a symbolic link that not only root could have made"
}

@test "a source that a user could swap is pinned in a namespace of its own" {
    as_root
    mkdir -p "$DIR/home/alice/imagenet"
    echo right >"$DIR/home/alice/imagenet/file"
    chown -R 12345 "$DIR/home/alice"
    sed -i "s|$DIR/srv/data/{name}|$DIR/home/alice/{name}|" "$DIR/policy.json"
    # The runtime behind us: the user swaps, then it mounts.
    cat >"$DIR/low" <<END
#!/bin/sh
mv "$DIR/home/alice/imagenet" "$DIR/home/alice/old"
ln -s /etc "$DIR/home/alice/imagenet"
cat "\$(jq -r '.mounts[-1].source' "$BUNDLE/config.json")/file"
END
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    echo "$output $stderr"
    [ "$output" = right ]
    [ "$(jq -r '.mounts[-1].source' "$BUNDLE/config.json")" = /run/flatbed/pin/data:imagenet ]
    # Nothing of it is seen outside, and a second run pins afresh.
    run ! grep -q /run/flatbed/pin /proc/self/mountinfo
    rm "$DIR/home/alice/imagenet"
    mv "$DIR/home/alice/old" "$DIR/home/alice/imagenet"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    [ "$output" = right ]
}

@test "a kill at any time leaves a whole config.json" {
    local i hash plain edited
    plain=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    edited=$(sha256sum <"$BUNDLE/config.json")
    for ((i = 0; i < 40; i++)); do
        config "$BUNDLE"
        shim create --bundle "$BUNDLE" c1 >/dev/null 2>&1 3>&- &
        sleep "0.00$((i / 8))$((i % 8))"
        kill -KILL $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        hash=$(sha256sum <"$BUNDLE/config.json")
        [ "$hash" = "$plain" ] || [ "$hash" = "$edited" ]
    done
}

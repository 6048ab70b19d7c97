#!/usr/bin/env bats
# flatbed-runtime: refusals and their messages, policies, hostile users.
# shellcheck disable=SC2154 # stderr is set by run --separate-stderr

load ../lib/shim

# ------------------------------------------------------------------ refusing

@test "a refusal: one JSON record, the same text on stderr, exit 1" {
    annotate secret
    run --separate-stderr shim --log "$DIR/log" --log-format json create --bundle "$BUNDLE" c1
    refused "flatbed.data: 'secret' is not offered \($DIR/policy.json:5\); there are: imagenet"
    [ "$(wc -l <"$DIR/log")" -eq 1 ]
    [ "$(gojq -r .level "$DIR/log")" = error ]
    [ "$(gojq -r .msg "$DIR/log")" = "$stderr" ]
    [[ $(gojq -r .time "$DIR/log") =~ ^[0-9-]{10}T[0-9:]{8}Z$ ]]
}

@test "a refusal in text form is appended to the log" {
    annotate secret
    echo before >"$DIR/log"
    run --separate-stderr shim --log "$DIR/log" create --bundle "$BUNDLE" c1
    [ "$(sed -n 1p "$DIR/log")" = before ]
    [[ $(sed -n 2p "$DIR/log") =~ ^time=\"[0-9TZ:-]+\"\ level=error\ msg=\"flatbed: ]]
}

@test "a refusal is written to the file: log of crun, and not to a syslog: log" {
    annotate secret
    cd "$DIR"
    run --separate-stderr shim --log "file:$DIR/log" --log-format json create --bundle "$BUNDLE" c1
    [ "$(gojq -r .level "$DIR/log")" = error ]
    run --separate-stderr shim --log syslog:me create --bundle "$BUNDLE" c1
    refused secret
    [ ! -e "$DIR/syslog:me" ]
}

@test "a log that cannot be written does not suppress the message" {
    annotate secret
    run --separate-stderr shim --log /nonexistent/log create --bundle "$BUNDLE" c1
    refused secret
    mkfifo "$DIR/fifo"
    run --separate-stderr timeout 600 "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" \
        --log "$DIR/fifo" create --bundle "$BUNDLE" c1
    refused secret
}

@test "a refusal leaves config.json unchanged and makes no directory" {
    annotate secret
    local before
    before=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    untouched "$before"
    [ ! -e "$DIR/srv/logs/c1" ]
}

@test "permissive: a request that would be refused is left out silently" {
    annotate "secret,imagenet"
    sed -i 's|"version": 1,|"version": 1, "mode": "permissive",|' "$DIR/policy.json"
    run --separate-stderr shim --log "$DIR/log" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$stderr" = err ]
    [ ! -e "$DIR/log" ]
    [ "$(gojq -c '[.mounts[].destination]' "$DIR/low.config")" = '["/proc","/logs","/work/imagenet"]' ]
}

@test "a missing source is refused; an optional one is skipped" {
    rmdir "$DIR/srv/data/imagenet"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "volumes.data 'imagenet': $DIR/srv/data/imagenet does not exist"
    sed -i 's|"names": \["imagenet"\]|"names": ["imagenet"], "optional": true|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$(gojq -c '[.mounts[].destination]' "$DIR/low.config")" = '["/proc","/logs"]' ]
    [ "$(gojq -c .process.env "$DIR/low.config")" = '["A=1"]' ]
}

@test "permissive: an unavailable source is left out too" {
    rmdir "$DIR/srv/data/imagenet"
    sed -i 's|"version": 1,|"version": 1, "mode": "permissive",|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$(gojq -c '[.mounts[].destination]' "$DIR/low.config")" = '["/proc","/logs"]' ]
}

@test "config.json is refused if it is not a regular file, has duplicate keys or is malformed" {
    local file=$BUNDLE/config.json
    rm "$file"
    ln -s /dev/null "$file"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "not a regular file"
    ln -sf "$DIR/none" "$file"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "No such file or directory"
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

@test "a create command line that cannot be parsed is refused" {
    run --separate-stderr shim create --bundle "$BUNDLE"
    refused "no container id"
    run --separate-stderr shim create --bundle "$BUNDLE" c1 c2
    refused "more than one container id"
    sed -i 's|"version": 1,|"version": 1, "mode": "off",|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1 c2
    called_with create --bundle "$BUNDLE" c1 c2
}

# ------------------------------------------------------------------ policies

# break_policy HOW: makes the policy one that does not load.
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

@test "an invalid policy lets no container start, and every container stop" {
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

@test "the runtime of a policy with an error elsewhere still applies" {
    sed -i 's|"volumes"|"volums"|' "$DIR/policy.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused 'policy.json:4:3: unknown key "volums"; did you mean "volumes"\?'
    run shim kill c1 KILL
    called_with kill c1 KILL
}

@test "with a policy that is off, or permissive and invalid, calls are passed on" {
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

@test "files in policy.d are read after the policy" {
    mkdir "$DIR/policy.d"
    echo '{"version":1,"volumes":{"logs":{"target":"/elsewhere"}}}' >"$DIR/policy.d/10-logs.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$(gojq -r '.mounts[1].destination' "$DIR/low.config")" = /elsewhere ]
    echo '{"version":1,"volumes":{"logs":{"targt":"/x"}}}' >"$DIR/policy.d/20-bad.json"
    rm "$DIR/low.words"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused 'policy.d/20-bad.json:1:33: unknown key "targt"; did you mean "target"\?'
}

# ------------------------------------------------------------------ hostile users

@test "a symlink of a user is not followed, whatever its target" {
    as_root
    mkdir -p "$DIR/home/alice"
    ln -s /etc "$DIR/home/alice/imagenet"
    chown -hR 12345 "$DIR/home/alice"
    sed -i "s|$DIR/srv/data/{name}|$DIR/home/alice/{name}|" "$DIR/policy.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "'imagenet' on the way is a symbolic link that not only root could have made"
}

@test "a source that a user could swap is pinned in a private mount namespace" {
    as_root
    mkdir -p "$DIR/home/alice/imagenet"
    echo right >"$DIR/home/alice/imagenet/file"
    chown -R 12345 "$DIR/home/alice"
    sed -i "s|$DIR/srv/data/{name}|$DIR/home/alice/{name}|" "$DIR/policy.json"
    # The low-level runtime in this test: the user swaps the source before it mounts.
    cat >"$DIR/low" <<END
#!/bin/sh
mv "$DIR/home/alice/imagenet" "$DIR/home/alice/old"
ln -s /etc "$DIR/home/alice/imagenet"
cat "\$(gojq -r '.mounts[-1].source' "$BUNDLE/config.json")/file"
END
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    echo "$output $stderr"
    [ "$output" = right ]
    [ "$(gojq -r '.mounts[-1].source' "$BUNDLE/config.json")" = /run/flatbed/pin/data:imagenet ]
    # The pin is not visible outside, and a second run pins again.
    run ! grep -q /run/flatbed/pin /proc/self/mountinfo
    rm "$DIR/home/alice/imagenet"
    mv "$DIR/home/alice/old" "$DIR/home/alice/imagenet"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    [ "$output" = right ]
}

@test "a kill at any time leaves a complete config.json" {
    local i hash plain edited
    plain=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    edited=$(sha256sum <"$BUNDLE/config.json")
    for ((i = 0; i < 40; i++)); do
        config "$BUNDLE"
        # The program is started without shim(), because $! would be a shell, and a kill of it would leave the program running.
        "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1 \
            >/dev/null 2>&1 3>&- &
        sleep "0.00$((i / 8))$((i % 8))"
        kill -KILL $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        hash=$(sha256sum <"$BUNDLE/config.json")
        [ "$hash" = "$plain" ] || [ "$hash" = "$edited" ]
    done
}

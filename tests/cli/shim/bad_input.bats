#!/usr/bin/env bats
# flatbed-runtime with bad input: documents and policies that are malformed, too large or hostile, full
# disks, and kills at any moment. Each test expects exit status 1, a clear message and an unchanged
# config.json.
# shellcheck disable=SC2154,SC2016 # stderr is set by run --separate-stderr; scripts for later

load lib/shim

setup_file() { export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0; } # the leak check fails under strace

# File systems left by the tests are unmounted before the teardown of shim.bash removes their directories.
teardown() {
    ! mountpoint -q "$DIR/small" || umount -l "$DIR/small"
    rm -rf "/run/flatbed/state/${DIR//\//%2F}"*
    forget
    rm -rf --one-file-system "$DIR"
}

# A low-level runtime that records nothing, not even that it was asked for its features.
quiet_low() { printf '#!/bin/sh\nexit 7\n' >"$DIR/low"; }

# create_refuses REGEX: the current config.json is refused and unchanged, and the bundle has no other new file.
create_refuses() {
    local before
    before=$(sha256sum <"$BUNDLE/config.json")
    run --separate-stderr timeout 600 "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    refused "$1"
    untouched "$before"
    [ "$(ls -A "$BUNDLE")" = config.json ]
}

# given REGEX TEXT: a config.json of this text is refused.
given() {
    printf '%s' "$2" >"$BUNDLE/config.json"
    create_refuses "config.json: $1"
}

# ------------------------------------------------------------------ config.json

@test "bad: config.json truncated at any byte" {
    local whole length
    whole=$(<"$BUNDLE/config.json")
    for ((length = 0; length < ${#whole}; length += 9)); do
        given '[0-9]+:[0-9]+: ' "${whole:0:length}"
    done
}

@test "bad: config.json that is another kind of document or file" {
    given 'not an object' '[]'
    given 'not an object' 'null'
    given '1:4: .*trailing garbage' '{} x'
    given '1:1: ' $'\xef\xbb\xbf{}'
    given '1:101: nested too deeply' "$(printf '[%.0s' {1..9999})"
    given '1:[0-9]+: ' "$(head -c 4096 /dev/urandom | base64 -w 0)"
    printf '{"a":1}\0' >"$BUNDLE/config.json"
    create_refuses '1:8: '
}

@test "bad: members of a wrong type" {
    local user='"user":{"uid":0,"gid":0}'
    given 'process: expected an object, not an array' '{"process":[]}'
    given 'process.user: expected an object' '{"process":{"user":7}}'
    given 'process.user.uid: -1 is not an id' '{"process":{"user":{"uid":-1,"gid":0}}}'
    given 'process.user.uid: 4294967296 is not an id' '{"process":{"user":{"uid":4294967296,"gid":0}}}'
    given 'process.user.gid: expected a number, not a string' '{"process":{"user":{"uid":0,"gid":"0"}}}'
    given 'process.env: expected an array' "{\"process\":{$user,\"env\":{}}}"
    given 'process.env: an entry that is not' "{\"process\":{$user,\"env\":[null]}}"
    given 'mounts: expected an array' '{"mounts":{}}'
    given 'mounts: an entry that is not an object' '{"mounts":[["/x"]]}'
    given 'mounts: an entry without a destination' '{"mounts":[{"source":"/x"}]}'
    given 'mounts\[\].destination: expected a string' '{"mounts":[{"destination":1}]}'
    given 'mounts\[\].options: expected an array' '{"mounts":[{"destination":"/x","options":"ro"}]}'
    given 'annotations: expected an object' '{"annotations":[]}'
    given 'linux: expected an object' '{"linux":[]}'
    given 'hostname: expected a string' '{"hostname":{}}'
}

@test "bad: required members are missing" {
    printf '{}' >"$BUNDLE/config.json"
    create_refuses "volumes.logs: .*: the container has no process"
    printf '{"process":null,"mounts":null,"linux":null,"annotations":null}' >"$BUNDLE/config.json"
    create_refuses "volumes.logs: .*: the container has no process"
    sed -i 's|"always": true, "create": { "mode": "0750" }|"create": {}|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
}

@test "bad: duplicate keys, at any depth, even escaped" {
    given '1:[0-9]+: this key is given twice' '{"process":{"user":{"uid":0}},"annotations":{},"process":{}}'
    given '1:[0-9]+: this key is given twice' '{"process":{"user":{"uid":1000,"uid":0}}}'
    given '1:[0-9]+: this key is given twice' '{"process":{"env":[],"\u0065nv":[]}}'
    given '1:[0-9]+: this key is given twice' '{"mounts":[{"destination":"/x","destination":"/y"}]}'
    given '1:[0-9]+: this key is given twice' '{"annotations":{"flatbed.data":"imagenet","flatbed.data":"secret"}}'
    given '1:[0-9]+: this key is given twice' '{"unknown":[{"a":1,"a":2}]}'
}

@test "bad: names that lead outside" {
    local name
    for name in .. . ../secret a/b /etc imagenet/.. 'a\u0000b' 'imagenet\u0000' 'a\nb' 'a\u202eb' '\ud800' '*' '{name}'; do
        printf '{"process":{},"annotations":{"flatbed.data":"%s"}}' "${name//\\/\\}" >"$BUNDLE/config.json"
        create_refuses 'flatbed\.data: (.* is not a name|a NUL byte)'
    done
    given '1:[0-9]+: not UTF-8' $'{"annotations":{"flatbed.data":"\xff\xfe"}}'
    given '1:[0-9]+: not UTF-8' $'{"annotations":{"flatbed.data":"\xc0\xae\xc0\xae"}}'
    given '1:[0-9]+: ' $'{"annotations":{"flatbed.data":"a\nb"}}'
    given 'mounts\[0\].destination: a NUL byte' '{"mounts":[{"destination":"/a\u0000b","type":"bind","source":"/x"}]}'
    [ ! -e "$DIR/srv/logs/c1" ]
}

@test "bad: container IDs that lead outside" {
    local id
    for id in .. . a/b ../x $'a\nb' $'a\xff' ''; do
        run --separate-stderr shim create --bundle "$BUNDLE" "$id"
        [ "$status" -eq 1 ]
        ! called
    done
    [ "$(ls -A "$DIR/srv/logs")" = "" ]
}

# ------------------------------------------------------------------ large input

# spec_of COUNT BYTES: prints a specification with COUNT mounts and an annotation of BYTES bytes.
spec_of() {
    python3 - "$@" >"$BUNDLE/config.json" <<'END'
import json, sys
count, size = int(sys.argv[1]), int(sys.argv[2])
print(json.dumps({"process": {"user": {"uid": 0, "gid": 0}, "env": []},
                  "annotations": {"flatbed.data": "imagenet", "padding": "x" * size},
                  "mounts": [{"destination": f"/m/{i}", "type": "tmpfs", "source": "t", "options": ["ro", "nosuid"]}
                             for i in range(count)]}))
END
}

@test "bad: a specification of 10 MiB is edited, and one over the limit is refused" {
    quiet_low
    spec_of 1 $((10 << 20))
    run timeout 600 "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$(gojq -c '[.mounts[].destination, (.annotations.padding | length)]' "$BUNDLE/config.json")" \
        = '["/m/0","/logs","/work/imagenet",10485760]' ]
    spec_of 1 $((16 << 20))
    create_refuses 'config.json: larger than 16777216 bytes'
}

@test "bad: an edit that would exceed the limit is refused" {
    local size
    quiet_low
    spec_of 0 0
    size=$(stat -c %s "$BUNDLE/config.json")
    spec_of 0 $(((16 << 20) - size))
    create_refuses 'config.json: larger than 16777216 bytes'
}

@test "bad: editing 100,000 mounts takes at most 40 times as long as 10,000" {
    local count took=() TIMEFORMAT=%U
    quiet_low
    for count in 10000 100000; do
        spec_of "$count" 0
        # CPU time is used, because other processes on the machine affect it little.
        took+=("$({ time timeout 600 "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create \
            --bundle "$BUNDLE" c1 >/dev/null 2>&1 || [ $? -eq 7 ]; } 2>&1 | tr -d .)")
        [ "$(gojq '.mounts | length' "$BUNDLE/config.json")" -eq $((count + 2)) ]
    done
    echo "milliseconds: ${took[*]}"
    [ $((10#${took[1]})) -lt $(((10#${took[0]} + 5) * 40)) ] # quadratic growth would give a factor of 100
}

# ------------------------------------------------------------------ policies

# policy_says REGEX TEXT: a policy of this text lets no container start.
policy_says() {
    printf '%s' "$2" >"$DIR/policy.json"
    create_refuses "policy\.json:?($1)"
}

@test "bad: a policy with wrong types or unknown keys" {
    local at='[0-9]+:[0-9]+: '
    policy_says "$at" ''
    policy_says "$at.*" '[]'
    policy_says "$at.*" '{"version":"1"}'
    policy_says "$at.*" '{"version":1,"mode":1}'
    policy_says "$at.*" '{"version":1,"mode":"enforced"}'
    policy_says "$at.*" '{"version":1,"runtime":[]}'
    policy_says "$at.*" '{"version":1,"runtime":{"paths":"runc"}}'
    policy_says "$at.*" '{"version":1,"volumes":[]}'
    policy_says "$at.*" '{"version":1,"volumes":{"a":1}}'
    policy_says "$at.*" '{"version":1,"volumes":{"a":{"source":1,"target":"/x"}}}'
    policy_says "$at.*" '{"version":1,"volumes":{"a":{"source":"/x","target":"/x","access":"rx"}}}'
    policy_says "$at.*" '{"version":1,"volumes":{"a":{"source":"/x","target":"/x","create":{"mode":750}}}}'
    policy_says "$at.*" '{"version":1,"volumes":{"a":{"source":"/x","target":"/x","create":{"mode":"9"}}}}'
    policy_says "$at.*" '{"version":1,"volumes":{"a":{"source":"/x","target":"/x","names":["a",1]}}}'
    policy_says "$at.*" '{"version":1,"volumes":{"a":{"source":"x","target":"/x"}}}'
    policy_says "$at.*" '{"version":1,"binds":{"rules":{}}}'
    policy_says "$at.*" '{"version":1,"security":{"capabilities":{"max":["NO_SUCH"]}}}'
    policy_says "$at.*given twice" '{"version":1,"volumes":{},"volumes":{}}'
    policy_says "$at"'unknown key "tunning"; did you mean "tuning"' '{"version":1,"tunning":{}}'
    policy_says "$at" $'{"version":1,"volumes":{"a\xff":{}}}'
    policy_says "$at" "{\"version\":1,\"x\":$(printf '[%.0s' {1..9999})"
}

@test "bad: templates that refer to themselves or to no template" {
    local at='[0-9]+:[0-9]+: '
    policy_says "$at.*" '{"version":1,"volumes":{"a":{"source":"/s/{source}","target":"/x"}}}'
    policy_says "$at.*" '{"version":1,"volumes":{"a":{"source":"/s/{target}","target":"/x"}}}'
    policy_says "$at.*" '{"version":1,"volumes":{"a":{"source":"/s","target":"/x/{target}"}}}'
    policy_says "$at.*" '{"version":1,"volumes":{"a":{"source":"/s/{name","target":"/x"}}}'
    policy_says "$at.*" '{"version":1,"volumes":{"a":{"source":"/s/{{name}}","target":"/x"}}}'
    # A value is not expanded again as a template.
    policy
    sed -i 's|"annotations": {|"annotations": { "flatbed.project": "{name}",|' "$BUNDLE/config.json"
    sed -i "s|logs/{container}|logs/{project}|" "$DIR/policy.json"
    create_refuses "'\{name\}' is not a name|flatbed\.project"
}

@test "bad: policies that cannot be read" {
    rm "$DIR/policy.json"
    mkdir "$DIR/policy.json"
    create_refuses 'policy.json: .*not a regular file'
    rmdir "$DIR/policy.json"
    mkfifo "$DIR/policy.json"
    create_refuses 'policy.json: .*not a regular file'
    rm "$DIR/policy.json"
    ln -s policy.json "$DIR/policy.json"
    create_refuses 'policy.json: '
    rm "$DIR/policy.json"
    { echo '{"version":1,"x":"'; head -c 2000000 /dev/zero | tr '\0' x; } >"$DIR/policy.json"
    create_refuses 'policy.json: larger than 1048576 bytes'
}

@test "bad: a policy that this user may not read" {
    as_root
    chmod 0600 "$DIR/policy.json"
    chown -R 12345 "$BUNDLE"
    run --separate-stderr setpriv --reuid 12345 --regid 12345 --clear-groups \
        "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    refused 'policy.json: Permission denied'
}

# ------------------------------------------------------------------ destinations

@test "bad: a full disk leaves config.json whole, with no other file beside it" {
    as_root
    mkdir "$DIR/small"
    mount -t tmpfs -o size=64k,mode=0755 none "$DIR/small" || skip "no tmpfs here"
    cp "$BUNDLE/config.json" "$DIR/small"
    BUNDLE=$DIR/small
    quiet_low
    head -c 65536 /dev/zero >"$DIR/small/filler" 2>/dev/null || true
    local before
    before=$(sha256sum <"$BUNDLE/config.json")
    run --separate-stderr shim --log "$DIR/log" --log-format json create --bundle "$BUNDLE" c1
    refused 'config.json: .*No space left on device'
    [ "$(gojq -r .msg "$DIR/log")" = "$stderr" ]
    untouched "$before"
    [ "$(ls -A "$BUNDLE")" = $'config.json\nfiller' ]
    # The log is on the same full disk.
    run --separate-stderr shim --log "$DIR/small/log" create --bundle "$BUNDLE" c1
    refused 'No space left on device'
    rm "$BUNDLE/filler"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    gojq -e '.mounts | length == 3' "$BUNDLE/config.json"
}

@test "bad: a bundle that is read-only" {
    as_root
    mkdir "$DIR/small"
    mount -t tmpfs -o size=64k,mode=0755 none "$DIR/small" || skip "no tmpfs here"
    cp "$BUNDLE/config.json" "$DIR/small"
    mount -o remount,ro "$DIR/small"
    quiet_low
    BUNDLE=$DIR/small
    create_refuses 'config.json: .*Read-only file system'
    # An edit that changes nothing writes nothing.
    echo "{\"version\":1,\"requests\":[],\"runtime\":{\"paths\":[\"$DIR/low\"]}}" >"$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
}

@test "bad: logs that cannot be written" {
    local log
    annotate secret
    for log in /dev/full "$DIR" "$BUNDLE/config.json/log" /proc/version; do
        run --separate-stderr shim --log "$log" --log-format json create --bundle "$BUNDLE" c1
        refused "'secret' is not offered"
    done
}

# ------------------------------------------------------------------ kills

# traced POINT: runs create under strace and kills it at the start of system call number POINT of the trace,
# identified by its name and by its position among the calls of that name.
traced() {
    local name times
    name=$(sed -n "$1p" "$DIR/names")
    times=$(head -n "$1" "$DIR/names" | grep -cx "$name")
    strace -o /dev/null -e trace="$name" -e inject="$name:signal=KILL:when=$times" \
        "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1 >/dev/null 2>&1 || true
}

@test "bad: after a kill at any system call, config.json is whole and the next try works" {
    command -v strace >/dev/null || skip "needs strace"
    strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
    local point first last plain edited hash old=0 new=0
    quiet_low
    plain=$(sha256sum <"$BUNDLE/config.json")
    mkdir "$DIR/srv/logs/c1" # no children are needed for it, so all runs are alike
    for _ in 1 2; do         # the first run asks for the features and caches them
        config "$BUNDLE"
        strace -o "$DIR/trace" "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1 || [ $? -eq 7 ]
    done
    edited=$(sha256sum <"$BUNDLE/config.json")
    sed -n 's/^\([a-z0-9_]*\)(.*/\1/p' "$DIR/trace" >"$DIR/names"
    first=$(grep -n '"\.flatbed-' "$DIR/trace" | head -n 1)
    first=${first%%:*}
    last=$(grep -n "^execve(\"$DIR/low\"" "$DIR/trace")
    last=${last%%:*}
    echo "calls $first to $last"
    [ $((last - first)) -gt 5 ]
    for ((point = first; point <= last; point++)); do
        config "$BUNDLE"
        traced "$point"
        hash=$(sha256sum <"$BUNDLE/config.json")
        case $hash in
            "$plain") old=$((old + 1)) ;;
            "$edited") new=$((new + 1)) ;;
            *) echo "torn at call $point: $(sed -n "${point}p" "$DIR/trace")"; false ;;
        esac
        run shim create --bundle "$BUNDLE" c1
        [ "$status" -eq 7 ]
        untouched "$edited"
    done
    echo "old $old, new $new; left: $(ls -A "$BUNDLE" | wc -l)"
    [ "$old" -gt 0 ]
    [ "$new" -gt 0 ]
}

# ------------------------------------------------------------------ concurrency

@test "bad: 300 concurrent containers, each with its own data" {
    as_root
    local i count=300
    cat >"$DIR/low" <<END
#!/bin/sh
for id; do :; done
case \$* in
    *create*) mkdir -p "$DIR/root/\$id" ;;
    *) rmdir "$DIR/root/\$id" ;;
esac
END
    for ((i = 0; i < count; i++)); do
        mkdir "$DIR/box$i"
        cp "$BUNDLE/config.json" "$DIR/box$i"
    done
    seq 0 $((count - 1)) | xargs -P 48 -I @@ "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" \
        --root "$DIR/root" --log "$DIR/log" create --bundle "$DIR/box@@" c@@
    [ ! -e "$DIR/log" ]
    for ((i = 0; i < count; i++)); do
        echo "$DIR/srv/logs/c$i"
    done | sort >"$DIR/expected"
    gojq -r '.mounts[1].source' "$DIR"/box*/config.json | sort | diff "$DIR/expected" -
    ls -d "$DIR"/srv/logs/c* | sort | diff "$DIR/expected" -
    # The state for exec is kept for each container, whole, and removed by delete.
    local state="/run/flatbed/state/${DIR//\//%2F}%2Froot"
    [ "$(ls -A "$state" | wc -l)" -eq $count ]
    [ "$(gojq -rc .env "$state"/* | sort -u)" = '["DATA=/work/imagenet"]' ]
    seq 0 $((count - 1)) | xargs -P 48 -I @@ "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" \
        --root "$DIR/root" delete c@@
    [ "$(ls -A "$state")" = "" ]
}

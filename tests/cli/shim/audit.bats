#!/usr/bin/env bats
# flatbed-runtime: the audit file, syslog and the counters.
#
# shellcheck disable=SC2154,SC2076  # status and stderr are set by bats' run; paths are no patterns

load lib/shim

# Audit records are written by root only.
setup_audit() {
    as_root
    mkdir "$DIR/log"
    audit "\"file\": \"$DIR/log/audit.jsonl\", \"metrics\": \"$DIR/log/flatbed.prom\"${1:+, $1}"
}

# audit MEMBERS: sets the policy's section on a line of its own.
audit() {
    sed -i '/^"audit":/d' "$DIR/policy.json"
    sed -i "1a \"audit\": { $1 }," "$DIR/policy.json"
}

# says FILTER: applies FILTER to the last line of the audit.
says() { tail -n 1 "$DIR/log/audit.jsonl" | gojq -c "$1"; }

# counted SAMPLE NUMBER
counted() { grep -qxF "$1 $2" "$DIR/log/flatbed.prom"; }

create() { run --separate-stderr shim create --bundle "$BUNDLE" "${1-c1}"; }

teardown() {
    [ -z "${HOLDER-}" ] || kill "$HOLDER" 2>/dev/null || true
    mountpoint -q "$DIR/log" && umount "$DIR/log"
    forget
    rm -rf --one-file-system "$DIR"
}

# ------------------------------------------------------------------ one line a decision

@test "changed, allowed and denied decisions are audited, and nothing is printed about it" {
    setup_audit
    create
    [ "$status" -eq 7 ]
    [ "$output" = out ]
    [ "$stderr" = err ]
    [ "$(says '[.verdict, .command, .container, .engine, .mode, .uid, .user]')" = '["changed","create","c1","unknown","enforce",0,"root"]' ]
    [ "$(says '[.operations[] | [.kind, .verdict, .subject]]')" = '[["volume","added","logs"],["volume","added","data:imagenet"],["variable","added","DATA"]]' ]
    [ "$(says '.operations[0].policy')" = "\"$DIR/policy.json:9\"" ]
    [[ $(says .time) =~ ^\"20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{3}Z\"$ ]]
    create
    [ "$(says .verdict)" = '"allowed"' ]
    [ "$(says '.operations[0].verdict')" = '"kept"' ]
    annotate nothing
    rm "$DIR/low.words"
    create
    refused "'nothing' is not offered"
    [ "$(says .verdict)" = '"denied"' ]
    [ "\"flatbed: $(says .error | cut -c 2-)" = "\"$stderr\"" ]
    [ "$(wc -l <"$DIR/log/audit.jsonl")" = 3 ]
    [ "$(stat -c %a-%U "$DIR/log/audit.jsonl")" = 640-root ]
    counted 'flatbed_containers_total{verdict="changed"}' 1
    counted 'flatbed_containers_total{verdict="allowed"}' 1
    counted 'flatbed_containers_total{verdict="denied"}' 1
    counted 'flatbed_operations_total{kind="volume",verdict="denied"}' 1
    counted flatbed_audit_errors_total 0
    [ "$(stat -c %a "$DIR/log/flatbed.prom")" = 644 ]
}

@test "refusals before a plan exists are audited too" {
    setup_audit
    echo '{ "mounts": [' >"$BUNDLE/config.json"
    create
    refused config.json
    [ "$(says '[.verdict, .container, has("operations")]')" = '["denied","c1",false]' ]
    [[ $(says .error) =~ config.json ]]
    rm "$BUNDLE/config.json"
    create
    refused config.json
    [[ $(says .error) =~ "No such file" ]]
    config "$BUNDLE"
    sed -i 's|"version": 1,|"version": 1, "zzz": 1,|' "$DIR/policy.json"
    create
    refused 'unknown key "zzz"'
    [[ $(says .error) =~ 'unknown key' ]]
    sed -i 's|"zzz": 1,|"runtime": { "paths": ["/no/such/runtime"] },|; s|"runtime": { "paths": \["'"$DIR"'/low"\] },||' "$DIR/policy.json"
    create
    refused /no/such/runtime
    [[ $(says .error) =~ /no/such/runtime ]]
    [ "$(wc -l <"$DIR/log/audit.jsonl")" = 4 ]
    counted 'flatbed_containers_total{verdict="denied"}' 4
}

@test "calls that create nothing are not audited" {
    setup_audit
    run shim kill c1
    run shim exec c1 true
    run shim delete c1
    [ ! -e "$DIR/log/audit.jsonl" ]
    [ ! -e "$DIR/log/flatbed.prom" ]
}

@test "a container cannot forge a line" {
    setup_audit
    gojq '.annotations["flatbed.data"] = "x\"}\n{\"verdict\":\"allowed\"}\n"
        | .annotations["io.kubernetes.cri.image-name"] = "a\n{}\u001b[31m"' "$BUNDLE/config.json" >"$DIR/new"
    mv "$DIR/new" "$BUNDLE/config.json"
    create
    [ "$status" -eq 1 ]
    [ "$(wc -l <"$DIR/log/audit.jsonl")" = 1 ]
    [ "$(says .verdict)" = '"denied"' ]
    run ! grep -q $'\033' "$DIR/log/audit.jsonl"
}

@test "a file size limit loses the line and nothing else" {
    setup_audit
    head -c 2000 /dev/zero | tr '\0' x >"$DIR/log/audit.jsonl"
    echo >>"$DIR/log/audit.jsonl"
    create
    run bash -c 'ulimit -f 2; exec "$@"' - "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    counted flatbed_audit_errors_total 1
    # The counters stay unchanged where no byte can be written.
    printf '#!/bin/sh\nexit 7\n' >"$DIR/low"
    run bash -c 'ulimit -f 0; exec "$@"' - "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    tail -n 1 "$DIR/log/audit.jsonl" | gojq -e .verdict
    audit "\"file\": \"$DIR/log/audit.jsonl\", \"required\": true"
    run bash -c 'ulimit -f 0; exec "$@" 2>&1' - "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    [ "$status" -eq 1 ]
    [[ $output =~ audit,\ which\ the\ policy\ requires.*File\ too\ large ]]
}

@test "a line has the profile, the switched-off items and the engine; a profile may have its own audit" {
    setup_audit
    sed -i "2a \"opt_out\": [\"mounts\"], \"profiles\": [ { \"name\": \"p\", \"match\": { \"uid\": [\"7\"] }, \"audit\": { \"file\": \"$DIR/log/other.jsonl\" } } ]," "$DIR/policy.json"
    gojq '.process.user.uid = 7 | .annotations["flatbed.off"] = "mounts"' "$BUNDLE/config.json" >"$DIR/new"
    mv "$DIR/new" "$BUNDLE/config.json"
    run shim --root /run/docker/runtime-flatbed/moby create --bundle "$BUNDLE" c1
    rm -f /run/flatbed/state/%2Frun%2Fdocker%2Fruntime-flatbed%2Fmoby/c1.json
    [ ! -e "$DIR/log/audit.jsonl" ]
    [ "$(gojq -c '[.profile, .off, .engine, .uid, .process_uid]' "$DIR/log/other.jsonl")" = '["p",["mounts"],"docker",7,7]' ]
}

# ------------------------------------------------------------------ permissive

@test "a denial that a permissive policy lets pass is a warning" {
    setup_audit
    sed -i 's|"version": 1,|"version": 1, "mode": "permissive",|' "$DIR/policy.json"
    annotate nothing
    create
    [ "$status" -eq 7 ]
    [ "$(says '[.verdict, .mode]')" = '["changed","permissive"]' ]
    [[ $(says .warning) =~ "'nothing' is not offered" ]]
    counted flatbed_permissive_total 1
    sed -i 's|"version": 1,|"version": 1, "zzz": 1,|' "$DIR/policy.json"
    config "$BUNDLE"
    sum=$(sha256sum <"$BUNDLE/config.json")
    create
    [ "$status" -eq 7 ]
    untouched "$sum"
    [ "$(says '[.verdict, .mode, .container]')" = '["allowed","permissive","c1"]' ]
    [[ $(says .warning) =~ 'unknown key' ]]
    counted flatbed_permissive_total 2
}

# ------------------------------------------------------------------ syslog

# with_log COMMAND…: runs it in a mount namespace whose /dev/log is read into $DIR/messages, one message a line.
with_log() {
    mkdir "$DIR/dev"
    python3 -c '
import socket, sys, time
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind(sys.argv[1] + "/dev/log")
with open(sys.argv[1] + "/messages", "ab", buffering=0) as out:
    while not time.sleep(int(sys.argv[2])):
        out.write(log.recv(65536).rstrip(b"\0") + b"\n")' "$DIR" "${HANGS-0}" 3>&- &
    HOLDER=$!
    wait_until test -S "$DIR/dev/log"
    # shellcheck disable=SC2016
    unshare --mount --propagation private bash -c '
        for node in null zero urandom random fd; do
            [ -d "/dev/$node" ] || { : >"$0/$node" && mount --bind "/dev/$node" "$0/$node"; }
        done
        mount --rbind "$0" /dev && exec "$@"' "$DIR/dev" "$@"
}

messages() {
    wait_until test -s "$DIR/messages"
    cat "$DIR/messages"
}

@test "syslog has the record, as one message" {
    as_root
    audit '"syslog": true'
    with_log "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1 || status=$?
    [ "$status" -eq 7 ]
    run messages
    echo "$output"
    [[ $output =~ ^\<86\>.*flatbed-runtime\[[0-9]+\]:\ (\{.*\})$ ]] # authpriv.info
    [ "$(gojq -c '[.verdict, .container]' <<<"${BASH_REMATCH[1]}")" = '["changed","c1"]' ]
}

@test "a permissive denial or a broken policy is a warning in syslog, whatever the audit setting is" {
    as_root
    sed -i 's|"version": 1,|"version": 1, "mode": "permissive",|' "$DIR/policy.json"
    annotate nothing
    with_log "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1 || status=$?
    [ "$status" -eq 7 ]
    run messages
    [[ $output =~ ^\<84\>.*"'nothing' is not offered" ]] # authpriv.warning
}

# Fills the receive buffer of a daemon that does not read.
fill_log() {
    python3 -c '
import socket
full = False
while not full:
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    log.connect("/dev/log")
    full = True
    try:
        while log.send(b"x"):
            full = False
    except BlockingIOError:
        pass'
}

@test "a syslog daemon that does not read delays a launch only briefly" {
    as_root
    audit '"syslog": true'
    export -f fill_log
    # shellcheck disable=SC2016
    HANGS=3600 with_log bash -c 'fill_log; exec timeout 600 "$@"' - \
        "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1 || status=$?
    [ "$status" -eq 7 ]
}

@test "a line that cannot be written to the file goes to syslog" {
    setup_audit
    chmod 0777 "$DIR/log"
    with_log "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1 || status=$?
    [ "$status" -eq 7 ]
    run messages
    [[ $output =~ ^\<84\>.*"not written to the audit file".*"must lie in directories that are owned by root and not writable by others".*'"verdict":"changed"' ]]
}

# ------------------------------------------------------------------ files

@test "an unwritable audit file stops a launch only if the audit is required" {
    setup_audit
    ln -s "$DIR/target" "$DIR/log/audit.jsonl"
    create
    [ "$status" -eq 7 ]
    [ ! -e "$DIR/target" ]
    counted flatbed_audit_errors_total 1
    audit "\"file\": \"$DIR/log/audit.jsonl\", \"required\": true"
    rm "$DIR/low.words"
    config "$BUNDLE"
    sum=$(sha256sum <"$BUNDLE/config.json")
    create
    [ "$status" -eq 1 ]
    [[ $stderr =~ "the audit, which the policy requires, cannot be written: $DIR/log/audit.jsonl" ]]
    run ! grep -qx create "$DIR/low.words" # at most, the runtime was asked for its features
    untouched "$sum"
    rm "$DIR/log/audit.jsonl"
    create
    [ "$status" -eq 7 ]
    [ "$(says .verdict)" = '"changed"' ]
}

@test "nothing is made for an audit file below a directory that a user could replace" {
    setup_audit
    mkdir "$DIR/home"
    chown 1001 "$DIR/home"
    audit "\"file\": \"$DIR/home/logs/audit.jsonl\", \"required\": true"
    create
    [ "$status" -eq 1 ]
    [[ $stderr =~ "must lie in directories that are owned by root" ]]
    [ ! -e "$DIR/home/logs" ]
}

@test "characters that act on a screen are escaped in the audit and in messages" {
    setup_audit
    gojq --arg a $'imagenet\xe2\x80\xae\xc2\x9b\xe2\x80\xa8' '.annotations["flatbed.data"] = $a' "$BUNDLE/config.json" >"$DIR/new"
    mv "$DIR/new" "$BUNDLE/config.json"
    create
    [ "$status" -eq 1 ]
    run ! grep -qF -e $'\xe2\x80\xae' -e $'\xc2\x9b' -e $'\xe2\x80\xa8' <<<"$stderr$(cat "$DIR/log/audit.jsonl")"
    [[ $(says .error) =~ imagenet ]]
}

@test "a launch into a store with little free room is an alert in its line" {
    setup_audit '"alerts": { "store_free": "99%" }'
    mkdir -p "$BUNDLE/rootfs"
    gojq '.root.path = "rootfs"' "$BUNDLE/config.json" >"$DIR/new"
    cp "$DIR/new" "$BUNDLE/config.json"
    create
    [ "$status" -eq 7 ]
    says . | gojq -e '.alert == "store_free" and .verdict == "changed" and .value < .limit'
    audit "\"file\": \"$DIR/log/audit.jsonl\", \"alerts\": { \"store_free\": \"1k\" }"
    create
    says . | gojq -e 'has("alert") | not'
}

@test "a full disk leaves no partial line, and the previous line stays" {
    setup_audit
    mount -t tmpfs -o size=16k,mode=0755 none "$DIR/log"
    create
    [ "$(wc -l <"$DIR/log/audit.jsonl")" = 1 ]
    head -c 1m /dev/zero >"$DIR/log/fill" || true
    for _ in $(seq 10); do
        create
        [ "$status" -eq 7 ]
    done
    gojq -e . "$DIR/log/audit.jsonl" >/dev/null
    [ "$(tail -c 1 "$DIR/log/audit.jsonl" | od -An -c | tr -d ' ')" = '\n' ]
    rm "$DIR/log/fill"
    before=$(wc -l <"$DIR/log/audit.jsonl")
    create
    [ "$(wc -l <"$DIR/log/audit.jsonl")" = $((before + 1)) ]
    gojq -e . "$DIR/log/audit.jsonl" >/dev/null
}

@test "a counters file with unknown content is started anew" {
    setup_audit
    echo 'node_load1 0.5' >"$DIR/log/flatbed.prom"
    create
    counted 'flatbed_containers_total{verdict="changed"}' 1
    run ! grep -q node_load1 "$DIR/log/flatbed.prom"
    ln -sf "$DIR/target" "$DIR/log/flatbed.prom"
    create
    [ ! -e "$DIR/target" ]
    [ ! -L "$DIR/log/flatbed.prom" ]
}

@test "a reader of the audit file cannot delay launches with a lock on it" {
    setup_audit
    create
    hold_lock "$DIR/log/audit.jsonl"
    create c2
    [ "$(says .container)" = '"c2"' ]
    counted flatbed_audit_errors_total 0
}

@test "a user who can open the counters' directory cannot delay launches with a lock on it" {
    setup_audit
    hold_lock "$DIR/log"
    create
    counted 'flatbed_containers_total{verdict="changed"}' 1
}

# ------------------------------------------------------------------ many at once

# A low-level runtime that only succeeds, and a bundle for each container.
many() {
    ln -s /bin/true "$DIR/true"
    sed -i "s|$DIR/low|/bin/true|" "$DIR/policy.json"
    sed -i 's|"always": true, "create": { "mode": "0750" }|"always": false|' "$DIR/policy.json"
    for i in $(seq "$1"); do
        mkdir "$DIR/b$i"
        echo '{ "ociVersion": "1.0.2", "process": { "user": { "uid": 0, "gid": 0 } }, "mounts": [] }' >"$DIR/b$i/config.json"
    done
}

@test "200 concurrent containers: with rotation, every line is whole and none is lost" {
    setup_audit '"max_size": "4k", "keep": 100'
    many 200
    for i in $(seq 200); do
        "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$DIR/b$i" "n$i" 3>&- &
        [ $((i % 50)) -ne 0 ] || wait
    done
    wait
    ls -l "$DIR/log"
    [ -e "$DIR/log/audit.jsonl.5" ]
    cat "$DIR"/log/audit.jsonl* | gojq -r .container | sort >"$DIR/got"
    seq 200 | sed 's/^/n/' | sort | diff - "$DIR/got"
    for file in "$DIR"/log/audit.jsonl*; do
        [ "$(stat -c %s "$file")" -le 4096 ]
    done
    counted 'flatbed_containers_total{verdict="allowed"}' 200
    counted flatbed_audit_errors_total 0
}

@test "SIGKILL during a write damages nothing" {
    setup_audit '"max_size": "4k", "keep": 100'
    many 60
    for i in $(seq 60); do
        "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$DIR/b$i" "n$i" 3>&- &
        pid=$!
        [ $((i % 3)) -eq 0 ] || { sleep "0.0$((i % 7))$((i % 10))" && kill -KILL "$pid" 2>/dev/null; } || true
    done
    wait
    create last
    cat "$DIR"/log/audit.jsonl* | gojq -r .container | sort >"$DIR/got"
    [ -z "$(uniq -d "$DIR/got")" ]
    for i in $(seq 3 3 60) ; do
        grep -qx "n$i" "$DIR/got"
    done
    grep -qx last "$DIR/got"
    grep -q '^flatbed_containers_total' "$DIR/log/flatbed.prom"
}

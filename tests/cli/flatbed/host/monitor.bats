#!/usr/bin/env bats
# flatbed monitor on a store of Docker made by hand, in a small file system. Needs root.
# shellcheck disable=SC2154,SC2016  # status and output are set by bats' run; inner shells expand

bats_require_minimum_version 1.5.0

ID=0000000000000000000000000000000000000000000000000000000000000005

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    [ "$(id -u)" -eq 0 ] || { [ "$CI" != true ] && skip "needs root"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-monitor.XXXXXX")
    BIN=$(mktemp -d /run/fb-monitor.XXXXXX) # where only root can replace a program
    chmod 0755 "$DIR" "$BIN"
    mkdir "$DIR/docker"
    mount -t tmpfs -o size=16m,mode=0755 none "$DIR/docker"
    store
    # Engines of other tests on this host have containers, too.
    printf '#!/bin/sh\n[ "$FLATBED_STORE" = "%s/docker" ] || exit 0\nenv >>%s/env\ncat >>%s/lines\nprintf "%%s|" "$@" >>%s/args\n' \
        "$DIR" "$BIN" "$BIN" "$BIN" >"$BIN/tell"
    chmod 0755 "$BIN/tell"
}

teardown() {
    [ -n "${DIR-}" ] || return 0
    ! mountpoint -q "$DIR/docker" || umount "$DIR/docker"
    rm -f "/run/flatbed/monitor/$(sed 's,/,%2F,g' <<<"$BIN/policy.json")"
    rm -rf --one-file-system "$DIR" "$BIN"
}

# A container of Docker, stopped, with the name $NAME.
store() {
    local root=$DIR/docker
    mkdir -p "$root"/overlay2/{base,top}/{diff,work} "$root/overlay2/l" "$root/containers/$ID" "$root/image/overlay2/layerdb/mounts/$ID"
    ln -s ../base/diff "$root/overlay2/l/Lbase"
    printf l/Lbase >"$root/overlay2/top/lower"
    printf top >"$root/image/overlay2/layerdb/mounts/$ID/mount-id"
    gojq -nc --arg id "$ID" --arg name "/${NAME-train}" '{ID: $id, Name: $name, Driver: "overlay2", State: {Running: false}}' \
        >"$root/containers/$ID/config.v2.json"
}

# policy ALERTS
policy() {
    printf '{"version":1,"audit":{"file":"%s/audit.jsonl","metrics":"%s/flatbed.prom","alerts":{%s}}}' "$BIN" "$BIN" "$1" >"$BIN/policy.json"
    chmod 0644 "$BIN/policy.json"
}

monitor() {
    run --separate-stderr "$FLATBED" monitor "--policy=$BIN/policy.json" "--store=$DIR/docker" "$@"
    [ "$status" -eq 0 ] || { echo "status $status: $output $stderr"; return 1; }
}

# verdicts ALERT: the lines of the audit about this store, in their order.
verdicts() {
    [ ! -e "$BIN/audit.jsonl" ] || gojq -r --arg store "$DIR/docker" --arg alert "$1" \
        'select(.store == $store and .alert == $alert) | .verdict' "$BIN/audit.jsonl" | tr '\n' ' '
}

writes() { head -c "$1" /dev/zero >"$DIR/docker/overlay2/top/diff/file"; }

equal() { [ "$1" = "$2" ] || { printf 'is: %s\nwanted: %s\n' "$1" "$2"; return 1; }; }

@test "an alert is raised once, held, and cleared once" {
    policy '"upper_bytes": "1m"'
    monitor
    equal "$(verdicts upper_bytes)" ""
    writes 2000000
    monitor
    [[ $output == *"alert"*"docker container train: its upper directory takes 1.9 MiB, the limit is 1.0 MiB"* ]]
    monitor
    [[ $output == *"held"*"docker container train"* ]]
    equal "$(verdicts upper_bytes)" "alert "
    writes 1000
    monitor
    equal "$(verdicts upper_bytes)" "alert cleared "
    monitor
    [[ $output != *train* ]]
    equal "$(verdicts upper_bytes)" "alert cleared "
}

@test "the alert of a container that is gone is cleared" {
    policy '"upper_bytes": "1m"'
    writes 2000000
    monitor
    rm -r "$DIR/docker/containers/$ID"
    monitor
    equal "$(verdicts upper_bytes)" "alert cleared "
    gojq -se 'last | .gone and .name == "train" and (.time | length == 24)' "$BIN/audit.jsonl"
}

@test "copies of files of the image have a limit of their own" {
    policy '"copyup_bytes": "1m"'
    writes 2000000
    monitor
    equal "$(verdicts copyup_bytes)" ""
    cp "$DIR/docker/overlay2/top/diff/file" "$DIR/docker/overlay2/base/diff/file"
    setfattr -n trusted.overlay.origin -v 0x00 "$DIR/docker/overlay2/top/diff/file"
    monitor
    equal "$(verdicts copyup_bytes)" "alert "
}

@test "a store that is nearly full" {
    policy '"store_free": "50%"'
    monitor
    equal "$(verdicts store_free)" ""
    writes 12000000
    monitor --json
    gojq -e --arg store "$DIR/docker" '.alerts[] | select(.store == $store) | .alert == "store_free" and .verdict == "alert"
        and .limit == 8388600 and .value < 6000000 and .container == ""' <<<"$output"
    writes 10
    monitor
    equal "$(verdicts store_free)" "alert cleared "
}

@test "--dry-run says that there is no alert, and why there can be none" {
    policy '"upper_bytes": "1g"'
    monitor --dry-run
    equal "$output" "no alert"
    monitor
    equal "$output" ""
    policy ''
    monitor --dry-run
    equal "$output" "no alert: audit.alerts of the policy sets no limit"
}

@test "--dry-run leaves nothing behind" {
    policy '"upper_bytes": "1m", "command": ["'"$BIN/tell"'"]'
    writes 2000000
    for _ in 1 2; do
        monitor --dry-run
        [[ $output == *"alert"*"container train"* ]]
    done
    [ ! -e "$BIN/audit.jsonl" ]
    [ ! -e "$BIN/flatbed-monitor.prom" ]
    [ ! -e "$BIN/lines" ]
}

@test "the command gets facts and no shell, from a container with a hostile name" {
    rm -r "${DIR:?}/docker/containers"
    NAME=$'a;touch $(id)\n"x' store
    policy '"upper_bytes": "1m", "command": ["'"$BIN/tell"'", "$(touch no)", "a b", "*"]'
    writes 2000000
    monitor
    equal "$(cat "$BIN/args")" '$(touch no)|a b|*|'
    equal "$(gojq -r .name "$BIN/lines")" $'a;touch $(id)\n"x'
    grep -qxF 'FLATBED_NAME=a;touch $(id)\x0a"x' "$BIN/env"
    grep -qx 'FLATBED_VERDICT=alert' "$BIN/env"
    grep -qx "FLATBED_CONTAINER=$ID" "$BIN/env"
    run ! grep -qE '^(HOME|USER|CI)=' "$BIN/env"
    monitor
    equal "$(wc -l <"$BIN/lines")" 1
    grep -qF 'name="a;touch $(id)\\x0a\"x"' "$BIN/flatbed-monitor.prom"
}

@test "a command that fails, hangs or may be written by others stops nothing" {
    policy '"upper_bytes": "1m", "store_free": "99%", "command": ["/bin/false"]'
    writes 2000000
    monitor
    [[ $stderr == *"/bin/false: exit status 1"* ]]
    equal "$(verdicts upper_bytes)$(verdicts store_free)" "alert alert "
    printf '#!/bin/sh\nsleep 600\n' >"$BIN/tell"
    policy '"upper_bytes": "1g", "store_free": "99%", "command": ["'"$BIN/tell"'"]'
    monitor
    [[ $stderr == *"killed, as it ran for more than 10 seconds"* ]]
    equal "$(verdicts upper_bytes)" "alert cleared "
    chmod 0777 "$BIN/tell"
    policy '"upper_bytes": "1m", "store_free": "99%", "command": ["'"$BIN/tell"'"]'
    monitor
    [[ $stderr == *"users other than root may write it"* ]]
    equal "$(verdicts upper_bytes)" "alert cleared alert "
}

@test "metrics of what was measured, in a file of their own" {
    policy '"upper_bytes": "1m", "store_free": "1k"'
    writes 2000000
    monitor
    grep -q "^flatbed_container_upper_bytes{engine=\"docker\",container=\"$ID\",name=\"train\",store=\"$DIR/docker\"} 2[0-9]*$" "$BIN/flatbed-monitor.prom"
    grep -q "^flatbed_store_size_bytes{store=\"$DIR/docker\"} 16777216$" "$BIN/flatbed-monitor.prom"
    grep -q '^flatbed_alert{alert="upper_bytes",engine="docker",' "$BIN/flatbed-monitor.prom"
    equal "$(stat -c %a "$BIN/flatbed-monitor.prom")" 644
    writes 10
    monitor
    run ! grep -q "^flatbed_alert{.*store=\"$DIR/docker\"" "$BIN/flatbed-monitor.prom"
}

@test "--follow runs again, with the policy as it is then" {
    policy '"upper_bytes": "1g"'
    writes 2000000
    "$FLATBED" monitor "--policy=$BIN/policy.json" "--store=$DIR/docker" --follow --interval=1 >"$DIR/out" 2>&1 &
    local pid=$! end=$((SECONDS + 60))
    policy '"upper_bytes": "1m"'
    until grep -q 'alert.*container train' "$DIR/out" || [ $SECONDS -gt $end ]; do sleep 0.1; done
    kill "$pid"
    wait "$pid" || true
    equal "$(verdicts upper_bytes)" "alert "
}

@test "what the command line does not take" {
    run "$FLATBED" monitor --interval=5
    [ "$status" -eq 2 ]
    run "$FLATBED" monitor --follow --interval=86401
    [ "$status" -eq 2 ]
    run "$FLATBED" monitor --policy="$BIN/none.json" x
    [ "$status" -eq 2 ]
}

@test "rules and dashboard name metrics that are written" {
    local docs=$BATS_TEST_DIRNAME/../../../../docs/monitor name
    policy '"upper_bytes": "1m", "copyup_bytes": "1m", "store_free": "99%"'
    writes 2000000
    monitor
    gojq -e '.panels | length == 8 and all(.targets[0].expr != "" and .gridPos.w == 12)' "$docs/grafana.json"
    gojq -e '[.panels[].id] | unique | length == 8' "$docs/grafana.json"
    for name in $(grep -hoE 'flatbed_[a-z_]+' "$docs"/* | sort -u); do
        [ "$name" = flatbed_containers_total ] || # written by flatbed-runtime
            grep -qE "^${name}[ {]" "$BIN/flatbed-monitor.prom" || { echo "$name is not written"; return 1; }
    done
    for name in $(grep -oE '^flatbed_[a-z_]+' "$BIN/flatbed-monitor.prom" | sort -u); do
        grep -q "$name" "$MAN_DIR/flatbed.8" || { echo "$name is not in flatbed(8)"; return 1; }
    done
    [ "$(command -v promtool)" ] || return 0
    promtool check rules "$docs/flatbed.rules.yml"
    promtool check metrics <"$BIN/flatbed-monitor.prom"
}

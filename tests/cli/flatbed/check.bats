#!/usr/bin/env bats
# flatbed: the command line; flatbed check.
# shellcheck disable=SC2154  # status and output are set by bats' run

bats_require_minimum_version 1.5.0
load lib/policy_bundle

# ---- the program ----

@test "help, version, completion" {
    run "$FLATBED" help
    exits 0
    has "flatbed install [OPTION]... docker|containerd|podman|nvidia"
    [ "$output" = "$("$FLATBED" --help)" ]
    [ "$("$FLATBED" help check)" = "$("$FLATBED" check --help)" ]
    [[ $("$FLATBED" --version) =~ ^flatbed\ [0-9] ]]
    for shell in bash zsh fish; do
        "$FLATBED" "--completion=$shell" | grep -q -- "dry-run"
    done
    "$FLATBED" --completion=bash | bash -n
}

@test "an invalid command line is refused" {
    run "$FLATBED"
    exits 2
    has "which command?"
    run "$FLATBED" chek
    exits 2
    has "did you mean 'check'?"
    run "$FLATBED" install lxc
    exits 2
    has "expected docker, containerd, podman or nvidia"
    run "$FLATBED" explain
    exits 2
    run "$FLATBED" explain --config=x y
    exits 2
}

# ---- check ----

@test "check: a source that does not answer is waited for with a word" {
    [ -e /dev/fuse ] && [ "$(id -u)" -eq 0 ] || { [ "$CI" != true ] && skip "needs FUSE and root"; return 1; }
    mkdir "$DIR/hangs" "$DIR/one" "$DIR/two"
    fuse-overlayfs -f -o "lowerdir=$DIR/one:$DIR/two" "$DIR/hangs" >/dev/null 2>&1 3>&- &
    local pid=$!
    for _ in $(seq 100); do
        if mountpoint -q "$DIR/hangs" || ! kill -0 "$pid"; then break; fi
        sleep 0.1
    done
    kill -STOP "$pid"
    cat >"$DIR/slow.json" <<END
{ "version": 1, "volumes": { "data": { "source": "$DIR/hangs/sets/{name}", "target": "/data/{name}", "access": "ro",
  "wait": 12 } } }
END
    check "$DIR/slow.json"
    kill -KILL "$pid"
    umount -l "$DIR/hangs"
    exits 0
    has "check: $DIR/hangs/sets has not answered for"
    matches 'volumes.data: .*/hangs/sets does not answer \[source-hangs\]'
}

# whole: a "security" that judges everything.
whole() { sed -i 's/"security": {.*}/"security": { "preset": "shared-lab" }/' "$DIR/policy.json"; }

@test "check: a valid policy passes, with a note on what it cannot reach" {
    whole
    check "$DIR/policy.json"
    exits 0
    matches '^note: no runtime judges docker cp, .*\(flatbed-policy\(5\), Out of reach\) \[out-of-reach\]$'
    has "1 file, 0 errors, 0 warnings"
    check --strict "$DIR/policy.json"
    exits 0
}

@test "check: an error is shown with its line and a caret below the position" {
    sed -i 's/"access": "ro"/"acess": "ro"/' "$DIR/policy.json"
    check "$DIR/policy.json"
    exits 1
    matches "^$DIR/policy.json:12:[0-9]+: error: .*did you mean .access"
    column=$(grep -oE 'json:12:[0-9]+' <<<"$output" | cut -d: -f3)
    [ "${lines[1]}" = "    $(sed -n 12p "$DIR/policy.json")" ]
    [ "${lines[2]}" = "$(printf '    %*s^' $((column - 1)) '')" ]
}

@test "check: the caret is at the right column after wide characters" {
    printf '{ "version": 1,\n  "requests": ["数据", "mounts"] }\n' >"$DIR/policy.json"
    check "$DIR/policy.json"
    exits 1
    [ "${lines[2]}" = "                   ^" ]
    printf '{ "version": 1,\n "mode": "off", /* 数据 */ "x": 1 }\n' >"$DIR/policy.json"
    check "$DIR/policy.json"
    exits 1
    # the six bytes have a width of four columns
    [ "${lines[1]}" = '     "mode": "off", /* 数据 */ "x": 1 }' ]
    [ "${lines[2]}" = "$(printf '%31s^' '')" ]
}

@test "check: text that is not JSON is an error" {
    echo '{ "version": 1, ' >"$DIR/policy.json"
    check "$DIR/policy.json"
    exits 1
    matches "policy.json:[12]:[0-9]+: error: "
}

@test "check: a draft is read, and the reason why the runtime would reject it is printed" {
    chmod 0666 "$DIR/policy.json"
    check "$DIR/policy.json"
    exits 1
    has "writable by group or others"
    check --draft "$DIR/policy.json"
    exits 0
    has "warning: flatbed-runtime would reject it"
    check --draft --strict "$DIR/policy.json"
    exits 1
}

@test "check: features missing on this host are reported" {
    sed -i "s|$DIR/srv/site|$DIR/srv/gone|; s|/bin/sh|/bin/none|" "$DIR/policy.json"
    check "$DIR/policy.json"
    exits 1
    has "[runtime-missing]"
    matches "policy.json:7:[0-9]+: error: volumes.site: $DIR/srv/gone does not exist"
    check --policy-only "$DIR/policy.json"
    exits 0
    has_not "[runtime-missing]"
    has_not "[source-missing]"
    chmod 0777 "$DIR/srv/data"
    check "$DIR/policy.json"
    matches "policy.json:6:[0-9]+: warning: .*\[source-writable\]"
}

@test "check: a runc that makes directories through swapped links is named with its version" {
    whole
    sed -i "s|/bin/sh|$DIR/runc|" "$DIR/policy.json"
    printf '#!/bin/sh\necho "runc version 1.1.13"\necho spec: 1.0.2-dev\n' >"$DIR/runc"
    chmod 0755 "$DIR/runc"
    check "$DIR/policy.json"
    exits 0
    matches "policy.json:3:[0-9]+: warning: $DIR/runc is runc 1.1.13: .*CVE-2024-45310.*update it to 1.1.14.*\[runtime-follows-links\]"
    sed -i 's/1.1.13/1.1.14/' "$DIR/runc"
    check --strict "$DIR/policy.json"
    exits 0
}

@test "check: a policy that judges half is told what else users can do" {
    local rule
    check "$DIR/policy.json"
    exits 0
    for rule in devices seccomp namespaces realtime; do
        has "[$rule-around]"
    done
    sed -i 's/"privileged": "deny"/"user": { "root": "deny" }/' "$DIR/policy.json"
    check --strict "$DIR/policy.json"
    exits 1
    has "[capabilities-around]"
}

@test "check: an audit file that cannot be written is reported" {
    whole
    sed -i "s|\"version\": 1,|& \"audit\": { \"file\": \"$DIR/log/a.jsonl\", \"metrics\": \"$DIR/gone/m.prom\" },|" "$DIR/policy.json"
    check "$DIR/policy.json"
    exits 0
    matches "policy.json:2:[0-9]+: warning: audit: $DIR/gone: No such file or directory: nothing can be written there \[audit-refused\]"
    has "1 warning"
    mkdir -m 0777 "$DIR/log"
    sed -i 's|"metrics": "[^"]*"|"required": true|' "$DIR/policy.json"
    check "$DIR/policy.json"
    exits 1
    matches "error: audit: .*must lie in directories that are owned by root and not writable by others: no container can start"
}

@test "check: warnings fail only with the option for it" {
    sed -i 's/"imagenet", "数据"/"*", "imagenet"/' "$DIR/policy.json"
    check "$DIR/policy.json"
    exits 0
    has "[name-covered]"
    check --strict --quiet "$DIR/policy.json"
    exits 1
    [ -z "$output" ]
}

@test "check: the JSON output lists the findings" {
    whole
    sed -i 's/"imagenet", "数据"/"*", "imagenet"/' "$DIR/policy.json"
    check --json "$DIR/policy.json"
    exits 0
    [ "$(gojq -r '.findings[0] | "\(.level) \(.rule) \(.line)"' <<<"$output")" = "warning name-covered 6" ]
    [ "$(gojq -r '.errors, .warnings' <<<"$output" | tr '\n' ' ')" = "0 1 " ]
}

@test "check: a missing file is an error" {
    check "$DIR/none.json"
    exits 3
}

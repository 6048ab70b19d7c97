#!/usr/bin/env bats
# flatbed explain.
# shellcheck disable=SC2154  # status and output are set by bats' run

bats_require_minimum_version 1.5.0
load lib/policy_bundle

@test "explain: additions are shown with the policy line they come from" {
    before=$(stat -c '%i %Y' "$DIR/bundle/config.json")
    explain --annotation flatbed.data=imagenet
    exits 0
    matches "^added +volume +data:imagenet +$DIR/srv/data/imagenet → /work/imagenet +ro +$DIR/policy.json:6 "
    matches "^added +volume +logs +$DIR/srv/logs/bundle → /logs +rw +$DIR/policy.json:8 "
    matches "^added +variable +SITE +/site "
    matches "^mode +enforce"
    matches "^runs as +1234:1234"
    has "allowed: 4 added"
    [ "$before" = "$(stat -c '%i %Y' "$DIR/bundle/config.json")" ]
    [ ! -e "$DIR/srv/logs" ]
}

@test "explain: a refusal is shown with its reason and exit status 1" {
    config "$(mount_of /etc /x)"
    explain --annotation flatbed.data=nonsense
    exits 1
    matches "^denied +volume .*'nonsense' is not offered"
    matches "^denied +mount +/x +/etc → /x +$DIR/policy.json:11 +user +/etc is not allowed: no rule contains it$"
    has "refused:"
    # The runtime gives the same reason.
    run "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$DIR/bundle" c1
    exits 1
    has "/etc is not allowed"
}

@test "explain: a downgraded mount is shown" {
    config "$(mount_of "$DIR/srv/site" /x)"
    explain
    exits 0
    matches "^downgraded +mount +/x +$DIR/srv/site → /x +ro +$DIR/policy.json:12 "
}

@test "explain: requests by a variable and a permissive policy are shown" {
    explain --env FLATBED_DATA=imagenet --id=c7
    exits 0
    matches "^added +volume +data:imagenet"
    has "/srv/logs/c7"
    sed -i 's/"version": 1,/"version": 1, "mode": "permissive",/' "$DIR/policy.json"
    explain -e FLATBED_DATA=none
    exits 0
    matches "^denied +volume"
    has "(permissive"
}

@test "explain: a missing source is shown as refused or as to be created" {
    rmdir "$DIR/srv/site"
    explain
    exits 1
    matches "^denied +volume +site .*$DIR/srv/site does not exist"
    matches "^skipped +variable +SITE"
}

# below SOURCE TARGET: a container with the user's $DIR/srv on /mnt, and this mount.
below() {
    mkdir -p "$DIR/bundle/rootfs"
    config "$(mount_of "$DIR/srv" /mnt) $(mount_of "$1" "$2")"
    sed -i 's|"ociVersion": "1.0.2",|& "root": { "path": "rootfs" },|' "$DIR/bundle/config.json"
}

@test "explain: mounts that a hook compares are shown, and those that are refused below others" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    sed -i 's|"default": "deny", "rules"|"default": "deny", "targets_deny": ["/proc"], "rules"|; s|"access": "ro" }|"access": "allow" }|' "$DIR/policy.json"
    below "$DIR/srv/data" /mnt/site
    explain
    exits 0
    matches "^checked +place +/mnt/site +$DIR/srv/data → /mnt/site .* policy .*a hook compares the mounts"
    matches '^allowed: .*, 1 checked$'
    explain --json
    gojq -r '.operations[] | select(.verdict == "checked") | .value' <<<"$output" | grep -qE '^[0-9]+:[0-9]+:/.*/srv/data$'
    ln -s /etc "$DIR/srv/link"
    below "$DIR/srv/data" /mnt/link/x
    explain
    exits 1
    matches '^denied +place +/mnt/link/x .*there is a symbolic link in what is mounted on /mnt'
    run "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$DIR/bundle" c1
    exits 1
    has "there is a symbolic link in what is mounted on /mnt"
    sed -i 's|"access": "allow" }|"access": "ro" }|' "$DIR/policy.json"
    below "$DIR/srv/data" /mnt/new
    explain
    exits 1
    matches "^denied +place +/mnt/new .*read-only, and has no 'new'"
}

@test "explain: a source that does not answer is waited for with a word" {
    [ -e /dev/fuse ] && [ "$(id -u)" -eq 0 ] || { [ "$CI" != true ] && skip "needs FUSE and root"; return 1; }
    mkdir "$DIR"/srv/{hangs,one,two} "$DIR/srv/one/data"
    fuse-overlayfs -f -o "lowerdir=$DIR/srv/one:$DIR/srv/two" "$DIR/srv/hangs" >/dev/null 2>&1 3>&- &
    local pid=$! explaining
    for _ in $(seq 100); do
        if mountpoint -q "$DIR/srv/hangs" || ! kill -0 "$pid"; then break; fi
        sleep 0.1
    done
    kill -STOP "$pid"
    config "$(mount_of "$DIR/srv/site" /site2)$(mount_of "$DIR/srv/hangs/data" /data)"
    "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$DIR/bundle/config.json" >"$DIR/out" 2>"$DIR/err" 3>&- &
    explaining=$!
    for _ in $(seq 60); do
        if grep -q "waiting for it" "$DIR/err" || ! kill -0 "$explaining"; then break; fi
        sleep 0.1
    done
    kill -CONT "$pid"
    wait "$explaining" || true
    umount "$DIR/srv/hangs" || { kill -KILL "$pid"; umount -l "$DIR/srv/hangs"; }
    cat "$DIR/err"
    grep -qE "explain: $DIR/srv/hangs/data has not answered for [2-4] s; waiting for it" "$DIR/err"
    grep -q "/srv/hangs/data" "$DIR/out" || { cat "$DIR/out"; false; }
}

@test "explain: a source that the runtime rejects is denied, optional or not" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    sed -i "s|\"target\": \"/site\",|& \"pool\": \"$DIR/gone\", \"optional\": true,|" "$DIR/policy.json"
    explain
    exits 1
    matches "^denied +volume +site .*the pool $DIR/gone does not exist"
    mkdir "$DIR/gone" && chown 1234 "$DIR/srv/site"
    explain
    exits 1
    matches "^denied +volume +site .*the private side of a pool must be a directory that is owned by root"
    sed -i 's|"pool": "[^"]*", ||' "$DIR/policy.json"
    explain
    exits 0
    rmdir "$DIR/srv/site" && ln -s /etc "$DIR/srv/site" && chown 1234 "$DIR/srv"
    explain
    exits 1
    matches "^denied +volume +site .*is a symbolic link that not only root could have made"
    rm "$DIR/srv/site"
    explain
    exits 0
    matches "^skipped +volume +site .*does not exist"
}

@test "explain: the prediction matches the runtime for 200 random containers under random policies" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    mkdir "$DIR/random"
    run python3 "$BATS_TEST_DIRNAME/../shim/lib/random_containers.py" "$FLATBED" "$FLATBED_RUNTIME" "$DIR/random" "${FB_SEED-1}" 200
    rm -rf "/run/flatbed/state/${DIR//\//%2F}%2Frandom%2Fstate"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "explain: columns are aligned behind wide characters" {
    mkdir "$DIR/srv/data/数据"
    sed -i 's/{name}", "names"/{name}", "presets": [], "names"/' "$DIR/policy.json"
    config "$(mount_of "$DIR/srv/data/数据" /数据)$(mount_of "$DIR/srv/data/imagenet" /abcd)"
    explain
    exits 0
    wide=$(grep -E '^downgraded +mount +/数据 ' <<<"$output")
    plain=$(grep -E '^downgraded +mount +/abcd ' <<<"$output")
    wide=${wide%%"$DIR"*} plain=${plain%%"$DIR"*}
    # Same columns: seven bytes have a width of five, and five bytes have a width of five.
    LC_ALL=C
    [ ${#wide} -eq $((${#plain} + 2)) ]
}

@test "explain: control characters from a container are not printed" {
    explain --annotation $'flatbed.data=\e[2J\nx'
    exits 1
    has_not $'\e'
    has '\x1b'
}

@test "explain: colours are used only on a terminal and can be switched off" {
    command -v script >/dev/null || skip "script is not installed"
    line="'$FLATBED' explain --policy='$DIR/policy.json' --config='$DIR/bundle/config.json'"
    explain
    has_not $'\e['
    run env TERM=xterm script -qec "$line" /dev/null
    has $'\e[32madded\e[0m'
    run env TERM=xterm NO_COLOR=1 script -qec "$line" /dev/null
    has_not $'\e['
}

@test "explain: the JSON output has the decisions" {
    explain --json --annotation flatbed.data=imagenet
    exits 0
    [ "$(gojq -r '.allowed, .mode, .process.uid' <<<"$output" | tr '\n' ' ')" = "true enforce 1234 " ]
    [ "$(gojq -r '.operations[] | select(.subject == "data:imagenet") | "\(.verdict) \(.access) \(.target)"' \
        <<<"$output")" = "added ro /work/imagenet" ]
}

@test "explain: a container is found by its ID, a prefix of the ID, or its name" {
    task=$DIR/state/io.containerd.runtime.v2.task/moby
    store=$DIR/state/overlay-containers
    mkdir -p "$task/abc123" "$task/abd456" "$store/fff999/userdata" "$DIR/state/containers/abd456"
    for place in "$task/abc123" "$task/abd456" "$store/fff999/userdata"; do
        cp "$DIR/bundle/config.json" "$place/"
    done
    echo '{"ID":"abd456","Name":"/train"}' >"$DIR/state/containers/abd456/config.v2.json"
    echo '[{"id":"fff999","names":["web"]}]' >"$store/containers.json"
    for row in abc123:abc123 abc:abc123 train:abd456 fff:fff999 web:fff999; do
        run "$FLATBED" explain "--policy=$DIR/policy.json" "--state=$DIR/state" "${row%:*}"
        exits 0
        matches "^container +${row#*:}"
    done
    run "$FLATBED" explain "--state=$DIR/state" ab
    exits 2
    has "could be 2 containers: ab"
    for word in none '*' ../bundle ''; do
        run "$FLATBED" explain "--state=$DIR/state" "$word"
        exits 2
    done
}

@test "explain: a name is found in Docker's data-root and podman's graphroot, wherever these are" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    docker=$DIR/docker podman=$DIR/podman
    mkdir -p "$DIR"/etc/{docker,containers} "$docker/containers/abd456" "$podman/overlay-containers/fff999/userdata" \
        "$DIR/run/io.containerd.runtime.v2.task/moby/abd456"
    printf '{"data-root": "%s"}' "$docker" >"$DIR/etc/docker/daemon.json"
    printf '[storage]\ngraphroot = "%s"\n' "$podman" >"$DIR/etc/containers/storage.conf"
    cp /etc/passwd /etc/group "$DIR/etc"
    echo '{"ID":"abd456","Name":"/train"}' >"$docker/containers/abd456/config.v2.json"
    echo '[{"id":"fff999","names":["web"]}]' >"$podman/overlay-containers/containers.json"
    cp "$DIR/bundle/config.json" "$podman/overlay-containers/fff999/userdata/"
    cp "$DIR/bundle/config.json" "$DIR/run/io.containerd.runtime.v2.task/moby/abd456/"
    for row in train:abd456 web:fff999; do
        run unshare --mount --propagation private sh -c 'mount --bind "$1/etc" /etc && shift && exec "$@"' \
            sh "$DIR" "$FLATBED" explain "--policy=$DIR/policy.json" "--state=$DIR/run" "${row%:*}"
        exits 0
        matches "^container +${row#*:}"
    done
}

# task ID: makes the bundle of a container of Docker, as explain finds it.
task() {
    TASK=$DIR/state/io.containerd.runtime.v2.task/moby/$1
    mkdir -p "$TASK"
    cp "$DIR/bundle/config.json" "$TASK/"
}

# created ID: the container is created; the low-level runtime fails, which does not matter here.
created() {
    "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --root "$DIR/root" create --bundle "$TASK" "$1" || true
}

explain_task() { run "$FLATBED" explain "--policy=$DIR/policy.json" "--state=$DIR/state" "$@"; }

@test "explain: a running container's root may be out of sight, its passwd is ours" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    sed -i 's|"security": {|"user": { "passwd": true }, "security": {|' "$DIR/policy.json"
    config ''
    task abc123
    mkdir -p "$TASK/rootfs/etc"
    echo root:x:0:0::/: >"$TASK/rootfs/etc/passwd"
    sed -i 's|"mounts"|"root": {"path": "rootfs"}, &|' "$TASK/config.json"
    created abc123
    mv "$TASK/rootfs" "$DIR/elsewhere"
    explain_task abc123
    exits 0
    matches "^(kept|added) +file +/etc/passwd"
}

@test "explain: of a running container it says who added what" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    sed -i 's|"security": {|"tuning": { "nofile": 4096 }, "security": { "no_new_privileges": true,|' "$DIR/policy.json"
    config "$(mount_of "$DIR/srv/site" /x)"
    sed -i 's|"mounts"|"annotations": {"flatbed.data": "imagenet"}, &|' "$DIR/bundle/config.json"
    task abc123
    created abc123
    explain_task abc123
    rm -rf "/run/flatbed/state/${DIR//\//%2F}%2Froot"
    exits 0
    matches "^added +volume +data:imagenet +$DIR/srv/data/imagenet → /work/imagenet +ro +$DIR/policy.json:6 +request +asked for"
    matches "^added +volume +logs .* policy +always mounted"
    matches "^added +variable +SITE .* policy "
    matches "^added +limit +RLIMIT_NOFILE +4096 .* policy "
    matches "^downgraded +mount +/x .* policy +mounted ro"
    matches "^downgraded +no_new_privileges .* policy "
    # Another container of that ID, in another bundle, is not this one.
    rm -rf "$TASK"
    TASK=${TASK/moby/other}
    mkdir -p "$TASK" && cp "$DIR/bundle/config.json" "$TASK/"
    explain_task --json abc123
    exits 0
    [ "$(gojq -r '.operations[] | select(.subject == "/x") | "\(.verdict) \(.by)"' <<<"$output")" = "downgraded user" ]
}

@test "explain: the GPUs of a container are named" {
    explain
    has_not "gpus"
    # shellcheck disable=SC2016
    local edit='def node($path; $major; $minor): {path: $path, type: "c", major: $major, minor: $minor};
        .linux.devices = [node("/dev/nvidia0"; 195; 0), node("/dev/nvidia3"; 195; 3),
            node("/dev/nvidia-caps/nvidia-cap3"; 236; 3), node("/dev/nvidiactl"; 195; 255)]
        | .linux.resources.devices += [{allow: true, type: "c", major: 195, minor: 3, access: "rw"},
            {allow: true, type: "c", major: 195, minor: $minor, access: "rw"}]'
    cp "$DIR/bundle/config.json" "$DIR/plain.json"
    gojq --argjson minor 7 "$edit" "$DIR/plain.json" >"$DIR/bundle/config.json"
    explain
    matches '^gpus +/dev/nvidia0( \(.*\))?, /dev/nvidia3( \(.*\))?, /dev/nvidia-caps/nvidia-cap3 \(MIG\), 195:7, by a device rule$'
    explain --json
    [ "$(gojq -r '.gpus | length' <<<"$output")" = 4 ]
    gojq --argjson minor -1 "$edit" "$DIR/plain.json" >"$DIR/bundle/config.json"
    explain
    matches '^gpus .*all, by a device rule for 195:\*$'
}

@test "explain: lines are not longer than the terminal" {
    command -v script >/dev/null || skip "script is not installed"
    config "$(mount_of /etc /a/long/path/in/the/container/数据)"
    line="'$FLATBED' explain --policy='$DIR/policy.json' --config='$DIR/bundle/config.json' --annotation=flatbed.data=none"
    for columns in 40 60 80 131; do
        for how in "COLUMNS=$columns" "stty cols $columns;"; do
            run script -qec "$how $line" /dev/null
            exits 1
            has "refused"
            longest=$(tr -d '\r' <<<"$output" | sed $'s/\e\\[[0-9]*m//g' | python3 -c '
import sys, unicodedata
print(max(sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line.rstrip("\n")) for line in sys.stdin))')
            echo "$how: $longest columns"
            [ "$longest" -le "$columns" ]
        done
    done
    # Without a terminal, a row is one line.
    COLUMNS=40 explain
    matches "^denied +mount +/a/long/path/in/the/container/数据 +/etc → .* is not allowed: no rule contains it$"
}

@test "explain: what is allowed is said once" {
    config "$(mount_of /etc /a)$(mount_of /usr /b)"
    explain --annotation flatbed.data=x,y
    exits 1
    [ "$(grep -c "there are: imagenet, 数据" <<<"$output")" = 1 ]
    [ "$(grep -c "mounts are allowed from: $DIR/srv (read-only)" <<<"$output")" = 1 ]
}

@test "explain: an invalid config.json is an error" {
    echo '{ "mounts": 1 }' >"$DIR/bundle/config.json"
    explain
    exits 5
    has config.json
    echo '{ "mounts": [' >"$DIR/bundle/config.json"
    explain
    exits 5
}

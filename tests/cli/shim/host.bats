#!/usr/bin/env bats
# flatbed-runtime and the host it finds: odd file systems, limits, streams, a real runc.
# shellcheck disable=SC2154,SC2317,SC2016 # run sets stderr; `prepare` is called elsewhere; scripts for later

load lib/shim

as_root() { [ "$(id -u)" -eq 0 ] || skip "needs root"; }

# privately COMMAND…: runs it in a new mount namespace, after the function `prepare`.
privately() {
    export FLATBED_RUNTIME DIR BUNDLE
    unshare --mount --propagation private bash -c "$(declare -f prepare); prepare && exec \"\$@\"" - "$@"
}

# ------------------------------------------------------------------ /etc/flatbed

# default_policy COMMANDS: runs `create` under an /etc that contains only the files made by COMMANDS.
default_policy() {
    cat >"$DIR/prepare" <<END
cp /etc/ld.so.cache /etc/passwd "$DIR"
mount -t tmpfs none /etc && mv "$DIR/ld.so.cache" "$DIR/passwd" /etc
$1
END
    prepare() { sh -e "$DIR/prepare"; }
    run --separate-stderr privately "$FLATBED_RUNTIME" "--flatbed-runtime=$DIR/low" create --bundle "$BUNDLE" c1
}

@test "a missing policy is no policy; a dangling link is an error" {
    as_root
    default_policy ""
    [ "$status" -eq 7 ]
    default_policy "mkdir /etc/flatbed"
    [ "$status" -eq 7 ]
    rm "$DIR/low.words"
    default_policy "ln -s /nonexistent /etc/flatbed"
    refused "/etc/flatbed/policy.json: No such file or directory"
    default_policy "mkdir /etc/flatbed; ln -s nowhere /etc/flatbed/policy.json"
    refused "/etc/flatbed/policy.json: a symbolic link, which is not followed"
    default_policy "mkdir /etc/flatbed; ln -s nowhere /etc/flatbed/policy.d"
    refused "/etc/flatbed/policy.d: a symbolic link, which is not followed"
}

# ------------------------------------------------------------------ mounts below a source

# A tmpfs below the source of `data` (ro) and of `logs` (rw).
prepare_submounts() {
    mkdir -p "$DIR/srv/data/imagenet/sub" "$DIR/srv/logs/c1/sub"
    prepare() {
        mount -t tmpfs none "$DIR/srv/data/imagenet/sub" && mount -t tmpfs none "$DIR/srv/logs/c1/sub"
    }
}

@test "a source with mounts below it is pinned, and its options apply to all of them" {
    as_root
    prepare_submounts
    printf '#!/bin/sh\ncat /proc/self/mountinfo\n' >"$DIR/low"
    local round p
    for round in first second; do
        run --separate-stderr privately "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
        [ "$status" -eq 0 ]
        for p in data:imagenet data:imagenet/sub; do
            grep -q " /run/flatbed/pin/$p ro,nosuid,nodev" <<<"$output"
        done
        for p in logs: logs:/sub; do
            grep -q " /run/flatbed/pin/$p rw,nosuid,nodev" <<<"$output"
        done
        cp "$BUNDLE/config.json" "$DIR/$round"
    done
    cmp "$DIR/first" "$DIR/second"
    # The mounts of the host are unchanged, and a source without mounts below it is not pinned.
    config "$BUNDLE"
    prepare() { :; }
    run privately "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    run ! grep -q /run/flatbed/pin "$BUNDLE/config.json"
}

# runc_bundle SCRIPT: a container with the programs of the host that runs SCRIPT.
runc_bundle() {
    mkdir -p "$BUNDLE/rootfs"
    runc spec --bundle "$DIR"
    gojq --arg s "$1" '.process.terminal = false | .process.args = ["/bin/sh", "-c", $s] | .root.path = "rootfs"
        | .root.readonly = false | .annotations = {"flatbed.data": "imagenet"}
        | .mounts += [ "/usr", "/bin", "/lib", "/lib64" | { destination: ., source: ., type: "bind", options: ["rbind", "ro"] } ]' \
        "$DIR/config.json" >"$BUNDLE/config.json"
}

@test "runc: a read-only volume is also read-only below a mount point of its source" {
    as_root
    command -v runc >/dev/null || skip "needs runc"
    prepare_submounts
    runc_bundle 'echo x >/work/imagenet/sub/f || echo denied; echo x >/logs/sub/f && echo written'
    sed -i 's|"paths": \[[^]]*\]|"paths": ["runc"]|' "$DIR/policy.json"
    run --separate-stderr privately "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --root "$DIR/state" \
        run --bundle "$BUNDLE" c1
    echo "$status '$output' '$stderr'"
    [ "$output" = $'denied\nwritten' ]
}

# ------------------------------------------------------------------ mounts in config.json

@test "a mount with the source of a volume and other options is not treated as that volume" {
    sed -i "s|\"mounts\": \[|& {\"destination\":\"/work/imagenet\",\"type\":\"bind\",\"source\":\"$DIR/srv/data/imagenet\",\"options\":[\"rbind\",\"rw\"]},|" \
        "$BUNDLE/config.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "something else is mounted on /work/imagenet already"
}

@test "a mount in config.json whose source is in the directory of pins is refused" {
    sed -i 's|"mounts": \[|& {"destination":"/x","type":"bind","source":"/run/flatbed/pin/data:imagenet"},|' "$BUNDLE/config.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "mounts: the container's own mount on /x has a source in /run/flatbed/pin"
}

@test "a member name that ends in a NUL byte is refused" {
    sed -i 's|"mounts":|"mounts\\u0000":|' "$BUNDLE/config.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "config.json: top level: a member's name with a NUL byte"
}

# ------------------------------------------------------------------ streams and limits

@test "closed standard streams stay closed, and config.json receives no output" {
    printf '#!/bin/sh\n[ "$1" != features ] || exit 1\nfor f in 0 1 2; do [ ! -e /proc/$$/fd/$f ] || echo $f >>"%s/open"; done\n' "$DIR" >"$DIR/low"
    "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1 <&- >&- 2>&-
    gojq -e '.mounts | length == 3' "$BUNDLE/config.json"
    [ ! -e "$DIR/open" ]
    annotate secret
    run "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --log "$DIR/log" create --bundle "$BUNDLE" c1 <&- >&- 2>&-
    [ "$status" -eq 1 ]
    [ "$(wc -l <"$DIR/log")" -eq 1 ]
    # The message is not written to the log either, which may have been opened as descriptor 2.
    "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --log "$DIR/log2" create --bundle "$BUNDLE" c1 2>&- || status=$?
    [ "$status" -eq 1 ]
    [ "$(wc -l <"$DIR/log2")" -eq 1 ]
}

@test "a file size limit is an error, and leaves no temporary file" {
    run bash -c 'ulimit -f 0; exec "$@" 2>&1' - "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" \
        --log "$DIR/log" create --bundle "$BUNDLE" c1
    [ "$status" -eq 1 ]
    [[ $output =~ config.json:.*File\ too\ large ]]
    [ "$(ls -A "$BUNDLE")" = config.json ]
    # The low-level runtime gets the disposition of the signal unchanged.
    printf '#!/bin/sh\ngrep SigIgn /proc/self/status\n' >"$DIR/low"
    [ "$(shim create --bundle "$BUNDLE" c1)" = "$(sh "$DIR/low")" ]
}

@test "an error in an option of flatbed-runtime reaches the log" {
    local words
    for words in --flatbed-polcy=/x "--flatbed-policy /x" "--flatbed-polcy=x --flatbed-runtime=/y"; do
        rm -f "$DIR/log"
        # shellcheck disable=SC2086
        run --separate-stderr "$FLATBED_RUNTIME" $words --log "$DIR/log" --log-format json create --bundle "$BUNDLE" c1
        refused "unknown option"
        [[ $(gojq -r .msg "$DIR/log") == *"unknown option"* ]]
    done
}

@test "the flavour in the policy selects the only accepted grammar" {
    sed -i 's|"paths"|"flavor": "crun", "paths"|' "$DIR/policy.json"
    run --separate-stderr shim create -bundle "$BUNDLE" c1 # a form that only runc accepts
    refused "cannot read this command line|two meanings"
}

# ------------------------------------------------------------------ user lookup

@test "a user database that fails does not change the user name" {
    as_root
    sed -i "s|logs/{container}|logs/{user}|" "$DIR/policy.json"
    sed -i 's|"uid": 0|"uid": 3999999999|' "$BUNDLE/config.json"
    printf '#!/bin/sh\nexit 1\n' >"$DIR/getent"
    chmod 0755 "$DIR/getent"
    prepare() { mount --bind "$DIR/getent" /usr/bin/getent; }
    run --separate-stderr privately "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    refused "getent did not say what the user 3999999999 is called"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ -d "$DIR/srv/logs/3999999999" ]
}

# ------------------------------------------------------------------ directories that are created

@test "a directory created as the user has exactly the mode in the policy" {
    as_root
    sed -i 's|logs/{container}|logs/{container}/x|; s|"0750"|"2770"|' "$DIR/policy.json"
    sed -i 's|"uid": 0, "gid": 0|"uid": 12345, "gid": 12345|' "$BUNDLE/config.json"
    chown 12345:12345 "$DIR/srv/logs"
    run shim create --bundle "$BUNDLE" c1
    [ "$(stat -c '%a %u' "$DIR/srv/logs/c1")" = "755 12345" ]
    [ "$(stat -c '%a %u' "$DIR/srv/logs/c1/x")" = "2770 12345" ]
}

@test "a directory created without a mode in the policy has mode 0750" {
    sed -i 's|"create": { "mode": "0750" }|"create": {}|' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$(stat -c %a "$DIR/srv/logs/c1")" = 750 ]
}

@test "the annotation of a pause container skips volumes only" {
    sed -i 's|"annotations": {|"annotations": { "io.kubernetes.cri.container-type": "sandbox",|' "$BUNDLE/config.json"
    sed -i 's|"mounts":|"Mounts":|' "$BUNDLE/config.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused 'would be read as "mounts"'
}

#!/usr/bin/env bats
# The working directory, before a real runc and crun, which enter it as root: no process starts in a directory of a
# mount that its user may not enter, also if he leads it there by a link at that moment.

bats_require_minimum_version 1.5.0

load lib/frame
frame bundle

policy() { guard runc; }

# guard RUNTIME
guard() {
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$1"] },
  "binds": { "require_access": true, "rules": [
      { "path": "$FB_SRV/lab", "access": "allow" },
      { "path": "$FB_SRV/roots", "access": "allow" } ] } }
END
}

test_begin() {
    LAB=$FB_SRV/lab
    mkdir -p "$LAB/private/open" "$LAB/mine/sub"
    echo secret >"$LAB/private/open/file"
    ln -s ../private/open "$LAB/mine/link"
    echo own >"$LAB/mine/sub/file"
    chmod 0700 "$LAB/private"
    chown -R 1234 "$LAB/private"
    chown -R 1001:1001 "$LAB/mine"
}

# placed NAME CWD SCRIPT [UID [FILTER]]: makes a bundle with the lab on /lab; prints its path.
placed() {
    local bundle
    bundle=$(bundle_make "$1" null "$3")
    bundle_edit "$bundle" --arg s "$LAB" --arg c "$2" --argjson u "${4-1001}" --argjson f "${5-$BUNDLE_FILTER}" \
        '.mounts += [{destination: "/lab", type: "bind", source: $s, options: ["rbind", "rprivate"]}]
         | .process.cwd = $c | .process.user = {uid: $u, gid: $u} | .linux.seccomp = $f'
    mkdir -p "$bundle/rootfs/closed"
    chmod 0700 "$bundle/rootfs/closed"
    echo "$bundle"
}

# process CWD SCRIPT [UID]
process() {
    gojq -n --arg c "$1" --arg s "$2" --argjson u "${3-1001}" \
        '{user: {uid: $u, gid: $u}, args: ["/bin/sh", "-c", $s], env: ["PATH=/bin"], cwd: $c}'
}

# runs_in CWD [UID]: an exec in the container prints its working directory and the file there.
runs_in() {
    process "$1" 'pwd; cat file 2>/dev/null; :' "${2-1001}" >"$FB_DIR/process.json"
    run shim exec --process "$FB_DIR/process.json" "$ID"
}

refused() {
    expect_status 1
    expect_match "process.cwd: the container's user may not enter $1"
}

creates() {
    local cwd
    guard "$1"
    for cwd in /lab/private /lab/private/open /lab/mine/link /lab/private/open/../../private/open; do
        run shim run --bundle "$(placed "one$RANDOM" "$cwd" 'cat file')" "$ID"
        refused "$cwd"
    done
    run shim run --bundle "$(placed two /lab/private/open 'cat file' 1234)" "$ID"
    expect_output secret
    run shim run --bundle "$(placed three /lab/mine/sub 'cat file')" "$ID"
    expect_output own
    # A directory that the image closes is no secret of the host's.
    run shim run --bundle "$(placed four /closed pwd)" "$ID"
    expect_output /closed
}

@test "runc: a container does not start where its user may not enter" { creates runc; }

@test "crun: a container does not start where its user may not enter" { creates crun; }

execs() {
    local cwd
    guard "$1"
    shim_create "$FB_DIR/log" --bundle "$(placed one / 'sleep 600')" "$ID"
    shim start "$ID"
    for cwd in /lab/private /lab/private/open /lab/mine/link; do
        runs_in "$cwd"
        refused "$cwd"
    done
    for cwd in /proc/1/root/lab/private/open /proc/self/cwd; do
        runs_in "$cwd"
        expect_status 1
        expect_match "process.cwd: $cwd: "
    done
    runs_in /lab/private/open 1234
    expect_output $'/lab/private/open\nsecret'
    runs_in /lab/private/open 0
    expect_output $'/lab/private/open\nsecret'
    runs_in /lab/mine/sub
    expect_output $'/lab/mine/sub\nown'
    runs_in /closed
    expect_output /closed
    runs_in /
    expect_output /
    runs_in /lab/missing
    expect_status 1
    expect_match "process.cwd: /lab/missing: No such file"
    # A descriptor of the caller stays where it was.
    process /lab/mine/sub 'pwd; cat <&3' >"$FB_DIR/process.json"
    run shim exec --preserve-fds 1 --process "$FB_DIR/process.json" "$ID" 3<"$LAB/mine/sub/file"
    expect_output $'/lab/mine/sub\nown'
    run shim exec --preserve-fds=1 --process "$FB_DIR/process.json" -- "$ID" 3<"$LAB/mine/sub/file"
    expect_output $'/lab/mine/sub\nown'
    shim delete --force "$ID"
}

@test "runc: an exec does not start where its user may not enter" { execs runc; }

@test "crun: an exec does not start where its user may not enter" { execs crun; }

# Exchanges a directory of the user's and a link to the closed one until the test ends it.
exchange() {
    python3 -B "$BATS_TEST_DIRNAME/lib/exchange.py" "$1/sub" "$1/link" 3>&- &
    SWAPPER=$!
}

races_starts() {
    local i bundle told=0 began=0
    guard "$1"
    bundle=$(placed one /lab/mine/sub 'echo "is $(cat file)"')
    cp "$bundle/config.json" "$FB_DIR/kept.json"
    exchange "$LAB/mine"
    for ((i = 0; i < 60 || (i < 1000 && (told == 0 || began == 0)); i++)); do
        cp "$FB_DIR/kept.json" "$bundle/config.json"
        if shim_create "$FB_DIR/log" --bundle "$bundle" "$ID-$i"; then
            run shim start "$ID-$i"
            [[ $output != *"may not enter"* ]] || told=$((told + 1))
            for _ in {1..100}; do
                [ "$status" -ne 0 ] || [ -s "$FB_DIR/log" ] || sleep 0.02
            done
            grep -qs secret "$FB_DIR/log" && break
            ! grep -q own "$FB_DIR/log" || began=$((began + 1))
            shim delete --force "$ID-$i"
        fi
    done
    kill "$SWAPPER"
    wait "$SWAPPER" || true
    echo "refused at the start $told, began $began: $(<"$FB_DIR/log")"
    ! grep -q secret "$FB_DIR/log"
    [ "$told" -gt 0 ]
    [ "$began" -gt 0 ]
}

@test "runc: a link that comes up while a container is made leads it nowhere" { races_starts runc; }

@test "crun: a link that comes up while a container is made leads it nowhere" { races_starts crun; }

races_execs() {
    local i told=0 began=0
    guard "$1"
    shim_create "$FB_DIR/log" --bundle "$(placed one / 'sleep 600')" "$ID"
    shim start "$ID"
    exchange "$LAB/mine"
    for ((i = 0; i < 60 || (i < 1000 && (told == 0 || began == 0)); i++)); do
        runs_in /lab/mine/sub
        [[ $output != *secret* ]] || break
        [[ $output != *"may not enter"* ]] || told=$((told + 1))
        [[ $output != *own* ]] || began=$((began + 1))
    done
    kill "$SWAPPER"
    wait "$SWAPPER" || true
    shim delete --force "$ID"
    echo "refused $told, began $began, last: $output"
    [[ $output != *secret* ]]
    [ "$told" -gt 0 ]
    [ "$began" -gt 0 ]
}

@test "runc: a link that comes up before an exec leads it nowhere" { races_execs runc; }

@test "crun: a link that comes up before an exec leads it nowhere" { races_execs crun; }

# A first process changes its root, and where it can its namespaces: what an exec of the user's enters stays his.
moves() {
    local script='exec chroot /lab /bin/busybox sh -c "echo moved; exec /bin/busybox sleep 600"' bundle
    guard "$1"
    bundle=$(placed root / "$script" 0)
    bundle_edit "$bundle" '.process.capabilities |= with_entries(.value += ["CAP_SYS_CHROOT"])'
    mkdir "$LAB/bin" "$LAB/proc"
    cp "$bundle/rootfs/bin/busybox" "$LAB/bin/busybox"
    shim_create "$FB_DIR/log" --bundle "$bundle" "$ID"
    shim start "$ID"
    wait_for grep -q moved "$FB_DIR/log"
    runs_in /private/open
    expect_status 1
    expect_match "process.cwd: /private/open: No such file"
    runs_in /lab/private/open
    refused /lab/private/open
    runs_in /lab/mine/sub
    expect_output $'/lab/mine/sub\nown'
    shim delete --force "$ID"
}

@test "runc: a first process with another root moves no exec" { moves runc; }

@test "crun: a first process with another root moves no exec" { moves crun; }

# namespaces RUNTIME: without a filter, the first process can have a mount namespace of its own.
namespaces() {
    guard "$1"
    shim_create "$FB_DIR/log" --bundle "$(placed own / 'echo waits; read -r x </go; exec unshare -Urm sleep 600' 1001 null)" "$ID"
    mkfifo -m 666 "$FB_DIR/bundles/own/rootfs/go"
    shim start "$ID"
    wait_for grep -q waits "$FB_DIR/log"
    runs_in /lab/mine/sub
    expect_output $'/lab/mine/sub\nown'
    runs_in /
    expect_output /
    process /lab/mine/sub 'ls -l /proc/self/fd' >"$FB_DIR/process.json"
    run shim exec --process "$FB_DIR/process.json" "$ID"
    expect_match '3 -> /lab/mine/sub'
    expect_no_match '(cgroup|ipc|mnt|net|pid|user|uts):\['
    echo >"$FB_DIR/bundles/own/rootfs/go"
    wait_for own_namespace
    for cwd in / /lab/mine/sub; do
        runs_in "$cwd"
        expect_status 1
        expect_match "the container's first process has made a mount namespace of its own"
    done
    shim delete --force "$ID"
}

own_namespace() {
    local pid
    pid=$(shim state "$ID" | gojq .pid)
    ! nsenter --target "$pid" --user true 2>/dev/null || [ "$(readlink "/proc/$pid/ns/user")" != "$(readlink /proc/self/ns/user)" ]
}

@test "runc: no exec is led by a mount namespace of the user's" { namespaces runc; }

@test "crun: no exec is led by a mount namespace of the user's" { namespaces crun; }

# A directory of the host as the container's root has closed directories of its own.
in_root() {
    local bundle root=$FB_SRV/roots/one
    guard "$1"
    bundle=$(placed one /closed pwd)
    mkdir -p "$root"
    tar -C "$bundle/rootfs" -c . | tar -C "$root" -x
    bundle_edit "$bundle" --arg r "$root" '.root.path = $r'
    cp "$bundle/config.json" "$FB_DIR/kept.json"
    run shim run --bundle "$bundle" "$ID"
    refused /closed
    cp "$FB_DIR/kept.json" "$bundle/config.json"
    bundle_edit "$bundle" '.process.cwd = "/" | .process.args = ["sleep", "600"]'
    shim_create "$FB_DIR/log" --bundle "$bundle" "$ID"
    shim start "$ID"
    runs_in /closed
    refused /closed
    runs_in /bin
    expect_output /bin
    shim delete --force "$ID"
}

@test "runc: in a root of the host the user enters what is his" { in_root runc; }

@test "crun: in a root of the host the user enters what is his" { in_root crun; }

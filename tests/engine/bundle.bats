#!/usr/bin/env bats
# flatbed-runtime before runc and crun without an engine: command lines as people write them.

bats_require_minimum_version 1.5.0

load lib/frame
frame bundle

policy() { policy_base runc; }

test_begin() {
    DATA='{"flatbed.data":"imagenet"}'
    SHOW='cat /workspace/data/imagenet/hello'
}

# ------------------------------------------------------------------ one container's life

life() {
    local bundle
    policy_base "$1"
    bundle=$(bundle_make life "$DATA" "$SHOW; sleep 600")
    shim_create "$FB_DIR/life.log" --bundle "$bundle" --pid-file "$FB_DIR/life.pid" "$ID"
    shim_is "$ID" created
    shim start "$ID"
    shim_is "$ID" running
    wait_for grep -q "imagenet text" "$FB_DIR/life.log"
    run shim exec "$ID" cat /workspace/site/hello
    expect_output "site text"
    shim kill "$ID" KILL
    wait_for shim_is "$ID" stopped
    shim delete "$ID"
    run shim state "$ID"
    expect_failure
    expect_equal "$(cat "$FB_DIR/life.log")" "imagenet text"
}

@test "runc: create, state, start, exec, kill, delete" { life runc; }

@test "crun: create, state, start, exec, kill, delete" { life crun; }

runs() {
    policy_base "$1"
    run shim run --bundle "$(bundle_make run "$DATA" "$SHOW; exit 7")" "$ID"
    expect_status 7
    expect_output "imagenet text"
}

@test "runc: run gives the exit code and only the container's output" { runs runc; }

@test "crun: run gives the exit code and only the container's output" { runs crun; }

writes() {
    policy_base "$1"
    run shim run --bundle "$(bundle_make run null 'echo done >/workspace/logs/out')" "$ID"
    expect_status 0
    expect_equal "$(cat "$FB_SRV/logs/$ID/out")" "done"
    expect_equal "$(stat -c '%a %u:%g' "$FB_SRV/logs/$ID")" "750 0:0"
}

@test "runc: a rw volume keeps what was written" { writes runc; }

@test "crun: a rw volume keeps what was written" { writes crun; }

# ------------------------------------------------------------------ the many spellings of an exec

# A container that may not be root, and a process file of root in the working directory, under several names.
guarded() {
    local bundle
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$1"] }, "security": { "user": { "root": "deny" }, "no_new_privileges": true, "realtime": "deny" } }
END
    bundle=$(bundle_make guarded null 'sleep 600')
    bundle_edit "$bundle" '.process.user = {"uid": 1000, "gid": 1000} | .process.capabilities = {}'
    shim_create "$FB_DIR/guarded.log" --bundle "$bundle" "$ID"
    shim start "$ID"
    cd "$bundle" || return
    echo '{"user":{"uid":0,"gid":0},"args":["id","-u"],"cwd":"/","env":["PATH=/bin"]}' | tee ./=F ./rocess=F ./rocess >F
}

# never_root WORDS…: an exec so spelt is not root.
never_root() {
    run shim exec "$@"
    [ "$status" -ne 0 ] && ! grep -qx 0 <<<"$output" || { echo "exec $*: $output" && false; }
}

@test "runc: no spelling of an exec gets past the policy" {
    guarded runc
    never_root -p F "$ID"
    never_root -p=F "$ID"
    never_root -process F "$ID"
    never_root -process=F "$ID"
    never_root --p F "$ID"
    never_root --help=false -p F "$ID"
    never_root -dp F "$ID"
    never_root --user 0 "$ID" id -u
    sed -i 's/"uid":0/"uid":1001/' F
    run shim exec -p=F "$ID"
    expect_output 1001
    within runc --root "$FB_DIR/state" delete --force "$ID"
}

@test "crun: no spelling of an exec gets past the policy" {
    guarded crun
    never_root -p F "$ID"
    never_root -pF "$ID"
    never_root -dp F "$ID"
    never_root -p=F "$ID"
    never_root -process=F "$ID"
    never_root --proces F "$ID"
    never_root --tty=x -p F "$ID"
    never_root "$ID" id -u
    never_root -u 0 "$ID" id -u
    never_root --HANG=0 -pF "$ID"
    never_root -tpF "$ID" id -u
    never_root -p F "./$ID"
    never_root -p F "../state/$ID"
    run within "$FLATBED_RUNTIME" "--flatbed-policy=$FB_POLICY" --root "$FB_DIR/state/$ID" exec -p F .
    expect_status 1
    expect_match "not a container id: \."
    sed -i 's/"uid":0/"uid":1001/' F
    run shim exec -pF "$ID"
    expect_output 1001
    for option in --cgroup=.. --cgrou=.. --cgr=/ --cg=../..; do
        for process in -pF --process=F; do
            run shim exec "$option" "$process" "$ID"
            expect_status 1
            expect_match "leave out --cgroup"
        done
    done
    run shim exec --process F --cg .. "$ID"
    expect_status 1
    expect_match "leave out --cgroup"
    for id in .. . '' "../state"; do
        run shim delete --force "$id"
        expect_status 1
        expect_match "is not a container id"
    done
    [ -d "$FB_DIR/state/$ID" ]
    within crun --root "$FB_DIR/state" delete --force "$ID"
}

# sees_disk: tries to open a disk's node, as a user, in the container.
sees_disk() {
    echo '{"user":{"uid":1001,"gid":1001},"args":["cat","/disk"],"cwd":"/","env":["PATH=/bin"]}' >DISK
    run shim exec -p DISK "$ID"
}

# updated RUNTIME: an update by a file changes amounts, and no rules for devices.
updated() {
    guarded "$1"
    mknod -m 666 "$FB_DIR/bundles/guarded/rootfs/disk" b 7 200
    sees_disk
    expect_match "Operation not permitted"
    echo '{"pids":{"limit":77},"devices":[{"allow":true,"type":"b","major":7,"access":"rwm"}]}' >RULES
    shim update -r RULES "$ID"
    shim update --resources=- "$ID" <RULES
    sees_disk
    expect_match "Operation not permitted"
    run cat /sys/fs/cgroup/pids/"$ID"/pids.max /sys/fs/cgroup/"$ID"/pids.max
    expect_match '^77'
    for name in Devices devices\\u0000; do
        echo "{\"pids\":{\"limit\":78},\"$name\":[]}" >RULES
        run shim update -r RULES "$ID"
        expect_status 1
        expect_match 'the member "Devices" would be read as "devices"|a member.s name with a NUL byte'
    done
    echo '{"cpu":{"shares":512,"realtimeRuntime":1000}}' >RULES
    run shim update -r RULES "$ID"
    expect_status 1
    expect_match "security.realtime: .*cpu.realtimeRuntime"
}

# update_refused FILE MESSAGE: an update by a file of that text is refused, with the message.
update_refused() {
    echo "$1" >RULES
    run shim update -r RULES "$ID"
    expect_status 1
    expect_match "$2"
}

# keeps_to_cgroup RUNTIME: no update reaches processes of the host, however it is written.
keeps_to_cgroup() {
    guarded "$1"
    update_refused '{"unified":{"cgroup.procs":"'$BASHPID'"}}' "'cgroup.procs' moves, stops or kills processes of this host: leave it out"
    expect_match "an update stays in the container's cgroup, by security.user .*policy.json:"
    update_refused '{"unified":{"cgroup.kill":"1"}}' "'cgroup.kill' moves, stops or kills"
    update_refused '{"unified":{"../x/memory.max":"1"}}' "'../x/memory.max' is a file of another cgroup"
    update_refused '{"hugepageLimits":[{"pageSize":"2MB/../../x/hugetlb.2MB","limit":0}]}' "'2MB/../../x/hugetlb.2MB' is no size of pages"
    update_refused '{"Unified":{"cgroup.procs":"1"}}' 'the member "Unified" would be read as "unified"'
    update_refused '{"CPU":{"realtimeRuntime":950000}}' 'the member "CPU" would be read as "cpu"'
}

@test "runc: update reaches no process of the host" { keeps_to_cgroup runc; }

@test "crun: update reaches no process of the host" { keeps_to_cgroup crun; }

@test "update reaches no process of the host under a policy that judges mounts alone" {
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["crun"] }, "binds": { "default": "deny" } }
END
    shim_create "$FB_DIR/binds.log" --bundle "$(bundle_make binds null 'sleep 600')" "$ID"
    cd "$FB_DIR"
    update_refused '{"unified":{"cgroup.procs":"1"}}' "by binds .*'cgroup.procs' moves, stops or kills"
}

@test "runc: update changes no rules for devices" { updated runc; }

@test "crun: update changes no rules for devices" { updated crun; }

@test "no descriptor that the caller did not open, and no directory, reaches a container" {
    guarded runc
    sed -i 's/"uid":0/"uid":1001/' F
    run shim exec --preserve-fds 1 -p F "$ID" 3>&-
    expect_status 1
    expect_match "the descriptor 3 is not open"
    run shim exec --preserve-fds=0x1 -p F "$ID" 3>&-
    expect_status 1
    expect_match "is not a number"
    run shim exec --preserve-fds 1 -p F "$ID" 3<"$FB_DIR"
    expect_status 1
    expect_match "the descriptor 3 is a directory"
    run shim exec --preserve-fds 1 -p F "$ID" 3</dev/null
    expect_output 1001
    within runc --root "$FB_DIR/state" delete --force "$ID"
    run shim run --preserve-fds 1 "$ID" 3>&-
    expect_status 1
    expect_match "the descriptor 3 is not open"
}

# ------------------------------------------------------------------ the bundle's many spellings

# spells RUNTIME FORM…: runs a container; BUNDLE stands for the path.
spells() {
    local low=$1 bundle
    shift
    policy_base "$low"
    bundle=$(bundle_make spelling "$DATA" "$SHOW")
    run shim run "${@//BUNDLE/$bundle}" "$ID"
    expect_status 0
    expect_output "imagenet text"
}

@test "runc: --bundle X" { spells runc --bundle BUNDLE; }
@test "runc: --bundle=X" { spells runc --bundle=BUNDLE; }
@test "runc: -bundle X" { spells runc -bundle BUNDLE; }
@test "runc: -b=X" { spells runc -b=BUNDLE; }
@test "runc: the last of two -b" { spells runc -b /nonexistent -b BUNDLE; }
@test "crun: --bundle X" { spells crun --bundle BUNDLE; }
@test "crun: --bundle=X" { spells crun --bundle=BUNDLE; }
@test "crun: --bun X" { spells crun --bun BUNDLE; }
@test "crun: -bX" { spells crun -bBUNDLE; }
@test "crun: the last of two -b" { spells crun -b /nonexistent -b BUNDLE; }

@test "runc: options after the container id" {
    run shim run "$ID" --bundle "$(bundle_make after "$DATA" "$SHOW")"
    expect_status 0
    expect_output "imagenet text"
}

@test "crun: -b=X is the path =X, as without flatbed" {
    policy_base crun
    run shim run "-b=$(bundle_make equals "$DATA" "$SHOW")" "$ID"
    expect_failure
    expect_no_match 'imagenet text'
}

from_cwd() {
    policy_base "$1"
    cd "$(bundle_make cwd "$DATA" "$SHOW")" || return
    run shim run "$ID"
    expect_status 0
    expect_output "imagenet text"
}

@test "runc: no bundle is the working directory" { from_cwd runc; }

@test "crun: no bundle is the working directory" { from_cwd crun; }

@test "crun: --config FILE replaces config.json" {
    local bundle
    policy_base crun
    bundle=$(bundle_make config "$DATA" "$SHOW")
    mv "$bundle/config.json" "$bundle/other.json"
    run shim run --bundle "$bundle" --config "$bundle/other.json" "$ID"
    expect_status 0
    expect_output "imagenet text"
}

@test "a link named runc is as good as flatbed-runtime" {
    ln -sf "$FLATBED_RUNTIME" "$FB_DIR/bin/runc"
    run "$FB_DIR/bin/runc" "--flatbed-policy=$FB_POLICY" --root "$FB_DIR/state" \
        run --bundle "$(bundle_make link "$DATA" "$SHOW")" "$ID"
    expect_status 0
    expect_output "imagenet text"
}

# ------------------------------------------------------------------ config.json

@test "a second run of the same bundle does not change config.json again" {
    local bundle first
    bundle=$(bundle_make twice "$DATA" "$SHOW")
    # The log volume of {container} is another one for another container.
    policy_base runc
    sed -i 's/{container}/all/' "$FB_POLICY"
    shim run --bundle "$bundle" "$ID"
    first=$(sha256sum "$bundle/config.json")
    run shim run --bundle "$bundle" "$ID-again"
    expect_status 0
    expect_output "imagenet text"
    expect_equal "$(sha256sum "$bundle/config.json")" "$first"
}

untouched() {
    local bundle before
    bundle=$(bundle_make same "$DATA" 'test ! -e /workspace')
    before=$(sha256sum "$bundle/config.json"; stat -c '%i %Y' "$bundle/config.json")
    run shim run --bundle "$bundle" "$ID"
    expect_status 0
    expect_equal "$(sha256sum "$bundle/config.json"; stat -c '%i %Y' "$bundle/config.json")" "$before"
}

@test "mode off leaves config.json alone, byte for byte" {
    policy_base runc
    sed -i 's/"version": 1,/"version": 1, "mode": "off",/' "$FB_POLICY"
    untouched
}

@test "an edit keeps the file's mode and owner, and leaves nothing else in the bundle" {
    local bundle
    bundle=$(bundle_make keep "$DATA" "$SHOW")
    chmod 0640 "$bundle/config.json"
    chown 0:1234 "$bundle/config.json"
    run shim run --bundle "$bundle" "$ID"
    expect_status 0
    expect_equal "$(stat -c '%a %u:%g' "$bundle/config.json")" "640 0:1234"
    expect_equal "$(find "$bundle" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | tr '\n' ' ')" "config.json rootfs "
}

# ------------------------------------------------------------------ what is said, and where

@test "success writes nothing to the log" {
    run shim --log "$FB_DIR/quiet.log" --log-format json run --bundle "$(bundle_make quiet "$DATA" "$SHOW")" "$ID"
    expect_status 0
    expect_output "imagenet text"
    [ ! -s "$FB_DIR/quiet.log" ]
}

@test "a refusal is one JSON record in the log, the same text on stderr, exit 1, nothing on stdout" {
    local log=$FB_DIR/refused.log
    run --separate-stderr shim --log "$log" --log-format json \
        run --bundle "$(bundle_make refused '{"flatbed.data":"secret"}')" "$ID"
    expect_status 1
    expect_output ""
    # shellcheck disable=SC2154
    expect_match secret "$stderr"
    expect_equal "$(gojq -s length "$log")" 1
    expect_equal "$(gojq -r .level "$log")" error
    expect_match secret "$(gojq -r .msg "$log")"
    expect_match '^[0-9]{4}-[0-9]{2}-[0-9]{2}T' "$(gojq -r .time "$log")"
    rm "$log"
}

@test "a name cannot leave its directory" {
    local name
    for name in .. . ../secret imagenet/../secret ''; do
        run shim run --bundle "$(bundle_make escape "{\"flatbed.data\":\"$name\"}" 'cat /workspace/data/*/hello')" "$ID"
        expect_no_match 'secret text'
        [ -z "$name" ] || expect_failure
    done
}

@test "a request for rw does not make a volume writable that is ro in the policy" {
    run shim run --bundle "$(bundle_make rw '{"flatbed.data":"imagenet:rw"}' 'touch /workspace/data/imagenet/new')" "$ID"
    expect_failure
    [ ! -e "$FB_SRV/data/imagenet/new" ]
}

# A cache whose pool and private side have names that need escaping.
pools() {
    overlay_works || skip "$FB_DIR cannot be the upper side of an overlay"
    policy_base "$1"
    mkdir "$FB_SRV/po,o:l" "$FB_SRV/ca,c:he"
    echo "pool text" >"$FB_SRV/po,o:l/old"
    sed -i "s|\"data\": {|\"cache\": { \"source\": \"$FB_SRV/ca,c:he/x\", \"target\": \"/cache\", \"access\": \"rw\", \"always\": true, \"create\": {}, \"pool\": \"$FB_SRV/po,o:l\" },\\n    \"data\": {|" "$FB_POLICY"
}

pool_works() {
    pools "$1"
    run shim run --bundle "$(bundle_make pool null 'cat /cache/*; echo new >/cache/new; echo more >>/cache/old')" "$ID"
    expect_status 0
    expect_output "pool text"
    run shim run --bundle "$(bundle_make again null 'cat /cache/*')" "$ID-again"
    expect_output $'new\npool text\nmore'
    expect_equal "$(cat "$FB_SRV/po,o:l"/*)" "pool text"
    expect_equal "$(cat "$FB_SRV/ca,c:he/x/upper/new")" "new"
}

@test "runc: a pool is visible, changes are private and stay" { pool_works runc; }

@test "crun: a pool is visible, changes are private and stay" { pool_works crun; }

@test "runc: one container at a time has the private side of a pool" {
    local status_of_second
    pools runc
    shim_create "$FB_DIR/first.log" --bundle "$(bundle_make first null 'sleep 600')" "$ID"
    run shim run --bundle "$(bundle_make second null true)" "$ID-second"
    status_of_second=$status
    within runc --root "$FB_DIR/state" delete --force "$ID"
    [ "$status_of_second" -eq 1 ]
    expect_match 'is mounted in another container.*name .container.'
}

@test "a broken policy is reported on stderr as file:line:column, and state and kill still work" {
    local bundle
    bundle=$(bundle_make broken null 'sleep 600')
    shim_create "$FB_DIR/broken.log" --bundle "$bundle" "$ID"
    policy_syntax_error runc
    run shim run --bundle "$bundle" "$ID-other"
    expect_status 1
    expect_match "$FB_TELLS_SYNTAX"
    run shim state "$ID"
    expect_status 0
    run shim kill "$ID" KILL
    expect_status 0
    run shim delete --force "$ID"
    expect_status 0
}

@test "--version and features are those of the low-level runtime, byte for byte" {
    local word
    for word in --version features; do
        expect_equal "$("$FLATBED_RUNTIME" "--flatbed-policy=$FB_POLICY" "$word" 2>&1)" "$(runc "$word" 2>&1)"
    done
}

#!/usr/bin/env bats
# flatbed-runtime: tuning by the policy and by requests, as config.json and exec show it.

load lib/shim

# tuning TUNING [SECTION…]: sets the policy's section; config.json has Docker's /dev/shm and some limits.
tuning() {
    cat >"$DIR/policy.json" <<END_OF_POLICY
{ "version": 1, "runtime": { "paths": ["$DIR/low"] },
  "tuning": { $1 }${2-} }
END_OF_POLICY
    cat >"$BUNDLE/config.json" <<'END_OF_CONFIG'
{ "ociVersion": "1.0.2", "process": { "user": { "uid": 0, "gid": 0 }, "env": ["A=1"],
  "rlimits": [ { "type": "RLIMIT_CORE", "hard": 18446744073709551615, "soft": 18446744073709551615 },
               { "type": "RLIMIT_NOFILE", "hard": 1024, "soft": 1024 } ] },
  "mounts": [ { "destination": "/dev/shm", "type": "tmpfs", "source": "shm",
                "options": [ "nosuid", "size=65536k", "mode=1777" ] } ],
  "linux": { "resources": { "memory": { "limit": 4294967296 }, "cpu": { "quota": 100000, "period": 100000 } } } }
END_OF_CONFIG
}

# ask KEY VALUE: adds an annotation.
ask() {
    gojq --arg k "$1" --arg v "$2" '.annotations[$k] = $v' "$BUNDLE/config.json" >"$DIR/new.json"
    cp "$DIR/new.json" "$BUNDLE/config.json"
}

# weakly FILES WORD…: runs the shim with a limit of FILES open files and without the capability to raise it.
weakly() {
    # shellcheck disable=SC2016
    bash -c 'ulimit -n "$1" && shift && exec setpriv --bounding-set -sys_resource --inh-caps -sys_resource "$@"' sh \
        "$1" "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" "${@:2}"
}

value() { gojq -c "$1" "$BUNDLE/config.json"; }

@test "unset values are filled in, and number text of other members is kept" {
    tuning '"shm_size": "50%", "memlock": "1m", "nofile": 512, "threads": true, "workers": "75%"'
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$(value '.mounts[0].options')" = '["nosuid","size=2147483648","mode=1777"]' ]
    grep -q '"RLIMIT_CORE", "hard": 18446744073709551615, "soft": 18446744073709551615' "$BUNDLE/config.json"
    [ "$(value '.process.rlimits[1:]')" = '[{"hard":512,"soft":512,"type":"RLIMIT_NOFILE"},{"hard":1048576,"soft":1048576,"type":"RLIMIT_MEMLOCK"}]' ]
    [ "$(value '.process.env | sort')" = '["A=1","BLIS_NUM_THREADS=1","FLATBED_WORKERS=1","MKL_NUM_THREADS=1","NUMBA_NUM_THREADS=1","NUMEXPR_MAX_THREADS=1","NUMEXPR_NUM_THREADS=1","OMP_NUM_THREADS=1","OPENBLAS_NUM_THREADS=1","RAYON_NUM_THREADS=1"]' ]
}

@test "a second edit and a stacked wrapper change nothing" {
    local before
    tuning '"shm_size": "50%", "memlock": "unlimited", "nofile": 1048576, "stack": "4m", "threads": true, "workers": 3'
    ask flatbed.shm 1g
    run shim create --bundle "$BUNDLE" c1
    before=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    untouched "$before"
    FLATBED_DEPTH=1 run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    untouched "$before"
}

@test "an exec has the variables" {
    tuning '"threads": true, "workers": 3'
    run shim create --bundle "$BUNDLE" c1
    printf '{"args":["x"],"env":["OMP_NUM_THREADS=9"]}' >"$DIR/process.json"
    run shim exec --process "$DIR/process.json" c1
    [ "$(gojq -r '.env[]' "$DIR/low.process" | grep -E 'OMP|MKL|WORKERS' | tr '\n' ' ')" = "OMP_NUM_THREADS=9 FLATBED_WORKERS=3 MKL_NUM_THREADS=1 " ]
}

@test "an exec has the limits, except those that it sets" {
    tuning '"memlock": "1m", "nofile": 512, "stack": "4m"'
    run shim create --bundle "$BUNDLE" c1
    # containerd repeats its own nofile; this exec also sets a stack limit.
    printf '{"args":["x"],"rlimits":[{"type":"RLIMIT_NOFILE","hard":1024,"soft":1024},{"type":"RLIMIT_STACK","hard":9,"soft":9}]}' \
        >"$DIR/process.json"
    for _ in 1 2; do # the second time, the low-level runtime is given what it got the first time
        run shim exec --process "$DIR/process.json" c1
        [ "$(gojq -c .rlimits "$DIR/low.process")" = '[{"hard":512,"soft":512,"type":"RLIMIT_NOFILE"},{"hard":9,"soft":9,"type":"RLIMIT_STACK"},{"hard":1048576,"soft":1048576,"type":"RLIMIT_MEMLOCK"}]' ]
        cp "$DIR/low.process" "$DIR/process.json"
    done
    printf '{"args":["x"],"rlimits":[{"type":"RLIMIT_NOFILE","hard":1024,"soft":1000}]}' >"$DIR/process.json"
    run shim exec --process "$DIR/process.json" c1
    [ "$(gojq -c '.rlimits[0]' "$DIR/low.process")" = '{"hard":1024,"soft":1000,"type":"RLIMIT_NOFILE"}' ]
}

@test "an exec by a caller with a lower hard limit gets that limit, and is not refused" {
    tuning '"nofile": 800'
    run shim create --bundle "$BUNDLE" c1
    printf '{"args":["x"]}' >"$DIR/process.json"
    run weakly 600 exec --process "$DIR/process.json" c1
    [ "$(gojq -c .rlimits "$DIR/low.process")" = '[{"hard":600,"soft":600,"type":"RLIMIT_NOFILE"}]' ]
}

@test "without CAP_SYS_RESOURCE, the hard limit of the runtime is the maximum" {
    tuning '"nofile": 1048576'
    run weakly 600 create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$(value '.process.rlimits[1]')" = '{"hard":600,"soft":600,"type":"RLIMIT_NOFILE"}' ]
}

@test "a request above the maximum is refused, and the message names the maximum" {
    local before
    tuning '"shm_size": { "default": "1g", "max": "25%" }, "workers": 2'
    ask flatbed.shm 2g
    before=$(sha256sum <"$BUNDLE/config.json")
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused 'flatbed.shm: 2g is more than is offered: at most 1g .*policy.json:2'
    untouched "$before"
    sed -i 's/"version": 1,/"version": 1, "mode": "permissive",/' "$DIR/policy.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    [ "$(value '.mounts[0].options[1]')" = '"size=1073741824"' ]
}

@test "a request that is not offered or not valid is refused with the reason" {
    tuning '"shm_size": "1g"'
    ask flatbed.memlock 1m
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused 'flatbed.memlock: it may not be asked for here: the policy has no tuning.memlock'
    tuning '"shm_size": "1g"'
    ask flatbed.shm lots
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "flatbed.shm: 'lots': expected a size such as 8g"
}

@test "a /dev/null mount is a request and is removed" {
    tuning '"shm_size": "2g"'
    gojq '.mounts += [{"destination":"/run/flatbed/request/shm/1g","source":"/dev/null","type":"bind"}]' \
        "$BUNDLE/config.json" >"$DIR/new.json"
    cp "$DIR/new.json" "$BUNDLE/config.json"
    for _ in 1 2; do
        run shim create --bundle "$BUNDLE" c1
        [ "$(value '[.mounts[].destination], .mounts[0].options[1]' | tr '\n' ' ')" = '["/dev/shm"] "size=1073741824" ' ]
        [ "$(value '.annotations["flatbed.requested"]')" = '"shm/1g"' ]
    done
}

@test "the pause container of a pod is not tuned" {
    local before
    tuning '"shm_size": "2g", "threads": true'
    ask io.kubernetes.cri.container-type sandbox
    before=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    [ "$status" -eq 7 ]
    untouched "$before"
}

@test "limits that are not a list are an error, and malformed entries are kept" {
    tuning '"nofile": 512'
    sed -i '/rlimits/,/RLIMIT_NOFILE/d; s/"env": \["A=1"\],/"rlimits": {} },/' "$BUNDLE/config.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused 'process.rlimits: expected an array, not an object'
    tuning '"nofile": 512'
    sed -i 's/"hard": 1024, "soft": 1024/"hard": "many"/' "$BUNDLE/config.json"
    run shim create --bundle "$BUNDLE" c1
    [ "$(value '.process.rlimits[1]')" = '{"hard":"many","type":"RLIMIT_NOFILE"}' ]
}

# over_layers COMMAND…: runs it with an overlay of 3 layers at the rootfs of the bundle.
over_layers() {
    # shellcheck disable=SC2016
    unshare --mount --propagation private bash -c '
        mount -t tmpfs none "$1/layers" && mkdir -p "$1"/layers/{a,b:c,d,u,w} "$1/bundle/rootfs" &&
        mount -t overlay -o "lowerdir=$1/layers/a:$1/layers/b\\:c:$1/layers/d,upperdir=$1/layers/u,workdir=$1/layers/w" \
            none "$1/bundle/rootfs" || exit 99
        shift; exec "$@"' sh "$DIR" "$@"
}

deep() {
    run --separate-stderr over_layers "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1
    [ "$status" -ne 99 ] || skip "no overlay mounts here"
}

@test "a root deeper than the policy allows is refused, or only reported" {
    as_root
    mkdir "$DIR/layers"
    tuning "" ', "rootfs": { "max_depth": 2, "beyond": "deny" }'
    gojq '.root = {"path":"rootfs"}' "$BUNDLE/config.json" >"$DIR/new.json"
    cp "$DIR/new.json" "$BUNDLE/config.json"
    deep
    refused "rootfs.max_depth: the container's root has 3 layers.*'flatten IMAGE'"
    sed -i 's/"max_depth": 2/"max_depth": 3/' "$DIR/policy.json"
    deep
    [ "$status" -eq 7 ]
    sed -i 's/"max_depth": 3, "beyond": "deny"/"max_depth": 1/' "$DIR/policy.json"
    deep
    [ "$status" -eq 7 ]
    # shellcheck disable=SC2154
    [ "$stderr" = err ] # the message of the low-level runtime
}

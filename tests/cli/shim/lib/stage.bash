# shellcheck shell=bash
# The frame of stage*.bats: a source, a policy that stages it, a bundle, and a runtime that records the volume it was
# given: $DIR/low.tree is its content, $DIR/low.mount its mount. Needs root.

bats_require_minimum_version 1.5.0

# shellcheck source=tests/cli/lib/wait.bash
source "${BASH_SOURCE[0]%/*}/../../lib/wait.bash"

setup() {
    [ "$(id -u)" -eq 0 ] || { [ "${CI-}" != true ] && skip "needs root"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-stage.XXXXXX")
    chmod 0755 "$DIR"
    BUNDLE=$DIR/bundle SOURCE=$DIR/nfs/imagenet CACHE=$DIR/cache
    mkdir -p "$BUNDLE" "$SOURCE/train"
    for i in 1 2 3 4 5; do echo "image $i" >"$SOURCE/train/$i"; done
    policy
    config
    unset FLATBED_DEPTH
}

teardown() {
    [ -n "${DIR-}" ] || return 0
    # shellcheck disable=SC2046
    for pid in $(copiers); do kill -CONT "$pid" 2>/dev/null; kill "$pid" 2>/dev/null || true; done
    while read -r where; do umount -l "$where"; done < <(awk -v d="$DIR/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | tac)
    rm -rf --one-file-system "$DIR"
}

# low NAME: makes a runtime that records its volume in $DIR/NAME.tree and $DIR/NAME.mount.
low() {
    cat >"$DIR/$1" <<END
#!/bin/sh
[ "\$1" = features ] && { echo '{"ociVersionMin":"1.0.0","ociVersionMax":"1.0.2","mountOptions":["rro","ro"]}'; exit; }
while [ \$# -gt 1 ]; do case \$1 in --bundle) bundle=\$2 ;; esac; shift; done
source=\$(gojq -r '.mounts[] | select(.destination == "/data/imagenet") | .source' "\$bundle/config.json")
ls -A "\$source" >"$DIR/$1.tree.\$1"
findmnt -rno FSROOT,OPTIONS -T "\$source" >"$DIR/$1.mount.\$1"
END
    chmod 0755 "$DIR/$1"
}

# policy [STAGE-MEMBERS [CLASS-MEMBERS]]
# shellcheck disable=SC2120  # tests pass them
policy() {
    low low
    cat >"$DIR/policy.json" <<END
{ "version": 1, "runtime": { "paths": ["$DIR/low"] }, "audit": { "file": "$DIR/audit.jsonl", "metrics": "$DIR/flatbed.prom" },
  "volumes": { "data": { "source": "$DIR/nfs/{name}", "target": "/data/{name}", "access": "ro"${2+, $2},
    "stage": { "cache": "$CACHE"${1:+, $1} } } } }
END
    chmod 0644 "$DIR/policy.json"
}

# config [ANNOTATIONS [UID [GROUPS]]]
# shellcheck disable=SC2120
config() {
    cat >"$BUNDLE/config.json" <<END
{ "ociVersion": "1.0.2", "root": { "path": "rootfs" },
  "process": { "user": { "uid": ${2-1001}, "gid": ${2-1001}, "additionalGids": [${3-}] } },
  "annotations": { "flatbed.data": "imagenet"${1:+, $1} },
  "mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" } ] }
END
}

# launch [ID]: creates the container of a fresh bundle.
launch() {
    cp "$BUNDLE/config.json" "$DIR/kept.json"
    run --separate-stderr "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --root "$DIR/state" create --bundle "$BUNDLE" "${1-c1}"
    cp "$DIR/kept.json" "$BUNDLE/config.json"
    # shellcheck disable=SC2154
    echo "status $status, stdout '$output', stderr '$stderr'"
    [ "$status" -eq "${EXPECTED-0}" ]
}

# The last launch got the copy, or the source.
got_copy() { grep -Eq "^$CACHE/.*/tree |/cache/(\.old-)?[0-9a-f-]*/tree " "$DIR/low.mount.${1-c1}" || { cat "$DIR/low.mount.${1-c1}"; said; return 1; }; }
got_source() { ! got_copy "$@" >/dev/null || { cat "$DIR/low.mount.${1-c1}"; return 1; }; }
# said: prints why, from the record of the last launch.
said() { tail -n 1 "$DIR/audit.jsonl" | gojq -r '.operations[] | select(.kind == "volume") | .reason'; }
saying() { [[ $(said) == *"$1"* ]] || { echo "said: $(said)"; return 1; }; }

entries() { find "$CACHE" -mindepth 1 -maxdepth 1 -name '[0-9a-f]*'; }
tree() { echo "$(entries)/tree"; }
has_entry() { [ -n "$(entries)" ]; }
has_no_part() { [ -z "$(find "$CACHE" -mindepth 1 -maxdepth 1 -name '.part-*')" ]; }
# Prints the process ids of this test's copiers.
copiers() {
    local pid
    for pid in $(pgrep -x flatbed-stage); do
        find "/proc/$pid/fd" -lname "$DIR/*" -print -quit 2>/dev/null | grep -q . && echo "$pid"
    done
    return 0
}
no_copiers() { [ -z "$(copiers)" ]; }
is_copying() { [ -n "$(copiers)" ]; }
stage() { run --separate-stderr "$FLATBED" stage --policy "$DIR/policy.json" "$@"; }
# staged: copies the source ahead.
staged() { "$FLATBED" stage --policy "$DIR/policy.json" --wait data=imagenet; }
# equal: the copy is equal to the source; rsync is the judge. Sockets and device nodes are not copied.
equal() {
    local differences
    command -v rsync >/dev/null
    differences=$(rsync -aHAXnc --itemize-changes --delete --no-devices "$@" "$SOURCE/" "$(tree)/" | grep -v '^cS\|^\.d\.\.\.\.\.\.\.\.\. \|skipping' || true)
    [ -z "$differences" ] || { echo "$differences"; return 1; }
}

# metric NAME: prints its value.
metric() { awk -v name="$1" 'index($0, name) == 1 { print $NF }' "$DIR/flatbed.prom"; }

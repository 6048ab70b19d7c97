# shellcheck shell=bash
# The frame of binds*.bats: a policy with "binds", bundles with one mount, and a runtime that only records the mounts it
# was given. $FLATBED_RUNTIME is the program.

setup() {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-binds.XXXXXX")
    chmod 0755 "$DIR"
    BUNDLE=$DIR/bundle
    mkdir -p "$BUNDLE" "$DIR"/{home/alice/work,srv/data,secret,volumes,bin}
    echo right >"$DIR/home/alice/work/file"
    echo secret >"$DIR/secret/file"
    chmod 0700 "$DIR/secret"
    chown -R 12345:12345 "$DIR/home/alice"
    printf '#!/bin/sh\ncp "%s/config.json" "%s/low.config"\n' "$BUNDLE" "$DIR" >"$DIR/low"
    chmod 0755 "$DIR/low"
    policy
    unset FLATBED_DEPTH
}

teardown() {
    [ -n "${DIR-}" ] || return 0
    while read -r where; do umount -l "$where"; done < <(awk -v d="$DIR/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo)
    rm -rf --one-file-system "$DIR"
}

# policy [SECTION-MEMBERS [TOP-MEMBERS]]
# shellcheck disable=SC2120  # tests pass them
policy() {
    cat >"$DIR/policy.json" <<END
{ "version": 1, "runtime": { "paths": ["$DIR/low"] }, ${2-}
  "volumes": { "data": { "source": "$DIR/srv/data", "target": "/work/data" } },
  "binds": { "default": "deny", ${1-}
    "rules": [
      { "path": "$DIR/home/alice", "access": "allow", "options": ["nosuid", "nodev"] },
      { "path": "$DIR/srv", "access": "ro" },
      { "path": "$DIR/volumes", "access": "allow" }
    ],
    "targets_deny": ["/proc"] } }
END
    chmod 0644 "$DIR/policy.json"
}

# config SOURCE [DESTINATION [USER-JSON [MORE-MEMBERS]]]: a bundle with one mount that the container's user asked for.
config() {
    local root='{ "uid": 0, "gid": 0 }'
    cat >"$BUNDLE/config.json" <<END
{ "ociVersion": "1.0.2", "process": { "user": ${3-$root} }, ${4-}
  "mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" },
    { "destination": "${2-/x}", "type": "bind", "source": "$1", "options": ["rbind", "rprivate"] } ] }
END
}

create() { run --separate-stderr "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1; }

# refused REGEX
refused() {
    # shellcheck disable=SC2154
    echo "status $status, stdout '$output', stderr '$stderr'"
    [ "$status" -eq 1 ]
    [[ $stderr =~ $1 ]]
    [ ! -e "$DIR/low.config" ]
}

# mounted SOURCE OPTIONS: the low-level runtime was told to mount SOURCE with OPTIONS.
mounted() {
    echo "status $status, stderr '$stderr'"
    [ "$status" -eq 0 ]
    [ "$(jq -r '.mounts[1].source' "$DIR/low.config")" = "$1" ]
    [ "$(jq -r '.mounts[1].options | join(",")' "$DIR/low.config")" = "$2" ]
}

# shellcheck shell=bash
# The frame of binds*.bats: a policy with "binds", bundles with one mount, and a runtime that only records the mounts it
# was given. $FLATBED_RUNTIME is the program.

# shellcheck source=tests/cli/shim/lib/config_recorder.bash
source "${BASH_SOURCE[0]%/*}/config_recorder.bash"

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
    record_config
    policy
    unset FLATBED_DEPTH
}

teardown() { remove_mounted; }

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

# mounted SOURCE OPTIONS: the low-level runtime was told to mount SOURCE with OPTIONS.
mounted() {
    echo "status $status, stderr '$stderr'"
    [ "$status" -eq 0 ]
    [ "$(gojq -r '.mounts[1].source' "$DIR/low.config")" = "$1" ]
    [ "$(gojq -r '.mounts[1].options | join(",")' "$DIR/low.config")" = "$2" ]
}

# started: the low-level runtime got both mounts; the source of the first may be a path that holds it.
started() {
    echo "status $status, stderr '$stderr'"
    [ "$status" -eq 0 ]
    [ "$(jq '.mounts | length' "$DIR/low.config")" -ge 3 ]
}

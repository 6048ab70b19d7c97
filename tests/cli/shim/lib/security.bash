# A container for the policy's "security", in front of a runtime that only records its config.json.
# shellcheck shell=bash

# shellcheck source=tests/cli/shim/lib/config_recorder.bash
source "${BASH_SOURCE[0]%/*}/config_recorder.bash"

setup() {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-security.XXXXXX")
    chmod 0755 "$DIR"
    BUNDLE=$DIR/bundle
    mkdir "$BUNDLE"
    record_config
    config .
    unset FLATBED_DEPTH
}

teardown() { remove_mounted; }

# policy SECURITY-MEMBERS [TOP-MEMBERS]
policy() {
    cat >"$DIR/policy.json" <<END
{ "version": 1, "runtime": { "paths": ["$DIR/low"] }, ${2-}
  "security": { $1 } }
END
    chmod 0644 "$DIR/policy.json"
}

# config JQ-FILTER: an ordinary container, changed by the filter.
config() {
    gojq "$1" >"$BUNDLE/config.json" <<END
{ "ociVersion": "1.0.2",
  "process": { "user": { "uid": 1234, "gid": 1234 },
    "capabilities": { "bounding": ["CAP_CHOWN", "CAP_NET_RAW"], "effective": ["CAP_CHOWN"] } },
  "annotations": {},
  "linux": {
    "namespaces": [ { "type": "pid" }, { "type": "network" }, { "type": "ipc" }, { "type": "uts" }, { "type": "mount" } ],
    "resources": { "devices": [ { "allow": false, "access": "rwm" } ] },
    "seccomp": { "defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64"],
      "syscalls": [ { "names": ["read", "write"], "action": "SCMP_ACT_ALLOW" } ] } } }
END
}

create() { run --separate-stderr "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" create --bundle "$BUNDLE" c1; }

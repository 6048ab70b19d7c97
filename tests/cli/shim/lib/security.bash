# A container for the policy's "security", in front of a runtime that only records its config.json.
# shellcheck shell=bash

setup() {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-security.XXXXXX")
    chmod 0755 "$DIR"
    BUNDLE=$DIR/bundle
    mkdir "$BUNDLE"
    printf '#!/bin/sh\ncp "%s/config.json" "%s/low.config"\n' "$BUNDLE" "$DIR" >"$DIR/low"
    chmod 0755 "$DIR/low"
    config .
    unset FLATBED_DEPTH
}

teardown() {
    [ -n "${DIR-}" ] || return 0
    while read -r where; do umount -l "$where"; done < <(awk -v d="$DIR/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo)
    rm -rf --one-file-system "$DIR"
}

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
    jq "$1" >"$BUNDLE/config.json" <<END
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

# refused REGEX
refused() {
    # shellcheck disable=SC2154
    echo "status $status, stdout '$output', stderr '$stderr'"
    [ "$status" -eq 1 ]
    [[ $stderr =~ $1 ]]
    [ ! -e "$DIR/low.config" ]
}

passed() {
    echo "status $status, stderr '$stderr'"
    [ "$status" -eq 0 ]
    [ -e "$DIR/low.config" ]
}

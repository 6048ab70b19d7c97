# Runs flatbed-runtime in front of a low-level runtime that records its arguments.
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

# shellcheck source=tests/cli/lib/wait.bash
source "${BASH_SOURCE[0]%/*}/../../lib/wait.bash"

setup() {
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-shim.XXXXXX")
    chmod 0755 "$DIR"
    BUNDLE=$DIR/bundle
    mkdir -p "$BUNDLE" "$DIR/srv/data/imagenet" "$DIR/srv/logs"
    low_level "$DIR/low" runc
    policy
    config "$BUNDLE"
    unset FLATBED_DEPTH
}

teardown() {
    forget
    # A child of what a test killed may write until it ends.
    rm -rf --one-file-system "$DIR" || { sleep 2 && rm -rf --one-file-system "$DIR"; }
}

# The state that flatbed-runtime keeps for the containers and runtimes of these tests.
forget() {
    local file
    rm -f /run/flatbed/state/default/c1.json
    rm -rf "/run/flatbed/state/${DIR//\//%2F}"* # the state of a --root below DIR
    for file in "$DIR"/low "$DIR"/other "$DIR"/wrapper; do
        [ ! -e "$file" ] || rm -f "/run/flatbed/features/"*"-$(printf %x "$(stat -c %i "$file")")-"*
    done
}

# low_level FILE FLAVOR [VERSION]: makes a runtime that records its words, environment, open descriptors and the process file
# of an exec next to FILE.
low_level() {
    cat >"$1" <<END
#!/bin/sh
if [ "\$1" = --version ]; then
    echo "$2 version ${3-1.0}"
    echo "spec: 1.0.2" >&2
    exit 0
fi
printf '%s\n' "\$0" "\$@" >"$1.words"
env >"$1.env"
ls -l /proc/self/fd >"$1.fds"
cat "$BUNDLE/config.json" >"$1.config" 2>/dev/null
rm -f "$1.process"
while [ \$# -gt 1 ]; do
    case \$1 in --process | -p) cat "\$2" >"$1.process" ;; esac
    shift
done
echo out
echo err >&2
exit 7
END
    chmod 0755 "$1"
}

policy() {
    cat >"$DIR/policy.json" <<END
{
  "version": 1,
  "runtime": { "paths": ["$DIR/low"] },
  "volumes": {
    "data": { "source": "$DIR/srv/data/{name}", "target": "/work/{name}", "names": ["imagenet"],
              "env": { "DATA": "{target}" } },
    "logs": { "source": "$DIR/srv/logs/{container}", "target": "/logs", "access": "rw",
              "always": true, "create": { "mode": "0750" } }
  }
}
END
    chmod 0644 "$DIR/policy.json"
}

config() {
    cat >"$1/config.json" <<END
{ "ociVersion": "1.0.2", "process": { "user": { "uid": 0, "gid": 0 }, "env": ["A=1"],
  "rlimits": [ { "type": "RLIMIT_NOFILE", "hard": 18446744073709551615, "soft": 1 } ] },
  "annotations": { "flatbed.data": "imagenet" },
  "mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" } ] }
END
}

# annotate VALUE: sets the annotation flatbed.data.
annotate() { sed -i "s|\"flatbed.data\": \"[^\"]*\"|\"flatbed.data\": \"$1\"|" "$BUNDLE/config.json"; }

shim() { "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" "$@"; }

called() { [ -e "$DIR/low.words" ]; }

# The low-level runtime ran with exactly these words.
called_with() {
    printf '%s\n' "$DIR/low" "$@" >"$DIR/expected"
    diff "$DIR/expected" "$DIR/low.words"
}

# refused REGEX: exit 1, nothing on stdout, the message on stderr, nothing called.
refused() {
    # shellcheck disable=SC2154
    echo "status $status, stdout '$output', stderr '$stderr'"
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [[ $stderr =~ $1 ]]
    ! called
}

untouched() { [ "$(sha256sum <"$BUNDLE/config.json")" = "$1" ]; }

as_root() { [ "$(id -u)" -eq 0 ] || skip "needs root"; }

# A policy and a bundle for flatbed check and flatbed explain.
# shellcheck shell=bash disable=SC2120,SC2154  # only some suites give more mounts; status and output are set by bats' run

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-admin.XXXXXX")
    chmod 0755 "$DIR"
    mkdir -p "$DIR/srv/data/imagenet" "$DIR/srv/site" "$DIR/bundle"
    policy
    config
}

teardown() { rm -rf --one-file-system "$DIR"; }

policy() {
    cat >"$DIR/policy.json" <<END
{
  "version": 1,
  "runtime": { "paths": ["/bin/sh"] },
  "requests": ["annotations", "environment"],
  "volumes": {
    "data": { "source": "$DIR/srv/data/{name}", "target": "/work/{name}", "names": ["imagenet", "数据"] },
    "site": { "source": "$DIR/srv/site", "target": "/site", "always": true, "env": { "SITE": "{target}" } },
    "logs": { "source": "$DIR/srv/logs/{container}", "target": "/logs", "access": "rw", "always": true,
              "create": { "mode": "0750" } }
  },
  "binds": { "default": "deny", "rules": [
    { "path": "$DIR/srv", "access": "ro" } ] },
  "security": { "privileged": "deny", "system_paths": "keep" }
}
END
    chmod 0644 "$DIR/policy.json"
}

config() {
    cat >"$DIR/bundle/config.json" <<END
{ "ociVersion": "1.0.2", "process": { "user": { "uid": 1234, "gid": 1234 }, "env": ["A=1"] },
  "mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" }${1-} ],
  "linux": { "resources": { "devices": [ { "allow": false, "access": "rwm" } ] } } }
END
}

mount_of() { printf ', { "destination": "%s", "type": "bind", "source": "%s", "options": ["bind","rw"] }' "$2" "$1"; }

check() { run "$FLATBED" check "$@"; }

explain() { run "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$DIR/bundle/config.json" "$@"; }

has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }
has_not() { [[ $output != *"$1"* ]] || { printf 'this has %s:\n%s\n' "$1" "$output"; return 1; }; }
# matches REGEX: true if one line of the output matches.
matches() { grep -qE -- "$1" <<<"$output" || { printf 'no line matches %s:\n%s\n' "$1" "$output"; return 1; }; }
exits() { [ "$status" -eq "$1" ] || { echo "status $status: $output"; return 1; }; }

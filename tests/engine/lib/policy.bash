# shellcheck shell=bash
# Policies for the tests, the host directories that they name, and wrappers that pass the policy on.

# Makes the directories under $FB_SRV, as an administrator would.
srv_make() {
    rm -rf --one-file-system "${FB_SRV:?}"
    mkdir -p "$FB_SRV"/{site,logs,data/imagenet,data/coco-2017,data/secret,home/1234}
    chown 1234:1234 "$FB_SRV/home/1234"
    echo "site text" >"$FB_SRV/site/hello"
    echo "imagenet text" >"$FB_SRV/data/imagenet/hello"
    echo "coco text" >"$FB_SRV/data/coco-2017/hello"
    echo "secret text" >"$FB_SRV/data/secret/hello"
}

# Prints a directory of root that no rule allows. It is none of the host's, as an engine may change what it mounts for
# a volume (podman gives it to the container's user) and, where an unmount fails, remove what is in it.
guard_secret() {
    mkdir -p "$FB_DIR/secret"
    echo secret >"$FB_DIR/secret/file"
    echo "$FB_DIR/secret"
}

# policy_write: writes stdin as the policy, owned by root and not writable by others.
policy_write() {
    [ -z "$FB_REFUSED" ] || return 0
    cat >"$FB_POLICY"
    chown 0:0 "$FB_POLICY"
    chmod 0644 "$FB_POLICY"
}

# policy_base RUNTIME: a read-only and a writable volume for all containers, data sets on request.
policy_base() {
    policy_write <<EOF
{
  "version": 1,
  "runtime": { "paths": ["$1"] },
  "requests": ["annotations", "mounts", "environment"],
  "volumes": {
    "site": { "source": "$FB_SRV/site", "target": "/workspace/site", "access": "ro", "always": true },
    "logs": { "source": "$FB_SRV/logs/{container}", "target": "/workspace/logs", "access": "rw",
              "always": true, "create": { "mode": "0750" } },
    "data": { "source": "$FB_SRV/data/{name}", "target": "/workspace/data/{name}", "access": "ro",
              "names": ["imagenet", "coco-*"] }
  }
}
EOF
}

# policy_home RUNTIME: a directory that is made as the container's user.
policy_home() {
    policy_write <<EOF
{
  "version": 1,
  "runtime": { "paths": ["$1"] },
  "volumes": {
    "work": { "source": "$FB_SRV/home/{uid}/work", "target": "/work", "access": "rw",
              "always": true, "create": { "mode": "0700" } }
  }
}
EOF
}

# policy_empty RUNTIME [MODE]: has no volumes and no rules.
policy_empty() {
    policy_write <<EOF
{ "version": 1, "mode": "${2-enforce}", "runtime": { "paths": ["$1"] } }
EOF
}

# The error is at line 3, where a colon is missing.
policy_syntax_error() {
    policy_write <<EOF
{
  "version": 1,
  "runtime" { "paths": ["$1"] }
}
EOF
}

# The error is at line 4.
policy_unknown_key() {
    policy_write <<EOF
{
  "version": 1,
  "runtime": { "paths": ["$1"] },
  "volume": {}
}
EOF
}

# A valid policy that is writable by others.
policy_world_writable() {
    policy_base "$1"
    chmod 0666 "$FB_POLICY"
}

# The parts of the messages that report each of them.
FB_TELLS_SYNTAX='policy\.json:3:[0-9]+'
FB_TELLS_KEY='policy\.json:4:[0-9]+'
FB_TELLS_WRITABLE='policy\.json[^[:cntrl:]]*writable'
export FB_TELLS_SYNTAX FB_TELLS_KEY FB_TELLS_WRITABLE

# wrapper NAME: $FB_DIR/bin/NAME, for engines that cannot add arguments before the command.
wrapper() {
    rm -f "$FB_DIR/bin/$1"
    cat >"$FB_DIR/bin/$1" <<EOF
#!/bin/sh
exec '$FLATBED_RUNTIME' '--flatbed-policy=$FB_POLICY' "\$@"
EOF
    chmod 0755 "$FB_DIR/bin/$1"
}

# mounted_times PATH: counts it as a mount point in the container's mount table ($output of "cat /proc/mounts").
# shellcheck disable=SC2154
mounted_times() { grep -c -- " $1 " <<<"$output" || true; }

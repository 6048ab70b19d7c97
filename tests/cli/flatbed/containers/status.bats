#!/usr/bin/env bats
# flatbed status on configurations made by hand: /etc and /usr/local/sbin are those of the test, in a mount namespace of
# its own. Needs root.
# shellcheck disable=SC2154,SC2016  # status and output are set by bats' run; inner shells expand

bats_require_minimum_version 1.5.0

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    [ "$(id -u)" -eq 0 ] || { [ "$CI" != true ] && skip "needs root"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-status.XXXXXX")
    chmod 0755 "$DIR"
    mkdir -p "$DIR"/bin "$DIR"/etc/{docker,containerd,flatbed}
    cp /etc/passwd /etc/group "$DIR/etc"
    for one in dockerd containerd podman runc flatbed-runtime; do
        printf '#!/bin/sh\n' >"$DIR/bin/$one"
        chmod 0755 "$DIR/bin/$one"
    done
}

teardown() { [ -z "${DIR-}" ] || rm -rf --one-file-system "$DIR"; }

# The host's programs are hidden by those of the test, and an engine that is not there is not found.
status() {
    run --separate-stderr unshare --mount --propagation private sh -ec '
        mount --bind "$1/etc" /etc; mount --bind "$1/bin" /usr/local/sbin
        shift; exec "$@"' sh "$DIR" "$FLATBED" status "$@"
}

has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n%s\n' "$1" "$output" "$stderr"; return 1; }; }
exits() { [ "$status" -eq "$1" ] || { echo "status $status: $output $stderr"; return 1; }; }
is() { gojq -e "$1" <<<"$output" >/dev/null || { echo "not $1: $output $stderr"; return 1; }; }
docker() { gojq -nc "$1" >"$DIR/etc/docker/daemon.json"; }
policy() { printf '%s\n' "$1" >"$DIR/etc/flatbed/policy.json"; }

@test "a host on which nothing is set up" {
    status
    exits 0
    has "flatbed     $("$FLATBED" --version | cut -d ' ' -f 2)"
    has "policy      none: containers start as if without flatbed-runtime"
    has "docker      does not know flatbed-runtime"
    has "podman      does not know flatbed-runtime"
    has "restack     "
    status --json
    exits 0
    is '.policy == {} and .restack.trees == 0 and ([.engines[] | .default] | any | not)'
    is '.engines[] | select(.engine == "docker") | .around == ["runc"]'
}

@test "the default, and what goes around it" {
    docker '{"default-runtime": "flatbed", "runtimes": {"flatbed": {"path": "/usr/local/sbin/flatbed-runtime"}, "other": {"path": "/usr/bin/crun"}}}'
    policy '{ "version": 1 }'
    status
    exits 0
    has "docker      flatbed is /usr/local/sbin/flatbed-runtime, the default; goes around it: other, runc"
    has "policy      /etc/flatbed/policy.json (mode enforce, 1 file), 0 errors"
    docker '{"runtimes": {"flatbed": {"path": "/usr/local/sbin/flatbed-runtime"}}}'
    ln -sf flatbed-runtime "$DIR/bin/runc"
    status
    has "docker      flatbed is /usr/local/sbin/flatbed-runtime, for those who ask for it"
    status --json
    is '.engines[] | select(.engine == "docker") | .runtime == "flatbed" and (.default | not) and .around == []'
    is '.policy | .mode == "enforce" and .files == 1 and .errors == 0'
}

@test "NVIDIA's runtime counts where it calls flatbed-runtime" {
    printf '#!/bin/sh\n' >"$DIR/bin/nvidia-container-runtime"
    chmod 0755 "$DIR/bin/nvidia-container-runtime"
    mkdir "$DIR/etc/nvidia-container-runtime"
    printf '[nvidia-container-runtime]\nmode = "cdi"\nruntimes = ["flatbed-runtime"]\n' >"$DIR/etc/nvidia-container-runtime/config.toml"
    docker '{"default-runtime": "nvidia", "runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}'
    status --json
    is '.engines[] | select(.engine == "docker") | .runtime == "nvidia" and .default'
    sed -i 's/flatbed-runtime/runc/' "$DIR/etc/nvidia-container-runtime/config.toml"
    status --json
    is '.engines[] | select(.engine == "docker") | .runtime == null and .around == ["nvidia", "runc"]'
}

@test "a policy with errors, which the exit status tells" {
    policy '{ "version": 1, }'
    status
    exits 1
    has "policy      no container can start: /etc/flatbed/policy.json:1:"
    status --json
    exits 1
    is '.policy | has("problem") and (has("mode") | not)'
    policy '{ "version": 1, "volumes": { "data": { "source": "/nowhere/{name}", "target": "/data/{name}" } } }'
    status
    exits 0
    has "1 warning; 'flatbed check' shows them"
}

@test "lines fit the terminal" {
    docker '{"default-runtime": "flatbed", "runtimes": {"flatbed": {"path": "/usr/local/sbin/flatbed-runtime"}, "other": {"path": "/usr/bin/crun"}}}'
    run unshare --mount --propagation private sh -ec 'mount --bind "$1/etc" /etc; mount --bind "$1/bin" /usr/local/sbin
        COLUMNS=60 script -qec "\"$2\" status" /dev/null' sh "$DIR" "$FLATBED"
    has "goes around it: other, runc"
    ! tr -d '\r' <<<"$output" | grep -E '.{61}' || false
}

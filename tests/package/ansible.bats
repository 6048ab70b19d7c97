#!/usr/bin/env bats
# The role of Ansible in deploy/ansible, with the packages in $PACKAGES, on this host. Runs as packages.bats does.

bats_require_minimum_version 1.5.0

setup_file() {
    [ -n "${PACKAGES-}" ] || { echo "PACKAGES is not set to a directory"; return 1; }
    DIR=$(mktemp -d /var/tmp/fb-ansible.XXXXXX)
    export DIR DEBIAN_FRONTEND=noninteractive ANSIBLE_LOCALHOST_WARNING=False ANSIBLE_NOCOLOR=1 LC_ALL=C.UTF-8
    cp /src/docs/examples/lab.json "$DIR/lab.json"
    echo '{ "version": 1, "nonsense": true }' >"$DIR/bad.json"
}

teardown_file() { [ -z "${DIR-}" ] || rm -rf --one-file-system "$DIR"; }

# play POLICY STATE OPTION...
play() {
    jq -n --arg policy "$1" --arg state "$2" --args \
        '{flatbed_packages: $ARGS.positional, flatbed_policy: $policy, flatbed_state: $state, flatbed_timers: ["gc"],
          flatbed_engines: ["docker", "podman"], flatbed_default: true, ansible_become: false}' \
        "$PACKAGES"/{flatbed,flatten}_*.deb >"$DIR/vars.json"
    shift 2
    run ansible-playbook -i localhost, -c local -e "@$DIR/vars.json" "$@" /src/deploy/ansible/site.yml
}

# recap TEXT: the last play ended so.
recap() { grep -qE "^localhost .*$1" <<<"$output" || { echo "$output"; return 1; }; }

policy_is() { cmp "$DIR/$1" /etc/flatbed/policy.json; }

# shellcheck disable=SC2154  # status and output are set by bats' run

@test "the playbook and its role are well-formed" {
    run ansible-playbook --syntax-check -i localhost, /src/deploy/ansible/site.yml
    [ "$status" -eq 0 ]
}

@test "a check of a bare host changes nothing" {
    play "$DIR/lab.json" present --check
    recap 'failed=0'
    [ ! -e /usr/bin/flatbed ]
    [ ! -e /etc/docker/daemon.json ]
}

@test "a run installs, lays down the policy and sets up the engines" {
    play "$DIR/lab.json" present
    recap 'failed=0'
    flatbed --version
    policy_is lab.json
    jq -e '."default-runtime" == "flatbed"' /etc/docker/daemon.json
    grep -q flatbed /etc/containers/containers.conf.d/flatbed.conf
}

@test "a second run changes nothing" {
    play "$DIR/lab.json" present
    recap 'changed=0 .*failed=0'
}

@test "a check tells what would change, and changes nothing" {
    cp /etc/docker/daemon.json "$DIR/daemon.json"
    flatbed uninstall docker
    play "$DIR/lab.json" present --check --diff
    recap 'changed=1 .*failed=0'
    run ! grep -q flatbed /etc/docker/daemon.json
    play "$DIR/lab.json" present
    recap 'changed=1 .*failed=0'
    cmp "$DIR/daemon.json" /etc/docker/daemon.json
}

@test "a policy with errors is not laid down" {
    play "$DIR/bad.json" present
    recap 'failed=1'
    [[ $output == *nonsense* ]]
    policy_is lab.json
}

@test "absent takes all of it back" {
    play "$DIR/lab.json" absent
    recap 'failed=0'
    [ ! -e /usr/bin/flatbed ]
    [ ! -e /usr/bin/flatten ]
    run ! grep -q flatbed /etc/docker/daemon.json
    [ ! -e /etc/containers/containers.conf.d/flatbed.conf ]
    play "$DIR/lab.json" absent
    recap 'changed=0 .*failed=0'
}

#!/usr/bin/env bats
# The role of Ansible in deploy/ansible, with the tarball in $TARBALL, on this host, below whose /usr/local it is not
# unpacked yet. hack/test-tarball runs it in a root directory of its own.

bats_require_minimum_version 1.5.0

setup_file() {
    [ -n "${TARBALL-}" ] || { echo "TARBALL is not set to a directory"; return 1; }
    DIR=$(mktemp -d /var/tmp/fb-ansible.XXXXXX)
    FILE=$(echo "$TARBALL"/*.tar.gz)
    SUM=$(sha256sum "$FILE" | cut -d ' ' -f 1)
    export DIR FILE SUM ANSIBLE_LOCALHOST_WARNING=False ANSIBLE_NOCOLOR=1 LC_ALL=C.UTF-8
    mkdir -p /etc/docker
    owned >"$DIR/before"
}

teardown_file() { [ -z "${DIR-}" ] || rm -rf --one-file-system "$DIR"; }

# owned: the files below /usr/local, and those of flatbed elsewhere.
owned() { find /usr/local ! -type d; ls -d /etc/flatbed /var/lib/flatbed /var/log/flatbed /etc/docker/daemon.json 2>/dev/null || true; }

# play STATE FILE SUM OPTION...
play() {
    jq -n --arg policy "$BATS_TEST_DIRNAME/../../docs/examples/lab.json" --arg state "$1" --arg file "$2" --arg sum "$3" \
        '{flatbed_tarball: $file, flatbed_tarball_sha256: $sum, flatbed_policy: $policy, flatbed_state: $state,
          flatbed_engines: ["docker"], ansible_become: false}' >"$DIR/vars.json"
    run ansible-playbook -i localhost, -c local -e "@$DIR/vars.json" "${@:4}" "$BATS_TEST_DIRNAME/../../deploy/ansible/site.yml"
}

# recap TEXT: the last play ended so.
recap() { grep -qE "^localhost .*$1" <<<"$output" || { echo "$output"; return 1; }; }

# shellcheck disable=SC2154  # status and output are set by bats' run

@test "a check of a bare host changes nothing; a tarball with another sum, and one without, are refused" {
    play present "$FILE" "$SUM" --check
    recap 'failed=0'
    play present "$FILE" "${SUM//[0-4]/5}"
    recap 'failed=1'
    [[ $output == *"has another sum"* ]]
    play present "$FILE" ""
    recap 'failed=1'
    [ ! -e /usr/local/bin/flatbed ]
}

@test "a run installs the programs, the policy and the runtime of an engine; a second one changes nothing" {
    play present "$FILE" "$SUM"
    recap 'failed=0'
    /usr/local/bin/flatbed check
    [ "$(jq -r .runtimes.flatbed.path /etc/docker/daemon.json)" = /usr/local/bin/flatbed-runtime ]
    play present "$FILE" "$SUM"
    recap 'changed=0 .*failed=0'
}

@test "another tarball replaces the programs, and is fetched from an address" {
    mkdir "$DIR/next"
    tar -xzf "$FILE" -C "$DIR/next"
    echo next >"$(echo "$DIR"/next/*)/share/doc/flatbed/next"
    (cd "$DIR/next" && tar -czf "$DIR/next.tar.gz" -- *)
    play present "file://$DIR/next.tar.gz" "$(sha256sum "$DIR/next.tar.gz" | cut -d ' ' -f 1)"
    recap 'failed=0'
    [ -e /usr/local/share/doc/flatbed/next ]
}

@test "absent keeps it while a container needs it, and then leaves nothing" {
    mkdir -p /run/flatbed/state
    touch /run/flatbed/state/one
    play absent "$FILE" "$SUM"
    recap 'failed=1'
    [[ $output == *"and 1 containers need it"* ]]
    rm /run/flatbed/state/one
    play absent "$FILE" "$SUM" --check
    recap 'failed=0'
    [ -e /usr/local/bin/flatbed-runtime ]
    play absent "$FILE" "$SUM"
    recap 'failed=0'
    rm -f /etc/docker/daemon.json.flatbed-backup
    owned | diff "$DIR/before" -
    play absent "$FILE" "$SUM"
    recap 'changed=0 .*failed=0'
}

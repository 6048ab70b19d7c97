# A host for flatbed doctor: /etc, programs and stores of its own in $DIR, and real file systems. Needs root.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2016,SC2034  # status and output are set by bats' run; inner shells expand

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    [ "$(id -u)" -eq 0 ] || { [ "$CI" != true ] && skip "needs root"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-doctor.XXXXXX")
    chmod 0755 "$DIR"
    mkdir -p "$DIR"/{bin,doc/runc,store} "$DIR"/etc/{docker,containerd,containers,flatbed}
    STORE=$DIR/store
    echo "root:x:0:root:/root:/bin/sh" >"$DIR/etc/passwd"
    echo "root:x:0:" >"$DIR/etc/group"
    echo "{\"data-root\": \"$DIR/docker\"}" >"$DIR/etc/docker/daemon.json"
    echo "root = \"$DIR/none\"" >"$DIR/etc/containerd/config.toml"
    printf '[storage]\ngraphroot = "%s/none"\n' "$DIR" >"$DIR/etc/containers/storage.conf"
    program runc "runc version 1.4.4"
}

teardown() {
    if [ -n "${DIR-}" ]; then
        [ -z "${LOAD_PID-}" ] || kill "$LOAD_PID" 2>/dev/null || true
        umount -l "$STORE" 2>/dev/null || true
        [ -z "${LOOP-}" ] || losetup --detach "$LOOP" || true
        [ -z "${FUSE_PID-}" ] || kill -KILL "$FUSE_PID" 2>/dev/null || true
        umount -l "$DIR/slow" 2>/dev/null || true
        rm -rf --one-file-system "$DIR"
    fi
}

# program NAME TEXT: a program in /usr/local/sbin that prints TEXT.
program() {
    printf '#!/bin/sh\necho "%s"\n' "$2" >"$DIR/bin/$1"
    chmod 0755 "$DIR/bin/$1"
}

# doctor WORDS...: flatbed doctor where /etc, /usr/local/sbin and runc's changelog are those of $DIR. BIND: "FROM TO". DOC=all: so are all changelogs.
doctor() {
    run unshare --mount --propagation private sh -ec '
        mount --bind "$1/etc" /etc; mount --bind "$1/bin" /usr/local/sbin
        mkdir -p /usr/share/doc/runc; mount --bind "$1/doc/runc" /usr/share/doc/runc
        [ -z "$2" ] || mount --bind $2
        [ -z "$3" ] || mount --bind "$1/doc" /usr/share/doc
        shift 3; exec "$@"' sh "$DIR" "${BIND-}" "${DOC-}" "$FLATBED" doctor "$@"
}

# file_system MKFS...: a file system of 400 MB at $STORE.
file_system() {
    truncate -s 400M "$DIR/disk"
    "$@" "$DIR/disk" >/dev/null
    mount -o loop "$DIR/disk" "$STORE"
}

# slow_file_system SECONDS: a network's file system at $DIR/slow, on which a lookup or a read takes so long; `disk` has 8 MB.
slow_file_system() {
    [ -e /dev/fuse ] || { [ "$CI" != true ] && skip "no FUSE"; return 1; }
    mkdir "$DIR/slow"
    /usr/bin/python3 "$BATS_TEST_DIRNAME/../lib/slow_fs.py" "$DIR/slow" "$1" >"$DIR/slow.log" 2>&1 3>&- &
    FUSE_PID=$!
    until mountpoint -q "$DIR/slow"; do
        kill -0 "$FUSE_PID" || { cat "$DIR/slow.log"; return 1; }
        sleep 0.05
    done
}

has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }
has_not() { [[ $output != *"$1"* ]] || { printf 'this has %s:\n%s\n' "$1" "$output"; return 1; }; }
exits() { [ "$status" -eq "$1" ] || { echo "status $status: $output"; return 1; }; }

# says ID LEVEL TEXT: the only diagnosis of that ID has this level, and says the text.
says() {
    doctor --json --only="$1" "${@:4}"
    gojq -e --arg level "$2" --arg text "$3" '.diagnoses | length == 1 and
        (.[0] | .level == $level and ([.seen, .cost, .mend] | map(. // "") | join("|") | contains($text)))' \
        <<<"$output" || { echo "$output"; return 1; }
}

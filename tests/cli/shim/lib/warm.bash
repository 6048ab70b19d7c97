# shellcheck shell=bash
# The frame of warm.bats: an image of two layers, a volume, a policy with "warm", and a runtime that starts a container
# in the background: it runs $DIR/job with the image's busybox. Needs root.

bats_require_minimum_version 1.5.0

# shellcheck source=tests/cli/lib/wait.bash
source "${BASH_SOURCE[0]%/*}/../../lib/wait.bash"

setup() {
    [ "$(id -u)" -eq 0 ] || { [ "${CI-}" != true ] && skip "needs root"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-warm.XXXXXX")
    chmod 0755 "$DIR"
    BUNDLE=$DIR/bundle ROOT=$DIR/bundle/rootfs STORE=$DIR/store IMAGE=$DIR/image VOLUME=$DIR/srv/weights
    mkdir -p "$ROOT" "$IMAGE"/1/{bin,data,dev,weights} "$IMAGE/2/data" "$VOLUME" "$DIR/fs"
    cp "$(command -v busybox)" "$IMAGE/1/bin/busybox"
    : >"$IMAGE/1/dev/null"
    ln -s busybox "$IMAGE/1/bin/sh"
    for i in 1 2 3 4 5 6; do head -c 300000 /dev/urandom >"$IMAGE/$((i % 2 + 1))/data/small$i"; done
    head -c 24M /dev/urandom >"$IMAGE/2/data/big"
    head -c 1M /dev/urandom >"$IMAGE/1/data/unread"
    head -c 20M /dev/urandom >"$VOLUME/model"
    sync -f "$IMAGE"
    mount -t tmpfs none "$DIR/fs" || { [ "${CI-}" != true ] && skip "no mounts here"; return 1; }
    low
    policy
    bundle
    unset FLATBED_DEPTH
}

teardown() {
    local pid where
    [ -n "${DIR-}" ] || return 0
    # shellcheck disable=SC2046
    for pid in $(cat "$DIR"/pid.* 2>/dev/null) $(watchers); do kill -9 "$pid" 2>/dev/null || true; done
    while read -r where; do umount -l "$where"; done < <(awk -v d="$DIR/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | tac)
    rm -rf "/run/flatbed/state/${DIR//\//%2F}"*
    rm -rf --one-file-system "$DIR"
}

# low: makes the runtime. The container has the volume, if config.json has one, and a mount namespace of its own. It
# takes as long as a real one, which the process behind the launch needs to begin: earlier reads are not recorded.
low() {
    cat >"$DIR/low" <<END
#!/bin/sh
[ "\$1" = features ] && { echo '{"ociVersionMin":"1.0.0","ociVersionMax":"1.0.2","mountOptions":["rro","ro"]}'; exit; }
while [ \$# -gt 1 ]; do case \$1 in --bundle) bundle=\$2 ;; esac; shift; done
[ ! -e "$DIR/fail" ] || exit 1
sleep 0.2
volume=\$(gojq -r '.mounts[]? | select(.destination == "/weights") | .source' "\$bundle/config.json")
unshare --mount --propagation private sh -c '
    [ -z "\$2" ] || mount --bind "\$2" "\$1/weights"
    echo \$\$ >"$DIR/pid.\$0"
    exec chroot "\$1" /bin/busybox sh -c "\$3"' "\$1" "$ROOT" "\$volume" "\$(cat "$DIR/job")" >"$DIR/job.out" 2>&1 </dev/null 3>&- &
END
    chmod 0755 "$DIR/low"
}

# policy [MEMBERS-OF-WARM [MEMBERS]]
# shellcheck disable=SC2120  # tests pass them
policy() {
    cat >"$DIR/policy.json" <<END
{ "version": 1, "runtime": { "paths": ["$DIR/low"] },
  "volumes": { "weights": { "source": "$VOLUME", "target": "/weights", "access": "ro", "always": true } },
  "warm": { "for": ${FOR-2}, "cache": "$STORE"${1:+, $1} }${2+, $2} }
END
    chmod 0644 "$DIR/policy.json"
}

bundle() {
    echo '{ "ociVersion": "1.0.2", "root": { "path": "rootfs" }, "process": { "user": { "uid": 0, "gid": 0 } }, "mounts": [] }' >"$BUNDLE/config.json"
}

# job COMMAND: what the container does. It ends after the policy's "for".
job() { echo "$1; busybox sleep ${2-6}" >"$DIR/job"; }
# The programs of busybox have no other names in the image.
# shellcheck disable=SC2034  # for the tests
READS='PATH=/bin; for i in 1 2 3 4 5 6; do busybox cat /data/small$i; done >/dev/null
    busybox dd if=/data/big of=/dev/null bs=1M count=2 skip=10 2>/dev/null
    busybox dd if=/weights/model of=/dev/null bs=1M count=1 2>/dev/null'

# root NAME: mounts the root of a new container as an engine does.
root() {
    mkdir -p "$DIR/fs/$1/upper" "$DIR/fs/$1/work"
    mount -t overlay overlay "$ROOT" -o "lowerdir=$IMAGE/2:$IMAGE/1,upperdir=$DIR/fs/$1/upper,workdir=$DIR/fs/$1/work"
}

# launch [ID]: creates a container, and waits until its process runs.
launch() {
    root "${1-c1}"
    bundle
    run --separate-stderr "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --root "$DIR/state" create --bundle "$BUNDLE" "${1-c1}" 3>&-
    # shellcheck disable=SC2154
    echo "status $status, stdout '$output', stderr '$stderr'"
    [ "$status" -eq "${EXPECTED-0}" ]
}

# settle [ID]: waits for the end of the process behind the launch, and ends the container.
settle() {
    wait_until no_watchers
    [ ! -e "$DIR/pid.${1-c1}" ] || kill -9 "$(cat "$DIR/pid.${1-c1}")" 2>/dev/null || true
    rm -f "$DIR/pid.${1-c1}"
    umount -l "$ROOT"
}

# Prints the processes behind launches that have this test's store open, or hold a place in it.
watchers() {
    local pid
    for pid in $(pgrep -x flatbed-warm); do
        find "/proc/$pid/fd" -lname "$DIR/*" -print -quit 2>/dev/null | grep -q . && echo "$pid"
    done
    return 0
}
no_watchers() { [ -z "$(watchers)" ]; }

# drop: drops the data of image and volume from the page cache. Fails if some stays: a page that is being written, or
# that a processor has just added, does. Files of terabytes have holes alone, and would take fincore minutes.
drop() {
    python3 - "$IMAGE/1/data" "$IMAGE/2/data" "$VOLUME" <<'END'
import os, sys
for top in sys.argv[1:]:
    for where, _, names in os.walk(top):
        for name in names:
            path = os.path.join(where, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            fd = os.open(path, os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)
END
    ! find "$IMAGE/1/data" "$IMAGE/2/data" "$VOLUME" -type f -size -2097152k \
        -exec fincore --bytes --noheadings --raw --output RES {} + | grep -vx '0'
}

# cold: the next launch finds none of the data in the page cache; the programs stay.
cold() { wait_until drop; }
cached() { fincore --bytes --noheadings --raw --output RES "$1"; }
has_cached() { [ "$(cached "$1")" -ge "$2" ]; }

# record image|volume: prints the record.
record() {
    local file
    for file in "$STORE"/*/record; do
        grep -q "^flatbed $([ "$1" = image ] && echo chain || echo volume) " "$file" && cat "$file" && return
    done
    echo "no record of the $1"
    return 1
}
field() { record "$1" | sed -n "s/^$2 //p"; }
warm() { run --separate-stderr "$FLATBED" warm --policy "$DIR/policy.json" "$@"; }

#!/usr/bin/env bats
# An image of the Docker daemon, read where its layers lie: a mount of them instead of docker save.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker flatten

ODD=fb-odd:1

file_ready() {
    python3 -B "$BATS_TEST_DIRNAME/lib/odd_image.py" "$FB_DIR/odd.tar" "$ODD"
    docker_cli load --quiet --input "$FB_DIR/odd.tar" >/dev/null
}

test_end() {
    [ -z "${FB_PROXY_PID-}" ] || daemon_stop "$FB_PROXY_PID"
    FB_PROXY_PID=
    unset FB_HOST
}

# save_layers: makes $FB_DIR/layers.tar, once.
save_layers() {
    [ -e "$FB_DIR/layers.tar" ] || docker_cli save --output "$FB_DIR/layers.tar" "$FB_LAYERS"
}

# in_place ARGS…: flatten --quiet, without room for docker save.
in_place() { flatten_tight 1 --quiet "$@"; }

# is_saved REGEX: flatten reads $ODD as docker save writes it, and says why.
is_saved() {
    run --separate-stderr flatten --verbose "$ODD" "oci:$FB_DIR/out/saved"
    expect_status 0
    # shellcheck disable=SC2154
    expect_match "docker-daemon:$ODD: read as docker save writes it: $1" "$stderr"
    rm -r "$FB_DIR/out/saved"
}

# reading ARGS…: starts flatten of $ODD and waits until it is in the middle of the walk; FB_WALKER is the process.
reading() {
    mkfifo "$FB_DIR/out/stopped"
    FB_HOST=unix://$FB_DIR/docker.sock flatten_spawn "$@"
    wait_for walker_found
    kill -STOP "$FB_WALKER"
}

# walker_found: finds the process that walks, by its root directory: the tree, or the layers.
walker_found() {
    local pid
    # shellcheck disable=SC2013
    for pid in $(cat "/proc/$FB_FLATTEN_PID/task/$FB_FLATTEN_PID/children"); do
        [ -d "/proc/$pid/root/many" ] || [ -d "/proc/$pid/root/1/many" ] || continue
        FB_WALKER=$pid
        return
    done
    return 1
}

# waiting ARGS…: starts flatten of $ODD; its reader waits for the source, and the process FB_WALKER has the mount.
waiting() {
    local -a children=()
    FB_HOST=unix://$FB_DIR/docker.sock flatten_spawn "$@"
    until [ "${#children[@]}" -eq 2 ]; do
        kill -0 "$FB_FLATTEN_PID"
        read -r -a children <"/proc/$FB_FLATTEN_PID/task/$FB_FLATTEN_PID/children" || true
    done
    FB_READER=${children[0]}
    kill -STOP "$FB_READER"
    wait_for walker_found
}

@test "place: the tree is that of docker save, the digest the same at each run, and nothing is in TMPDIR" {
    local once
    save_layers
    once=$(in_place "$FB_LAYERS" "oci:$FB_DIR/out/once:v1")
    expect_match '^sha256:[0-9a-f]+' "$once"
    expect_equal "$(flatten --quiet --threads=2 "$FB_LAYERS" "oci:$FB_DIR/out/twice:v1")" "$once"
    run flatten verify "oci:$FB_DIR/out/once:v1" "$FB_DIR/layers.tar"
    expect_status 0
    run flatten verify "$FB_LAYERS" "$FB_DIR/layers.tar"
    expect_status 0
}

@test "place: links, devices, odd names and owners, capabilities, attributes, holes and nanoseconds are exact" {
    run in_place --verify "$ODD" "docker-archive:$FB_DIR/out/odd.tar"
    expect_status 0
    run flatten verify "$FB_DIR/out/odd.tar" "$FB_DIR/odd.tar"
    expect_status 0
    run flatten verify "$ODD" "$FB_DIR/odd.tar"
    expect_status 0
    expect_match 'the same tree: [0-9]+ paths'
    run flatten --quiet "$FB_DIR/out/odd.tar" docker-daemon:fb-odd-flat:1
    expect_status 0
    run flatten verify "$ODD" docker-daemon:fb-odd-flat:1
    expect_status 0
    docker_cli rmi --force fb-odd-flat:1
}

@test "place: the configuration is exact" {
    local before after
    flatten --quiet "$FB_LAYERS" "oci:$FB_DIR/out/config:v1" >/dev/null
    save_layers
    flatten --quiet "$FB_DIR/layers.tar" "oci:$FB_DIR/out/config:v2" >/dev/null
    for tag in v1 v2; do
        after=$(gojq -r --arg tag $tag '.manifests[] | select(.annotations["org.opencontainers.image.ref.name"] == $tag).digest' \
            "$FB_DIR/out/config/index.json")
        after=$(gojq -r .config.digest "$FB_DIR/out/config/blobs/sha256/${after#sha256:}")
        after=$(gojq 'del(.rootfs.diff_ids)' "$FB_DIR/out/config/blobs/sha256/${after#sha256:}")
        [ -z "$before" ] || expect_equal "$after" "$before"
        before=$after
    done
    expect_match Healthcheck "$before"
    expect_match OnBuild "$before"
}

@test "place: options that need layers, another daemon and lost rights lead to docker save, and --verbose says why" {
    local gone=$FB_DIR/docker/image/overlay2/imagedb/content/sha256 id
    run --separate-stderr flatten --verbose --last=1 "$ODD" "oci:$FB_DIR/out/last"
    expect_status 0
    expect_match 'the options need its layers one by one' "$stderr"
    run --separate-stderr flatten --verbose "$ODD" "oci:$FB_DIR/out/place"
    expect_equal "$(grep -c 'docker save' <<<"$stderr")" 0
    # The store is not where the daemon says: it is remote, or in another mount namespace.
    # shellcheck disable=SC2016
    run --separate-stderr env TMPDIR="$FB_DIR/tmp" DOCKER_HOST="unix://$FB_DIR/docker.sock" unshare --mount \
        --propagation private sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' sh "$FB_DIR/docker" \
        "$FLATTEN" --verbose "$ODD" "oci:$FB_DIR/out/elsewhere"
    expect_status 0
    expect_match "read as docker save writes it: $FB_DIR/docker: .*No such file" "$stderr"
    # This process may not mount.
    run --separate-stderr env TMPDIR="$FB_DIR/tmp" DOCKER_HOST="unix://$FB_DIR/docker.sock" setpriv \
        --bounding-set=-sys_admin --inh-caps=-sys_admin "$FLATTEN" --verbose "$ODD" "oci:$FB_DIR/out/rights"
    expect_status 0
    expect_match "cannot make a mount namespace: Operation not permitted" "$stderr"
    # The store may be written to by others.
    chmod o+w "$FB_DIR/docker"
    is_saved "$FB_DIR/docker is not owned by root, or others may write to it"
    chmod o-w "$FB_DIR/docker"
    # The configuration is not the image's.
    id=$(docker_cli inspect --format '{{.Id}}' "$ODD")
    cp -a "$gone/${id#sha256:}" "$FB_DIR/config"
    echo ' ' >>"$gone/${id#sha256:}"
    is_saved ".* is not the image's configuration" || true
    cp -a "$FB_DIR/config" "$gone/${id#sha256:}"
    rm -r "$FB_DIR/out"/*
    expect_nothing_left
}

@test "place: a layer behind a symbolic link leads to docker save" {
    local layer
    layer=$(docker_cli inspect --format '{{.GraphDriver.Data.UpperDir}}' "$ODD")
    mv "$layer" "$layer.real"
    ln -s "$layer.real" "$layer"
    run --separate-stderr flatten --verbose "$ODD" "oci:$FB_DIR/out/link"
    rm "$layer"
    mv "$layer.real" "$layer"
    expect_match "the layer overlay2/.*: Too many levels of symbolic links" "$stderr"
}

@test "place: a store behind a symbolic link or a bind mount, and a daemon over TCP on this machine" {
    # shellcheck disable=SC2016
    run env TMPDIR=/nonexistent DOCKER_HOST="unix://$FB_DIR/docker.sock" unshare --mount --propagation private sh -c \
        'mount --bind "$1" "$1" && shift && exec "$@"' sh "$FB_DIR/docker" "$FLATTEN" -q "$ODD" "oci:$FB_DIR/out/bind"
    expect_status 0
    mv "$FB_DIR/docker" "$FB_DIR/docker.real"
    ln -s docker.real "$FB_DIR/docker"
    run in_place "$ODD" "oci:$FB_DIR/out/link"
    rm "$FB_DIR/docker"
    mv "$FB_DIR/docker.real" "$FB_DIR/docker"
    expect_status 0
    python3 - "$FB_DIR/docker.sock" >"$FB_DIR/port" 2>/dev/null 3>&- <<'END' &
import socket, sys, threading
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
def copy(a, b):
    while data := a.recv(65536):
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)
while True:
    one = server.accept()[0]
    two = socket.socket(socket.AF_UNIX)
    two.connect(sys.argv[1])
    threading.Thread(target=copy, args=(one, two), daemon=True).start()
    threading.Thread(target=copy, args=(two, one), daemon=True).start()
END
    FB_PROXY_PID=$!
    wait_for test -s "$FB_DIR/port"
    FB_HOST=tcp://127.0.0.1:$(cat "$FB_DIR/port") run in_place "$ODD" "oci:$FB_DIR/out/tcp"
    expect_status 0
    rm -r "$FB_DIR/out"/*
}

@test "place: the process that walks sees the mount alone, with two capabilities, and ends with flatten" {
    reading --quiet "$ODD" "oci:$FB_DIR/out/layout"
    cat "/proc/$FB_WALKER/status"
    grep -qE '^CapEff:\s+0000000000200004$' "/proc/$FB_WALKER/status"
    grep -qE '^CapPrm:\s+0000000000200004$' "/proc/$FB_WALKER/status"
    grep -qE '^NoNewPrivs:\s+1$' "/proc/$FB_WALKER/status"
    # Its root is the image, to which nothing can be written; its files are the socket and what lies in there.
    [ -d "/proc/$FB_WALKER/root/many" ] && [ ! -e "/proc/$FB_WALKER/root/proc" ]
    run touch "/proc/$FB_WALKER/root/new"
    expect_match 'Read-only file system'
    run ls -l "/proc/$FB_WALKER/fd"
    expect_match '3 -> socket:'
    [ "$(readlink "/proc/$FB_WALKER/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ]
    expect_equal "$(grep -c "$FB_DIR/docker overlay" /proc/self/mounts)" 0
    kill -KILL "$FB_FLATTEN_PID"
    wait "$FB_FLATTEN_PID" || true
    wait_for test ! -e "/proc/$FB_WALKER/exe"
}

@test "place: the reader opens nothing by name; it gets files from the process that walks" {
    require_tool strace
    fb_gate
    ! grep -qa __asan_init "$FLATTEN" || skip "AddressSanitizer: no list of system calls"
    run env TMPDIR=/nonexistent DOCKER_HOST="unix://$FB_DIR/docker.sock" strace -f -qq -o "$FB_DIR/out/trace" \
        "$FLATTEN" --quiet "$ODD" "oci:$FB_DIR/out/layout"
    expect_status 0
    # The keeper comes first; the process that walks is the one with a root of its own.
    awk 'NR == 1 { keeper = $1 }
         / chroot\(/ { walker = $1 }
         /seccomp\(SECCOMP_SET_MODE_FILTER/ { confined = 1 }
         confined && walker && $1 != keeper && $1 != walker { print $2 }' "$FB_DIR/out/trace" | sed 's/(.*//' | sort -u >"$FB_DIR/calls"
    run cat "$FB_DIR/calls"
    expect_match recvmsg
    expect_match pread64
    run grep -E '^(open|exec|socket|connect|bind|fork|unlink|rename|mkdir|link|symlink|chmod|chown|mount|kill|ptrace|bpf|stat|newfstatat|statx|readlink|access|getdents|io_uring)' \
        "$FB_DIR/calls"
    expect_status 1
    # The walker asks for the content of each file that it opens before the reader needs it.
    expect_equal "$(grep -c 'fadvise64(.*WILLNEED' "$FB_DIR/out/trace")" \
        "$(grep -c 'open.*O_RDONLY|O_NONBLOCK|O_NOFOLLOW|O_CLOEXEC' "$FB_DIR/out/trace")"
    rm -r "$FB_DIR/out"/*
}

@test "place: a container that starts and stops meanwhile changes nothing" {
    local expected
    expected=$(flatten --quiet "$FB_LAYERS" "oci:$FB_DIR/out/expected")
    docker_cli run --detach --name busy --network=none --entrypoint /bin/sh "$FB_LAYERS" -c \
        'while :; do echo x >/tmp/x; rm -r /data/moved 2>/dev/null; sleep 0.1; done'
    expect_equal "$(flatten --quiet "$FB_LAYERS" "oci:$FB_DIR/out/meanwhile")" "$expected"
    docker_cli rm --force busy
}

# fails_reading REGEX: the run that `reading` started fails, and leaves nothing.
fails_reading() {
    local status=0
    kill -CONT "$FB_WALKER"
    wait "$FB_FLATTEN_PID" || status=$?
    cat "$FB_DIR/spawned.log"
    [ "$status" -eq 3 ]
    expect_match "$1" "$(cat "$FB_DIR/spawned.log")"
    rm "$FB_DIR/out/stopped"
    expect_nothing_left
}

@test "place: an image that is removed while it is read is an error, and nothing is written" {
    reading --quiet "$ODD" "oci:$FB_DIR/out/layout"
    docker_cli rmi --force "$ODD"
    fails_reading "docker-daemon:$ODD: the image was removed from the daemon while it was read"
    file_ready
}

@test "place: a layer that vanishes while it is read is an error, and nothing is written" {
    local layer
    layer=$(docker_cli inspect --format '{{.GraphDriver.Data.LowerDir}}' "$ODD")
    reading --quiet "$ODD" "oci:$FB_DIR/out/layout"
    rm -r "$layer"
    fails_reading "a layer vanished while the image was read: $layer|/many/[0-9]+: .*No such file"
    docker_cli rmi --force "$ODD"
    file_ready
}

@test "place: a process that walks and is killed is an error, and nothing is written" {
    local status=0
    # A busy machine may stop the process when its walk is over: such a run succeeds, and does not count.
    until [ "$status" -ne 0 ]; do
        rm -rf "$FB_DIR/out"/*
        reading --quiet "$ODD" "oci:$FB_DIR/out/layout"
        kill -KILL "$FB_WALKER"
        wait "$FB_FLATTEN_PID" || status=$?
    done
    [ "$status" -eq 3 ]
    expect_match "the process that reads the layers is gone" "$(cat "$FB_DIR/spawned.log")"
    rm "$FB_DIR/out/stopped"
    expect_nothing_left
}

@test "place: a process that walks and dies before it is asked is an error, also while the daemon imports the layer" {
    local status=0
    waiting --quiet "$ODD" docker-daemon:fb-out:1
    kill -KILL "$FB_WALKER"
    wait_for grep -q zombie "/proc/$FB_WALKER/status"
    kill -CONT "$FB_READER"
    wait_for test ! -e "/proc/$FB_FLATTEN_PID/exe"
    wait "$FB_FLATTEN_PID" || status=$?
    [ "$status" -eq 3 ]
    expect_match "the process that reads the layers is gone" "$(cat "$FB_DIR/spawned.log")"
    expect_nothing_left
}

# figures ARGS…: the JSON of flatten analyze, without what only a blob has, and without examples in the order of a layer.
figures() { "$@" | gojq 'del(.images[] | .source, .name, .layers[].digest, .layers[].size, .duplicates.worst[]?.paths)'; }

@test "place: analyze reads the layers apart; the figures are those of docker save, and nothing is in TMPDIR" {
    local image archive
    save_layers
    for image in "$FB_LAYERS" "$ODD"; do
        archive=$FB_DIR/odd.tar
        [ "$image" = "$ODD" ] || archive=$FB_DIR/layers.tar
        for option in --quiet --contents --zfs=128K; do
            diff <(figures flatten_tight 1 analyze --quiet --json "$option" "$image") \
                <(figures flatten analyze --quiet --json "$option" "$archive")
        done
    done
    run --separate-stderr flatten_tight 1 analyze --verbose "$ODD"
    expect_status 0
    expect_equal "$stderr" ""
    run flatten_tight 1 analyze --json "$ODD"
    expect_equal "$(gojq -c '[.images[].layers[].size]' <<<"$output")" '[null,null]'
}

@test "place: analyze says why it reads what docker save writes, and refuses a layer that is none by itself" {
    local layer
    layer=$(docker_cli inspect --format '{{.GraphDriver.Data.UpperDir}}' "$ODD")
    chmod o+w "$FB_DIR/docker"
    run --separate-stderr flatten analyze --verbose "$ODD"
    chmod o-w "$FB_DIR/docker"
    expect_status 0
    expect_match "docker-daemon:$ODD: read as docker save writes it: $FB_DIR/docker is not owned by root" "$stderr"
    python3 -c 'import os, sys; os.setxattr(sys.argv[1], "trusted.overlay.redirect", b"other")' "$layer/alone"
    run flatten_tight 1 analyze "$ODD"
    python3 -c 'import os, sys; os.removexattr(sys.argv[1], "trusted.overlay.redirect")' "$layer/alone"
    expect_status 8
    expect_match "$ODD: layer 2: /alone: the attribute trusted.overlay.redirect, by which a part of it is in other layers: save the image"
}

@test "place: the process that walks layers apart sees them alone, read-only; an image that is removed is an error" {
    local status=0
    waiting analyze "$ODD"
    grep -qE '^CapEff:\s+0000000000200004$' "/proc/$FB_WALKER/status"
    expect_equal "$(cd "/proc/$FB_WALKER/root" && echo *)" "1 2"
    for place in new 1/new 2/d/new; do
        run touch "/proc/$FB_WALKER/root/$place"
        expect_match 'Read-only file system'
    done
    docker_cli rmi --force "$ODD"
    kill -CONT "$FB_READER"
    wait "$FB_FLATTEN_PID" || status=$?
    cat "$FB_DIR/spawned.log"
    [ "$status" -eq 3 ]
    expect_match "docker-daemon:$ODD: the image was removed from the daemon while it was read" "$(cat "$FB_DIR/spawned.log")"
    file_ready
}

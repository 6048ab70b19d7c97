# shellcheck shell=bash
# The program under test is $FLATTEN, an absolute path. Its temporary files are in $FB_DIR/tmp, which must be
# empty when it has ended. $FB_LAYERS is an image of more than twenty layers, built by docker.

export FB_LAYERS=fb-layers:1

# The engines run containers by runc: flatbed-runtime has no part in these tests.
FLATBED_RUNTIME=$(command -v runc || true)
FB_PODMAN_RUNTIME=$FLATBED_RUNTIME
export FLATBED_RUNTIME FB_PODMAN_RUNTIME

flatten_require() {
    require_tool gojq python3
    case ${FLATTEN-} in
        '') refuse "FLATTEN is not set" ;;
        /*) [ -x "$FLATTEN" ] || refuse "FLATTEN=$FLATTEN is no program" ;;
        *) refuse "FLATTEN=$FLATTEN is not absolute" ;;
    esac
}

flatten_start() {
    mkdir "$FB_DIR/out"
    layers_build
}

flatten_stop() { :; }

# Empties the directory for the results of a test.
flatten_remove_all() {
    rm -rf "$FB_DIR/out"
    mkdir "$FB_DIR/out"
}

# flatten ARGS…: runs it with the private daemon; FB_HOST names another one.
flatten() {
    env -u DOCKER_TLS_VERIFY -u SOURCE_DATE_EPOCH TMPDIR="$FB_DIR/tmp" \
        DOCKER_HOST="${FB_HOST:-unix://$FB_DIR/docker.sock}" "$FLATTEN" "$@" 3>&-
}

# flatten_tight MIB ARGS…: the same with only MIB MiB for temporary files.
flatten_tight() {
    # shellcheck disable=SC2016
    env -u DOCKER_TLS_VERIFY -u SOURCE_DATE_EPOCH TMPDIR="$FB_DIR/tmp" \
        DOCKER_HOST="${FB_HOST:-unix://$FB_DIR/docker.sock}" unshare --mount --propagation private sh -c \
        'mount -t tmpfs -o size="$1m" none "$TMPDIR" && shift && exec "$@"' sh "$1" "$FLATTEN" "${@:2}" 3>&-
}

# flatten_spawn ARGS…: the same in the background, as $FB_FLATTEN_PID.
flatten_spawn() {
    TMPDIR=$FB_DIR/tmp DOCKER_HOST=$FB_HOST "$FLATTEN" "$@" >"$FB_DIR/spawned.log" 2>&1 </dev/null 3>&- &
    export FB_FLATTEN_PID=$!
}

# flatten_killed SECONDS ARGS…: the same, with SIGKILL after that time.
flatten_killed() {
    TMPDIR=$FB_DIR/tmp DOCKER_HOST=unix://$FB_DIR/docker.sock "$FLATTEN" --quiet "${@:2}" \
        >"$FB_DIR/spawned.log" 2>&1 </dev/null 3>&- &
    FB_FLATTEN_PID=$!
    sleep "$1"
    kill -KILL "$FB_FLATTEN_PID" 2>/dev/null || true
    wait "$FB_FLATTEN_PID" 2>/dev/null || true
}

# daemon_unpacks_nothing: succeeds when the daemon has loaded or removed all uploads.
daemon_unpacks_nothing() { [ -z "$(ls -A "$FB_DIR/docker/tmp")" ]; }

# daemon_id NAME: prints the Id of the image in the private daemon, or nothing.
daemon_id() { docker_cli inspect --format '{{.Id}}' "$1" 2>/dev/null || true; }

# killed_loading NAME OLD TIMES: flatten, killed at TIMES points of its run, leaves OLD ("" for none) or
# the whole new image of $FB_LAYERS under NAME, and nothing else.
killed_loading() {
    local name=$1 old=$2 times=$3 start took new was="" i seen
    start=$EPOCHREALTIME
    flatten --quiet "$FB_LAYERS" "docker-daemon:$name" >/dev/null
    took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
    new=$(daemon_id "$name")
    for i in $(seq 1 "$times"); do
        docker_cli rmi --force "$name" >/dev/null
        [ -z "$old" ] || docker_cli tag "$old" "$name"
        was=$(daemon_id "$name")
        flatten_killed "$(awk -v t="$took" -v i="$i" -v n="$times" 'BEGIN { print t * i / n }')" \
            "$FB_LAYERS" "docker-daemon:$name"
        seen=$(daemon_id "$name")
        wait_for daemon_unpacks_nothing
        echo "killed at $i/$times of $took s: ${seen:-nothing}, then $(daemon_id "$name")"
        [ "$seen" = "$was" ] || expect_equal "$seen" "$new"
        seen=$(daemon_id "$name") # it may have received all, and finish only now
        [ "$seen" = "$was" ] || expect_equal "$seen" "$new"
        expect_nothing_left
        [ "$seen" = "$was" ] || expect_equal "$(docker_cli run --rm --network=none "$name")" "$FB_RUNS"
    done
    flatten --quiet "$FB_LAYERS" "docker-daemon:$name" >/dev/null
    expect_equal "$(daemon_id "$name")" "$new"
    expect_equal "$(docker_cli run --rm --network=none "$name")" "$FB_RUNS"
    docker_cli rmi --force "$name" >/dev/null
}

# loads_all: flattens both images of a docker save into the daemon, by one call.
# shellcheck disable=SC2154 # output and lines are set by run
loads_all() {
    docker_cli save --output "$FB_DIR/out/all.tar" "$FB_LAYERS" "$FB_IMAGE"
    # Another test's image, read in place, has another ID and would be in the way.
    docker_cli rmi --force "$FB_LAYERS-flat" >/dev/null 2>&1 || true
    run flatten --quiet --verify --all-images "$FB_DIR/out/all.tar" docker-daemon:
    expect_status 0
    rm "$FB_DIR/out/all.tar"
    expect_equal "${#lines[@]}" 2
    expect_match "^$FB_LAYERS-flat sha256:[0-9a-f]+ sha256:[0-9a-f]+$" "$(grep "^$FB_LAYERS" <<<"$output")"
    expect_match "$(daemon_id "$FB_LAYERS-flat")" "$(grep "^$FB_LAYERS" <<<"$output")"
    expect_match "$(daemon_id "$FB_IMAGE-flat")" "$(grep "^$FB_IMAGE" <<<"$output")"
    expect_equal "$(docker_cli run --rm --network=none "$FB_LAYERS-flat")" "$FB_RUNS"
    expect_same_image "$FB_LAYERS" "$FB_LAYERS-flat"
    expect_same_image "$FB_IMAGE" "$FB_IMAGE-flat"
    docker_cli rmi --force "$FB_LAYERS-flat" "$FB_IMAGE-flat" >/dev/null
    expect_nothing_left
}

expect_nothing_left() { expect_equal "$(ls -A "$FB_DIR/tmp" "$FB_DIR/out")" "$(printf '%s:\n\n%s:' "$FB_DIR/out" "$FB_DIR/tmp")"; }

# ------------------------------------------------------------------ the image

# A file with a capability (net_raw), as a tar that ADD unpacks: the classic builder has no setcap.
layers_capability() {
    mkdir -p "$FB_DIR/capable/usr/bin"
    echo "program" >"$FB_DIR/capable/usr/bin/ping"
    python3 - "$FB_DIR/capable/usr/bin/ping" <<'EOF'
import os, struct, sys
os.setxattr(sys.argv[1], "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))
EOF
    tar -C "$FB_DIR/capable" --xattrs --xattrs-include='security.*' --owner=0 --group=0 -cf "$1" usr
}

layers_dockerfile() {
    cat <<'EOF'
FROM scratch
ADD rootfs.tar /
ENV PATH=/bin GREETING="hello world"
LABEL maker=flatbed "with space"="a \"quoted\" value"
HEALTHCHECK --interval=5m --timeout=3s CMD test -e /data
ONBUILD RUN echo built upon
STOPSIGNAL SIGUSR1
EXPOSE 8080/tcp
VOLUME /volume
RUN mkdir -p /data/sub /opt/lib /opt/real && echo one >/data/a && echo deep >/data/sub/deep
RUN echo two, overwritten >/data/a
RUN rm /data/sub/deep
RUN busybox chown 7:8 /data/a && chmod 4751 /data/a
RUN echo x >/opt/lib/x && busybox dd if=/dev/urandom of=/data/large bs=1M count=4
RUN rm -r /opt/lib && busybox ln -s real /opt/lib
RUN echo y >/opt/lib/y
RUN echo shared >/data/h1 && busybox ln /data/h1 /data/h2 && busybox ln /data/h1 /data/h3 && busybox ln /data/h1 /data/h4
RUN rm /data/h1
RUN rm /data/h2 && echo replaced >/data/h2
RUN mkdir -p /o/k && touch /o/old /o/k/old && rm /data/large
RUN rm -r /o && mkdir /o && echo new >/o/new
RUN busybox ln -s /nowhere /data/kind && busybox mkfifo -m 600 /data/fifo
RUN rm /data/kind && mkdir /data/kind && echo f >/data/kind/f
RUN rm -r /data/kind && echo file >/data/kind
RUN touch -d '2001-02-03 04:05:06' /data/a /data/sub
ADD capable.tar /
RUN busybox mv /data/sub /data/moved && echo in >/data/moved/in
COPY ["spaced näme", "/data/"]
RUN busybox dd if=/dev/zero of=/data/sparse bs=1 count=1 seek=3000000
RUN mkdir -m 1777 /late && busybox chown 1234:1234 /late && rm -r /o/new
WORKDIR /data
SHELL ["/bin/sh", "-ec"]
USER 1234:1234
ENTRYPOINT ["/bin/sh", "-c"]
CMD ["cat h3 h4 kind"]
EOF
}

# layers_build: builds $FB_LAYERS in the private daemon, by its classic builder.
layers_build() {
    local dir=$FB_DIR/context
    [ -z "$FB_REFUSED" ] || return 0
    mkdir -p "$dir"
    tar -C "$FB_DIR/rootfs" --sort=name --owner=0 --group=0 --numeric-owner -cf "$dir/rootfs.tar" .
    layers_capability "$dir/capable.tar"
    echo "odd name" >"$dir/spaced näme"
    layers_dockerfile >"$dir/Dockerfile"
    if ! DOCKER_BUILDKIT=0 docker_cli build --network=none --tag "$FB_LAYERS" "$dir" >"$FB_DIR/build.log" 2>&1; then
        tail -n 20 "$FB_DIR/build.log"
        return 1
    fi
}

# ------------------------------------------------------------------ podman as a daemon

# podman_service: starts the Docker-compatible API of podman, which ends after five idle seconds.
podman_service() {
    within env CONTAINERS_CONF="$FB_DIR/containers.conf" CONTAINERS_STORAGE_CONF="$FB_DIR/storage.conf" \
        TMPDIR="$FB_DIR/podman" podman --runtime "$FB_PODMAN_RUNTIME" system service --time=5 \
        "unix://$FB_DIR/podman.sock" >"$FB_DIR/podman.log" 2>&1 </dev/null 3>&- &
    export FB_FAKE_PID=$! FB_HOST=unix://$FB_DIR/podman.sock
    wait_for test -S "$FB_DIR/podman.sock"
}

# ------------------------------------------------------------------ comparing

# export_image IMAGE FILE: writes the tree of a container that has never run.
export_image() {
    local id
    id=$(docker_cli create "$1" true)
    docker_cli export --output "$2" "$id"
    docker_cli rm --volumes "$id" >/dev/null
}

# expect_same_image A B [LAYERS]: asserts equal trees and configurations in docker; B has one layer,
# or LAYERS.
expect_same_image() {
    export_image "$1" "$FB_DIR/a.tar"
    export_image "$2" "$FB_DIR/b.tar"
    python3 "$BATS_TEST_DIRNAME/lib/export_diff.py" "$FB_DIR/a.tar" "$FB_DIR/b.tar"
    expect_equal "$(image_facts "$1")" "$(image_facts "$2")"
    expect_equal "$(docker_cli inspect "$2" | gojq '.[0].RootFS.Layers | length')" "${3-1}"
}

# Comment comes from the last history entry, which flatten writes.
image_facts() {
    docker_cli inspect "$1" | gojq '.[0] | del(.Id, .RepoTags, .RepoDigests, .Parent, .RootFS, .GraphDriver,
        .Size, .VirtualSize, .Metadata, .Comment)'
}

# ------------------------------------------------------------------ a daemon that misbehaves

# fake_start MODE [IMAGE.tar [ADDRESS]]: starts a faulty daemon; FB_HOST is its address, $FB_DIR/fake.log has its requests.
fake_start() {
    local address=${3-$FB_DIR/fake.sock}
    : >"$FB_DIR/fake.log"
    python3 "$BATS_TEST_DIRNAME/lib/fake_engine.py" "$address" "$1" "$FB_DIR/fake.log" ${2+"$2"} \
        >"$FB_DIR/fake.err" 2>&1 </dev/null 3>&- &
    export FB_FAKE_PID=$!
    wait_for test -s "$FB_DIR/fake.log"
    export FB_HOST=unix://$address
    [ "$address" != tcp ] || FB_HOST=tcp://127.0.0.1:$(head -n 1 "$FB_DIR/fake.log")
}

fake_stop() {
    daemon_stop "${FB_FAKE_PID-}"
    FB_FAKE_PID=
    unset FB_HOST
}

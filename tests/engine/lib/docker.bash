# shellcheck shell=bash
# A private dockerd with a runtime "flatbed", and the client for it.
# DOCKER and DOCKERD name the programs: a newer client may come first in PATH.

: "${DOCKER:=/usr/bin/docker}" "${DOCKERD:=/usr/sbin/dockerd}"
[ -x "$DOCKER" ] || DOCKER=$(command -v docker || echo docker)
[ -x "$DOCKERD" ] || DOCKERD=$(command -v dockerd || echo dockerd)

docker_cli() {
    env -u DOCKER_CONTEXT -u DOCKER_TLS_VERIFY -u DOCKER_CERT_PATH -u DOCKER_API_VERSION \
        DOCKER_CONFIG="$FB_DIR/docker-client" "$DOCKER" --host "unix://$FB_DIR/docker.sock" "$@" 3>&-
}

# docker_run ARGS…: runs it under flatbed-runtime, without a network.
docker_run() { docker_cli run --runtime=flatbed --network=none "$@"; }

# docker_start_container NAME SCRIPT: starts it in the background, and waits until it runs.
docker_start_container() {
    docker_run --detach --name "$1" "$FB_IMAGE" sh -c "$2" >/dev/null
    wait_for docker_is "$1" running
}

# docker_is NAME STATE: running, paused, exited …
docker_is() { [ "$(docker_cli inspect --format '{{.State.Status}}' "$1")" = "$2" ]; }

docker_logs_have() { docker_cli logs "$1" 2>&1 | grep -q -- "$2"; }

docker_require() { require_tool "$DOCKER" "$DOCKERD" containerd runc; }

docker_remove_all() {
    local ids
    ids=$(docker_cli ps --all --quiet) || return 0
    # shellcheck disable=SC2086
    [ -z "$ids" ] || docker_cli rm --force --volumes $ids >/dev/null
}

# ------------------------------------------------------------------ the daemon

docker_daemon_json() {
    cat <<EOF
{ "runtimes": { "flatbed": { "path": "$FLATBED_RUNTIME", "runtimeArgs": ["--flatbed-policy=$FB_POLICY"] } },
  "live-restore": ${FB_DOCKER_LIVE:-false},
  "features": { "containerd-snapshotter": ${FB_DOCKER_SNAPSHOTTER:-false} } }
EOF
}

# docker_store: prints "containerd", with $FB_DOCKER_SNAPSHOTTER=true from Docker 24 on; otherwise "graph".
docker_store() {
    case $(docker_cli info --format '{{.DriverStatus}}') in
        *io.containerd.snapshotter*) echo containerd ;;
        *) echo graph ;;
    esac
}

# docker_has_annotations: succeeds if client and daemon pass them to the runtime (API 1.43, Docker 24).
docker_has_annotations() {
    local versions
    versions=$(docker_cli version --format $'{{.Client.APIVersion}}\n{{.Server.APIVersion}}')
    [ "$(printf '%s\n1.43\n' "$versions" | sort -V | head -n 1)" = 1.43 ]
}

# docker_spawn STORAGE_DRIVER: starts it with its own containerd (under exec-root), without network rules and bridge. It runs in
# a private mount namespace: its mounts end with it even if this test is killed, and /etc/docker is
# an empty tmpfs there (dockerd before 23.0 writes a key to it, without an option for another place).
# With $FB_DOCKER_WITHIN it runs in the mount namespace of that process, as its predecessor did. With $FB_DOCKER_NET=own
# it has a network namespace, in which a test may make bridges.
docker_spawn() {
    docker_daemon_json >"$FB_DIR/daemon.json"
    [ -d /etc/docker ] || mkdir /etc/docker
    local -a within=(unshare --mount ${FB_DOCKER_NET:+--net} --propagation private sh -c 'mount -t tmpfs none /etc/docker && exec "$@"' sh)
    [ -z "${FB_DOCKER_WITHIN-}" ] || within=(nsenter --mount --target "$FB_DOCKER_WITHIN")
    "${within[@]}" "$DOCKERD" --config-file "$FB_DIR/daemon.json" --host "unix://$FB_DIR/docker.sock" \
        --data-root "$FB_DIR/docker" --exec-root "$FB_DIR/exec" --pidfile "$FB_DIR/docker.pid" \
        ${1:+--storage-driver "$1"} --exec-opt native.cgroupdriver=cgroupfs \
        --bridge=none --iptables=false --ip-forward=false --ip-masq=false \
        >"$FB_DIR/dockerd.log" 2>&1 </dev/null 3>&- &
    export FB_DOCKERD_PID=$!
}

docker_start() {
    [ -z "$FB_REFUSED" ] || return 0
    # The store of containerd has other names for drivers, and chooses the driver itself.
    if [ "${FB_DOCKER_SNAPSHOTTER-}" = true ]; then docker_spawn ''; else docker_spawn overlay2; fi
    if ! daemon_await dockerd "$FB_DOCKERD_PID" "$FB_DIR/dockerd.log" docker_cli version; then
        fb_note "dockerd does not start with overlay2; trying vfs: $(tail -n 1 "$FB_DIR/dockerd.log")"
        docker_stop
        docker_spawn vfs
        daemon_await dockerd "$FB_DOCKERD_PID" "$FB_DIR/dockerd.log" docker_cli version
    fi
    docker_cli load --quiet --input "$FB_DIR/image.tar" >/dev/null
}

docker_stop() {
    [ -n "${FB_DOCKERD_PID-}" ] || return 0
    daemon_stop "$FB_DOCKERD_PID"
    FB_DOCKERD_PID=
    fb_reap
    fb_unmount
}

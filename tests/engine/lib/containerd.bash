# shellcheck shell=bash
# A private containerd and ctr. Shim sockets are the one thing outside of $FB_DIR: containerd
# always keeps them in /run/containerd/s.

# The namespace is named after $FB_DIR: it becomes a cgroup, which must differ from that of another test.
ctr_cli() {
    TMPDIR=$FB_DIR/tmp ctr --address "$FB_DIR/containerd.sock" --namespace "${FB_DIR##*/}" "$@" 3>&-
}

# ctr_run ID [OPTION…] -- COMMAND…: runs it in the foreground; the container is removed at its end.
ctr_run() { ctr_run_as "--rm" "$@"; }

# ctr_start ID [OPTION…] -- COMMAND…: runs it in the background; its output goes to $FB_DIR/ID.log.
ctr_start() { ctr_run_as "--detach --log-uri file://$FB_DIR/$1.log" "$@"; }

ctr_run_as() {
    local how=$1 id=$2
    local -a options=()
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    # shellcheck disable=SC2086
    ctr_cli run $how --snapshotter "$FB_SNAPSHOTTER" --fifo-dir "$FB_DIR/fifo" \
        --runc-binary "$FB_DIR/bin/flatbed-runtime" --runc-root "$FB_DIR/runc" \
        "${options[@]}" "docker.io/library/$FB_IMAGE" "$id" "$@"
}

# ctr_is ID STATE: RUNNING, STOPPED, PAUSED
ctr_is() { ctr_cli task ls | grep -Eq "^$1[[:space:]]+[0-9]+[[:space:]]+$2"; }

containerd_require() { require_tool containerd ctr containerd-shim-runc-v2 runc; }

containerd_remove_all() {
    local id
    for id in $(ctr_cli container ls --quiet); do
        ctr_cli task kill --signal KILL "$id" >/dev/null 2>&1 || true
        wait_seconds 60 ctr_is "$id" STOPPED || true
        ctr_cli task rm --force "$id" >/dev/null 2>&1 || true
        ctr_cli container rm "$id" >/dev/null 2>&1 || true
    done
}

# ------------------------------------------------------------------ the daemon

containerd_config() {
    cat <<EOF
version = 2
root = "$FB_DIR/containerd/root"
state = "$FB_DIR/containerd/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "$FB_DIR/containerd.sock"
[ttrpc]
  address = "$FB_DIR/containerd.sock.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "$FB_DIR/containerd/opt"
EOF
}

containerd_snapshotter() {
    if overlay_works; then
        echo overlayfs
    else
        fb_note "no overlay mounts on $FB_DIR; containerd uses the native snapshotter"
        echo native
    fi
}

containerd_start() {
    [ -z "$FB_REFUSED" ] || return 0
    mkdir -p "$FB_DIR/fifo"
    containerd_config >"$FB_DIR/containerd.toml"
    TMPDIR=$FB_DIR/tmp containerd --config "$FB_DIR/containerd.toml" >"$FB_DIR/containerd.log" 2>&1 </dev/null 3>&- &
    export FB_CONTAINERD_PID=$!
    daemon_await containerd "$FB_CONTAINERD_PID" "$FB_DIR/containerd.log" ctr_cli version
    FB_SNAPSHOTTER=$(containerd_snapshotter)
    export FB_SNAPSHOTTER
    ctr_cli image import --snapshotter "$FB_SNAPSHOTTER" "$FB_DIR/image.tar" >/dev/null
}

containerd_stop() {
    [ -n "${FB_CONTAINERD_PID-}" ] || return 0
    containerd_remove_all
    daemon_stop "$FB_CONTAINERD_PID"
    FB_CONTAINERD_PID=
    fb_reap containerd-shim
    rmdir /sys/fs/cgroup/"${FB_DIR##*/}" /sys/fs/cgroup/*/"${FB_DIR##*/}" 2>/dev/null || true
}

# shellcheck shell=bash
# A node of Kubernetes without a kubelet: a containerd with its CRI plugin, called by CRI's gRPC, in a PID and a mount
# namespace whose init starts it again when it ends, as systemd does. Its /etc, /opt and /run are below $FB_DIR, its
# /var/lib is empty.
#
# flatbed is installed by deploy/kubernetes/flatbed-node, which runs in those namespaces. Programs of its image are in
# $FB_DIR/image/bin, its ConfigMap is $FB_DIR/configmap, its status $FB_DIR/status.
#
# shellcheck disable=SC2154  # status and output are set by bats' run

KUBERNETES=$BATS_TEST_DIRNAME/../../deploy/kubernetes

kubernetes_require() {
    require_tool containerd ctr containerd-shim-runc-v2 runc gojq curl nsenter
    require_flatbed
    /usr/bin/python3 -c 'import grpc, yaml, kubernetes' 2>/dev/null ||
        refuse "python3-grpcio, python3-yaml or python3-kubernetes is not installed"
}

# on_node COMMAND…: runs it on the node.
on_node() { nsenter --target "$FB_NODE_PID" --pid --mount -- "$@" 3>&-; }

# ------------------------------------------------------------------ pods

# cri METHOD [JSON]: prints the answer of containerd.
cri() {
    local answer
    answer=$(curl --silent --show-error --fail-with-body --unix-socket "$FB_DIR/cri.sock" --data "${2-{\}}" "http://cri/$1" 3>&-) ||
        { echo "$answer" >&2; return 1; }
    echo "$answer"
}

# cri_start: starts what answers cri.
cri_start() {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/lib/cri.py" "$FB_DIR/containerd.sock" "$FB_DIR/cri.sock" \
        >"$FB_DIR/cri.log" 2>&1 </dev/null 3>&- &
    export FB_CRI_PID=$!
    daemon_await cri.py "$FB_CRI_PID" "$FB_DIR/cri.log" test -S "$FB_DIR/cri.sock"
}

# pod_config NAME NAMESPACE ANNOTATIONS [PIDS]: network of the node, so that no plugins of CNI are needed. PIDS is 2 for
# hostPID.
pod_config() {
    gojq -cn --arg name "$1" --arg namespace "$2" --argjson annotations "$3" --argjson pids "${4-0}" --arg parent "/${FB_DIR##*/}" \
        '{metadata: {name: $name, uid: "uid-\($name)", namespace: $namespace}, annotations: $annotations,
          linux: {cgroup_parent: $parent, security_context: {namespace_options: {network: 2, pid: $pids}}}}'
}

# pod_run NAME NAMESPACE ANNOTATIONS [HANDLER [PIDS]]: starts the sandbox, and sets POD.
pod_run() {
    local answer
    pod_config "$1" "$2" "$3" "${5-0}" >"$FB_DIR/pod.$1"
    answer=$(cri RunPodSandbox \
        "$(gojq -c --arg handler "${4-flatbed}" '{config: ., runtime_handler: $handler}' "$FB_DIR/pod.$1")") || return 1
    POD=$(gojq -r .pod_sandbox_id <<<"$answer")
}

# container_create NAME POD-NAME [JSON]: creates a container in $POD that sleeps, and sets CONTAINER.
container_create() {
    local answer
    answer=$(cri CreateContainer "$(gojq -c --arg name "$1" --arg pod "$POD" --arg image "docker.io/library/$FB_IMAGE" \
        --argjson more "${3-{\}}" '{pod_sandbox_id: $pod, sandbox_config: ., config: ({metadata: {name: $name},
        image: {image: $image}, command: ["sleep", "600"],
        linux: {security_context: {namespace_options: {network: 2}}}} * $more)}' "$FB_DIR/pod.$2")") || return 1
    CONTAINER=$(gojq -r .container_id <<<"$answer")
}

container_start() { cri StartContainer "{\"container_id\":\"$CONTAINER\"}"; }

# pod_start NAME NAMESPACE ANNOTATIONS [JSON]: a pod with a container.
pod_start() {
    pod_run "$1" "$2" "$3"
    container_create main "$1" "${4-{\}}"
    container_start
}

# container_exec COMMAND…: prints its output in $CONTAINER, and returns its exit status.
container_exec() {
    local answer
    answer=$(cri ExecSync "$(gojq -cn --arg id "$CONTAINER" '{container_id: $id, cmd: $ARGS.positional, timeout: 60}' --args -- "$@")") ||
        { echo "$answer"; return 1; }
    gojq -j '.stdout + .stderr' <<<"$answer"
    return "$(gojq .exit_code <<<"$answer")"
}

# container_state: 0 created, 1 running, 2 exited, 3 unknown to containerd
container_state() { cri ContainerStatus "{\"container_id\":\"$CONTAINER\"}" | gojq -r .status.state; }

kubernetes_remove_all() {
    local id
    for id in $(cri ListPodSandbox | gojq -r '.items[].id'); do
        cri StopPodSandbox "{\"pod_sandbox_id\":\"$id\"}" >/dev/null 2>&1 || true
        cri RemovePodSandbox "{\"pod_sandbox_id\":\"$id\"}" >/dev/null 2>&1 || true
    done
}

manifests() { /usr/bin/python3 "$BATS_TEST_DIRNAME/lib/manifests.py" "$@"; }

# ------------------------------------------------------------------ flatbed-node

# node_image: what hack/image-node has in /bin.
node_image() {
    local applet
    mkdir -p "$FB_DIR"/{image/bin,configmap,status}
    cp "$KUBERNETES/flatbed-node" "$FLATBED" "$FLATBED_RUNTIME" "$(command -v busybox)" "$FB_DIR/image/bin/"
    for applet in $(sed -n 's/^applets="\(.*\)"/\1/p' "$KUBERNETES/../../hack/image-node"); do
        ln -sf busybox "$FB_DIR/image/bin/$applet"
    done
}

# node_start run|remove: starts flatbed-node; its messages go to $FB_DIR/node.log.
node_start() {
    rm -rf "$FB_DIR/status"
    mkdir "$FB_DIR/status"
    nsenter --target "$FB_NODE_PID" --pid --mount -- env -i ENGINE="${ENGINE-containerd}" CONFIGMAP="$FB_DIR/configmap" \
        STATUS="$FB_DIR/status" FEATURES="${FEATURES-}" INTERVAL=0.2 "$FB_DIR/image/bin/busybox" sh "$FB_DIR/image/bin/flatbed-node" "$1" \
        >>"$FB_DIR/node.log" 2>&1 </dev/null 3>&- &
    echo $! >"$FB_DIR/node.pid"
}

# Ends it: the child of nsenter. Its ID is in a file, as each test is a process.
node_stop() {
    local pid child
    pid=$(cat "$FB_DIR/node.pid" 2>/dev/null) || return 0
    for child in $(cat "/proc/$pid/task/$pid/children" 2>/dev/null); do
        daemon_stop "$child"
    done
    daemon_stop "$pid"
    rm "$FB_DIR/node.pid"
}

# Waits until the probe succeeds, and containerd answers.
node_await() {
    wait_for node_probe || { node_probe; tail -n 20 "$FB_DIR/node.log"; return 1; }
    wait_for cri Version
}

# node_probe [alive]: by default ready.
# shellcheck disable=SC2120
node_probe() { env -i STATUS="$FB_DIR/status" "$FB_DIR/image/bin/busybox" sh "$FB_DIR/image/bin/flatbed-node" "${1-ready}"; }

# node_tells TEXT: the readiness probe fails, and has the text.
node_tells() {
    local text
    ! text=$(node_probe) && [[ $text == *"$1"* ]]
}

# node_archive: $FB_DIR/node.tar, an image like that of hack/image-node, with the libraries that the programs here need.
node_archive() {
    local root=$FB_DIR/node-root image=$FB_DIR/node-image digest lib path
    mkdir -p "$root"/{etc/{containerd,flatbed},opt/flatbed,policy,proc,run/flatbed,status} "$image"
    cp -a "$FB_DIR/image/bin" "$root/bin"
    for path in $(sed -n 's/^by_path="\([^"]*\)".*/\1/p' "$KUBERNETES/../../hack/image-node"); do
        mkdir -p "$root/${path%/*}"
        ln -s /bin/busybox "$root/$path"
    done
    for lib in $(ldd "$FLATBED" "$FLATBED_RUNTIME" | grep -oE '/[^ ]+[.]so[^ ]*' | sort -u); do
        mkdir -p "$root${lib%/*}"
        cp -L "$lib" "$root$lib"
    done
    tar -C "$root" -cf "$image/layer.tar" .
    digest=$(sha256sum <"$image/layer.tar")
    image_config "${digest%% *}" >"$image/config.json"
    echo '[{"Config":"config.json","RepoTags":["flatbed-node:1"],"Layers":["layer.tar"]}]' >"$image/manifest.json"
    tar -C "$image" -cf "$FB_DIR/node.tar" manifest.json config.json layer.tar
}

# image_import FILE
image_import() {
    on_node ctr --address "$FB_DIR/containerd.sock" --namespace k8s.io image import --no-unpack "$1" >/dev/null
}

# configmap [KEY FILE]…: replaces it as the kubelet does, by a link to a new directory.
configmap() {
    local new
    new=$(mktemp -d "$FB_DIR/configmap/..XXXXXX")
    while [ $# -gt 0 ]; do
        cp "$2" "$new/$1"
        shift 2
    done
    chmod 0755 "$new"
    ln -s "${new##*/}" "$FB_DIR/configmap/..new"
    mv -T "$FB_DIR/configmap/..new" "$FB_DIR/configmap/..data"
}

# ------------------------------------------------------------------ the node

containerd_config() {
    cat <<EOF
version = 2
root = "$FB_DIR/containerd/root"
state = "$FB_DIR/containerd/state"
[grpc]
  address = "$FB_DIR/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$FB_DIR/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/library/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "$1"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
EOF
}

# node_hold: starts its init.
node_hold() {
    mkdir -p "$FB_DIR"/{opt,run}
    cp -a /etc "$FB_DIR/etc"
    echo "vision:x:1234:1234::/:/bin/sh" >>"$FB_DIR/etc/passwd"
    rm -rf "$FB_DIR"/etc/{containerd,flatbed,crio}
    mkdir -p "$FB_DIR/etc/containerd"
    containerd_config "$(overlay_works && echo overlayfs || echo native)" >"$FB_DIR/etc/containerd/config.toml"
    # shellcheck disable=SC2016
    unshare --pid --fork --kill-child --mount --propagation private --mount-proc sh -c '
        for dir in etc opt run; do mount --bind "$1/$dir" "/$dir"; done
        mount -t tmpfs none /var/lib
        while :; do
            TMPDIR=$1/tmp containerd --config /etc/containerd/config.toml >>"$1/containerd.log" 2>&1
            sleep 0.2
        done' sh "$FB_DIR" >"$FB_DIR/node-init.log" 2>&1 </dev/null 3>&- &
    export FB_UNSHARE_PID=$!
    wait_for node_find
    export FB_NODE_PID
}

# node_find: sets FB_NODE_PID to the child of unshare.
node_find() {
    FB_NODE_PID=$(cat "/proc/$FB_UNSHARE_PID/task/$FB_UNSHARE_PID/children")
    FB_NODE_PID=${FB_NODE_PID%% *}
    [ -n "$FB_NODE_PID" ]
}

# engine_process: what flatbed-node takes for containerd. It differs after a restart.
engine_process() { on_node pgrep -x -P 1 containerd; }

# pause_archive: the same image with a command that waits.
pause_archive() {
    mkdir "$FB_DIR/pause"
    tar -C "$FB_DIR/pause" -xf "$FB_DIR/image.tar"
    gojq -c '.config.Cmd = ["/bin/sleep", "1000000000"]' "$FB_DIR/pause/config.json" >"$FB_DIR/pause/new"
    mv "$FB_DIR/pause/new" "$FB_DIR/pause/config.json"
    gojq -c '.[0].RepoTags = ["pause:1"]' "$FB_DIR/pause/manifest.json" >"$FB_DIR/pause/new"
    mv "$FB_DIR/pause/new" "$FB_DIR/pause/manifest.json"
    tar -C "$FB_DIR/pause" -cf "$FB_DIR/pause.tar" manifest.json config.json layer.tar
}

kubernetes_start() {
    [ -z "$FB_REFUSED" ] || return 0
    node_image
    node_hold
    cri_start
    daemon_await containerd "$FB_UNSHARE_PID" "$FB_DIR/containerd.log" cri Version
    pause_archive
    image_import "$FB_DIR/image.tar"
    image_import "$FB_DIR/pause.tar"
}

kubernetes_stop() {
    [ -n "${FB_UNSHARE_PID-}" ] || return 0
    kubernetes_remove_all
    daemon_stop "${FB_CRI_PID-}"
    node_stop
    kill -KILL "${FB_NODE_PID-}" 2>/dev/null || true # all processes of the node end with its init
    wait_seconds 20 pid_gone "$FB_UNSHARE_PID" || true
    find /sys/fs/cgroup -depth -type d -path "*/${FB_DIR##*/}*" -exec rmdir {} + 2>/dev/null || true
}

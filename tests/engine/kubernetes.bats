#!/usr/bin/env bats
# Pods on a node that deploy/kubernetes set up: containerd's CRI plugin, called as the kubelet calls it.

bats_require_minimum_version 1.5.0

load lib/frame
frame kubernetes

# The example of docs/kubernetes.md, with directories of the test, and rules for hostPath.
kubernetes_policy() {
    cat <<EOF
{
  "version": 1,
  "identity": ["annotation:io.kubernetes.cri.sandbox-namespace", "process"],
  "volumes": {
    "data": { "source": "$FB_SRV/data/{namespace}/{name}", "target": "/data/{name}", "access": "ro" },
    "home": { "source": "$FB_SRV/home/{user}", "target": "/workspace", "access": "rw", "create": { "owner": "identity" } }
  },
  "binds": { "default": "deny" }
}
EOF
}

file_ready() {
    kubernetes_policy >"$FB_DIR/good.json"
    echo '{ "version": 1, "volume": {} }' >"$FB_DIR/bad.json"
    cp "$FB_DIR/etc/containerd/config.toml" "$FB_DIR/config.before"
    configmap policy.json "$FB_DIR/good.json"
    node_start run
    node_await
}

test_begin() {
    mkdir -p "$FB_SRV"/data/{vision,speech}/imagenet "$FB_SRV"/data/vision/secret
    echo "of vision" >"$FB_SRV/data/vision/imagenet/hello"
    echo "of speech" >"$FB_SRV/data/speech/imagenet/hello"
}

# mounts_of ID: the mount points of a container's process.
mounts_of() {
    local pid
    pid=$(on_node ctr --address "$FB_DIR/containerd.sock" --namespace k8s.io task ls | awk -v id="$1" '$1 == id { print $2 }')
    on_node awk '{ print $5 }' "/proc/$pid/mountinfo"
}

# pid_is_not PID: containerd is another process.
pid_is_not() {
    local now
    now=$(engine_process) && [ "$now" != "$1" ]
}

policy_in_effect() { cmp -s "$1" "$FB_DIR/etc/flatbed/policy.d/kubernetes-policy.json"; }

# ------------------------------------------------------------------ pods

@test "an annotation of a pod mounts a dataset in its containers, and not in its sandbox" {
    pod_start train vision '{"flatbed.data":"imagenet"}'
    run container_exec cat /data/imagenet/hello
    expect_status 0
    expect_output "of vision"
    run container_exec touch /data/imagenet/new
    expect_failure
    expect_match 'Read-only'
    mounts_of "$CONTAINER" | grep -qx /data/imagenet
    run mounts_of "$POD"
    expect_match '(^|[[:space:]])/proc'
    expect_no_match /data
}

@test "without an annotation, and with another handler, there is no dataset" {
    pod_start plain vision '{}'
    run container_exec ls /data
    expect_failure
    pod_run other vision '{"flatbed.data":"imagenet"}' runc
    container_create main other
    container_start
    run container_exec ls /data
    expect_failure
}

@test "datasets are those of the pod's namespace, whatever the pod says" {
    pod_start train speech '{"flatbed.data":"imagenet","io.kubernetes.cri.sandbox-namespace":"vision"}'
    run container_exec cat /data/imagenet/hello
    expect_output "of speech"
}

@test "a namespace with the name of a user has the directory of that user, whoever the container's user is" {
    pod_start train vision '{"flatbed.home":"true"}'
    run container_exec sh -c 'id -u; stat -c %u /workspace; echo model >/workspace/model'
    expect_status 0
    expect_output $'0\n1234'
    expect_equal "$(cat "$FB_SRV/home/vision/model")" model
    pod_run nobody speech '{"flatbed.home":"true"}'
    container_create main nobody
    run container_start
    expect_failure
    expect_match "no user 'speech'"
}

@test "exec: output and status, also of several containers of a pod" {
    pod_start train vision '{"flatbed.data":"imagenet"}'
    run container_exec sh -c 'cat /data/imagenet/hello; exit 7'
    expect_status 7
    expect_output "of vision"
    container_create second train
    container_start
    run container_exec cat /data/imagenet/hello
    expect_status 0
    expect_output "of vision"
}

@test "a refused container's event says why, and the pod can be removed" {
    pod_run train vision '{"flatbed.data":"no-such-set"}'
    container_create main train
    run container_start
    expect_failure
    expect_match 'failed to create containerd task.*OCI runtime create failed.*no-such-set'
    cri StopPodSandbox "{\"pod_sandbox_id\":\"$POD\"}"
    cri RemovePodSandbox "{\"pod_sandbox_id\":\"$POD\"}"
    expect_equal "$(cri ListPodSandbox | gojq '.items | length')" 0
}

@test "a hostPath is judged, and the kubelet's own mounts are allowed" {
    on_node sh -c 'mkdir -p "/var/lib/kubelet/pods/uid-train/volumes/kubernetes.io~empty-dir/x"
        echo "10.0.0.1 train" >/var/lib/kubelet/pods/uid-train/etc-hosts'
    pod_start train vision '{}' '{"mounts":[
        {"container_path":"/etc/hosts","host_path":"/var/lib/kubelet/pods/uid-train/etc-hosts"},
        {"container_path":"/scratch","host_path":"/var/lib/kubelet/pods/uid-train/volumes/kubernetes.io~empty-dir/x"}]}'
    run container_exec sh -c 'touch /scratch/f && cat /etc/hosts'
    expect_status 0
    expect_output "10.0.0.1 train"
    container_create other train "{\"mounts\":[{\"container_path\":\"/host\",\"host_path\":\"$(guard_secret)\"}]}"
    run container_start
    expect_failure
    expect_match "/secret is not allowed"
    # Root of a pod could exchange its volumes there, which the kubelet uses as root of the node.
    container_create above train '{"mounts":[{"container_path":"/pod","host_path":"/var/lib/kubelet/pods/uid-train/volumes"}]}'
    run container_start
    expect_failure
    expect_match "uid-train/volumes is not allowed"
}

@test "a restart of containerd leaves pods running, and they can be used and removed" {
    local before
    pod_start train vision '{"flatbed.data":"imagenet"}'
    before=$(engine_process)
    on_node kill -TERM "$before"
    wait_for pid_is_not "$before"
    wait_for cri Version
    expect_equal "$(container_state)" 1
    run container_exec cat /data/imagenet/hello
    expect_output "of vision"
    cri StopContainer "{\"container_id\":\"$CONTAINER\",\"timeout\":0}"
    expect_equal "$(container_state)" 2
    cri RemoveContainer "{\"container_id\":\"$CONTAINER\"}"
    pod_start next vision '{"flatbed.data":"imagenet"}'
    run container_exec cat /data/imagenet/hello
    expect_output "of vision"
}

# ------------------------------------------------------------------ flatbed-node

@test "a changed ConfigMap is the policy of the next container" {
    sed "s|/data/{name}\"|/sets/{name}\"|" "$FB_DIR/good.json" >"$FB_DIR/changed.json"
    configmap policy.json "$FB_DIR/changed.json"
    wait_for policy_in_effect "$FB_DIR/changed.json"
    pod_start train vision '{"flatbed.data":"imagenet"}'
    run container_exec cat /sets/imagenet/hello
    expect_output "of vision"
    configmap policy.json "$FB_DIR/good.json"
    wait_for policy_in_effect "$FB_DIR/good.json"
}

@test "a bad policy never replaces a good one, and the probe says the place of the error" {
    configmap policy.json "$FB_DIR/bad.json"
    wait_for node_tells 'kubernetes-policy.json:1:'
    policy_in_effect "$FB_DIR/good.json"
    pod_start train vision '{"flatbed.data":"imagenet"}'
    configmap
    wait_for node_tells 'no file *.json'
    policy_in_effect "$FB_DIR/good.json"
    configmap policy.json "$FB_DIR/good.json"
    node_await
}

@test "several files: one that fits no other is refused, all are replaced, and one that is gone is removed" {
    local dir=$FB_DIR/etc/flatbed/policy.d
    echo '{ "version": 1, "binds": { "default": "allow" } }' >"$FB_DIR/open.json"
    configmap 10-lab.json "$FB_DIR/good.json" 20-binds.json "$FB_DIR/open.json"
    wait_for cmp "$FB_DIR/open.json" "$dir/kubernetes-20-binds.json"
    node_await
    expect_equal "$(cd "$dir" && echo *)" 'kubernetes-10-lab.json kubernetes-20-binds.json'
    configmap 10-lab.json "$FB_DIR/good.json" 20-binds.json "$FB_DIR/bad.json"
    wait_for node_tells 'kubernetes-20-binds.json:1:'
    cmp "$FB_DIR/open.json" "$dir/kubernetes-20-binds.json"
    configmap policy.json "$FB_DIR/good.json"
    node_await
    expect_equal "$(cd "$dir" && echo *)" kubernetes-policy.json
}

@test "files of the node count in the check, and stay" {
    local dir=$FB_DIR/etc/flatbed/policy.d
    echo '{ "version": 1, "volumes": { "data": { "nonsense": 1 } } }' >"$dir/90-node.json"
    sed 's|"ro"|"rw"|' "$FB_DIR/good.json" >"$FB_DIR/changed.json"
    configmap policy.json "$FB_DIR/changed.json"
    wait_for node_tells '90-node.json:1:'
    policy_in_effect "$FB_DIR/good.json"
    rm "$dir/90-node.json"
    wait_for policy_in_effect "$FB_DIR/changed.json"
    configmap policy.json "$FB_DIR/good.json"
    node_await
}

@test "an interrupted replacement lets no container start, and is finished" {
    local dir=$FB_DIR/etc/flatbed/policy.d
    node_stop
    echo '{ "version": 1, "the policy is being replaced": true }' >"$dir/kubernetes-~.json"
    pod_run train vision '{}' runc
    run pod_run train2 vision '{}'
    expect_failure
    expect_match 'being replaced'
    node_start run
    node_await
    [ ! -e "$dir/kubernetes-~.json" ]
    pod_start train3 vision '{"flatbed.data":"imagenet"}'
}

@test "an upgrade replaces the programs, and neither restarts containerd nor disturbs pods" {
    local before
    pod_start train vision '{"flatbed.data":"imagenet"}'
    before=$(engine_process)
    node_stop
    echo upgraded >>"$FB_DIR/image/bin/flatbed-runtime"
    node_start run
    node_await
    cmp "$FB_DIR/image/bin/flatbed-runtime" "$FB_DIR/opt/flatbed/bin/flatbed-runtime"
    expect_equal "$(engine_process)" "$before"
    run container_exec cat /data/imagenet/hello
    expect_output "of vision"
    pod_start next vision '{}'
}

@test "a handler that another program takes out is told, and comes back with a new pod" {
    local config=$FB_DIR/etc/containerd/config.toml
    cp "$config" "$FB_DIR/config.with"
    cp "$FB_DIR/config.before" "$config"
    wait_for node_tells 'took the handler out'
    node_stop
    node_start run
    node_await
    cmp "$FB_DIR/config.with" "$config"
    pod_start train vision '{}'
}

@test "an entry that another program wrote again, without marks, is left as it is" {
    local config=$FB_DIR/etc/containerd/config.toml before
    cp "$config" "$FB_DIR/config.with"
    node_stop
    before=$(engine_process)
    sed -i '/^# [<>]/d' "$config"
    cp "$config" "$FB_DIR/config.unmarked"
    node_start run
    node_await
    cmp "$FB_DIR/config.unmarked" "$config"
    expect_equal "$(engine_process)" "$before"
    cp "$FB_DIR/config.with" "$config"
}

@test "the probes need a running flatbed-node" {
    node_probe alive
    node_stop
    rm -r "$FB_DIR/status"
    run node_probe alive
    expect_failure
    run node_probe ready
    expect_failure
    node_start run
    node_await
}

@test "Node Feature Discovery is told of a node that is ready, and not of one that is not" {
    local features=$FB_DIR/features
    mkdir "$features"
    node_stop
    FEATURES=$features node_start run
    node_await
    wait_for test -e "$features/flatbed"
    expect_equal "$(cat "$features/flatbed")" flatbed-ready=true
    configmap policy.json "$FB_DIR/bad.json"
    wait_for test ! -e "$features/flatbed"
    configmap policy.json "$FB_DIR/good.json"
    wait_for test -e "$features/flatbed"
    node_stop
    FEATURES=$features node_start remove
    node_await
    [ ! -e "$features/flatbed" ]
    node_stop
    node_start run
    node_await
}

@test "removal: no new pod, programs until the last container has ended, then the node is as before" {
    pod_start train vision '{"flatbed.data":"imagenet"}'
    node_stop
    node_start remove
    wait_for node_tells 'containers run with flatbed-runtime'
    cmp "$FB_DIR/config.before" "$FB_DIR/etc/containerd/config.toml"
    wait_for cri Version
    run container_exec cat /data/imagenet/hello
    expect_output "of vision"
    run pod_run next vision '{}'
    expect_failure
    expect_match 'no runtime for "flatbed" is configured'
    kubernetes_remove_all
    node_await
    expect_equal "$(find "$FB_DIR/opt/flatbed" "$FB_DIR/etc/flatbed" | sort | tr '\n' ' ')" \
        "$FB_DIR/etc/flatbed $FB_DIR/opt/flatbed "
    node_stop
    node_start run
    node_await
}

# node_container POD CONFIG: a container of flatbed-node in $POD. It is told to end containerd, which may do so before it
# has answered.
node_container() {
    NODE_CONTAINER=(node "$@")
    container_create "${NODE_CONTAINER[@]}"
    run container_start
}

# As the kubelet does it: a start that containerd's end cut short is tried again, in a new container if this one ended or
# its state is not known any more.
node_ready() {
    container_exec /bin/flatbed-node ready && return
    [[ $(container_state) == [01] ]] || {
        cri StopContainer "{\"container_id\":\"$CONTAINER\"}"
        cri RemoveContainer "{\"container_id\":\"$CONTAINER\"}" && container_create "${NODE_CONTAINER[@]}"
    }
    container_start
    false
}

@test "the pod of the DaemonSet installs, tells a bad policy, and removes, with no more rights than it has" {
    node_stop
    node_start remove
    node_await
    node_stop
    node_archive
    image_import "$FB_DIR/node.tar"
    [ ! -e "$FB_DIR/opt/flatbed/bin" ]
    rm -rf "$FB_DIR/status"
    mkdir "$FB_DIR/status"
    pod_run install flatbed '{}' runc 2
    node_container install "$(manifests pod "$KUBERNETES/base" flatbed-install docker.io/library/flatbed-node:1 \
        configmap="$FB_DIR/configmap" status="$FB_DIR/status")"
    wait_for node_ready || { container_exec /bin/flatbed-node ready; container_state; false; }
    container_exec /bin/flatbed-node alive
    run container_exec /bin/sh -c 'grep ^Cap /proc/self/status; grep Seccomp: /proc/self/status; echo >/bin/x'
    expect_match 'CapEff:[[:space:]]0000000000000000'
    expect_match 'Seccomp:[[:space:]]2'
    expect_match 'Read-only'
    configmap policy.json "$FB_DIR/bad.json"
    wait_for node_tells 'kubernetes-policy.json:1:'
    run container_exec /bin/flatbed-node ready
    expect_status 1
    expect_match 'kubernetes-policy.json:1:'
    configmap policy.json "$FB_DIR/good.json"
    wait_for container_exec /bin/flatbed-node ready
    pod_start train vision '{"flatbed.data":"imagenet"}'
    run container_exec cat /data/imagenet/hello
    expect_output "of vision"
    kubernetes_remove_all
    rm -rf "$FB_DIR/status"
    mkdir "$FB_DIR/status"
    pod_run remove flatbed '{}' runc 2
    node_container remove "$(manifests pod "$KUBERNETES/base" flatbed-remove docker.io/library/flatbed-node:1 \
        status="$FB_DIR/status")"
    wait_for node_ready
    [ ! -e "$FB_DIR/opt/flatbed/bin" ]
    cmp "$FB_DIR/config.before" "$FB_DIR/etc/containerd/config.toml"
    rm -rf "$FB_DIR/status"
    kubernetes_remove_all
    node_start run
    node_await
}

@test "CRI-O gets a drop-in, and its restart is asked for and noticed" {
    local drop_in=$FB_DIR/etc/crio/crio.conf.d/50-flatbed.conf first
    cp "$(command -v sleep)" "$FB_DIR/bin/crio"
    crio() { on_node sh -c "'$FB_DIR/bin/crio' 600 >/dev/null 2>&1 </dev/null &"; }
    crio
    first=$(on_node pgrep -x -P 1 crio)
    node_stop
    ENGINE=crio node_start run
    wait_for node_tells 'systemctl restart crio'
    run /usr/bin/python3 -c 'import sys, tomllib; print(tomllib.load(open(sys.argv[1], "rb"))["crio"]["runtime"]["runtimes"]["flatbed"])' "$drop_in"
    expect_output "{'runtime_path': '/opt/flatbed/bin/flatbed-runtime', 'runtime_type': 'oci', 'runtime_root': '/run/runc'}"
    on_node kill "$first"
    crio
    node_await
    node_stop
    ENGINE=crio node_start remove
    wait_for node_tells 'systemctl restart crio'
    [ ! -e "$drop_in" ]
    on_node kill "$(on_node pgrep -x -P 1 crio)"
    crio
    node_await
    on_node kill "$(on_node pgrep -x -P 1 crio)"
    node_stop
    node_start run
    node_await
}

# ------------------------------------------------------------------ manifests

@test "the manifests are what the API takes" {
    run manifests check "$KUBERNETES/base"
    expect_status 0
    run manifests check "$KUBERNETES/cri-o"
    expect_status 0
    run manifests check "$KUBERNETES/ready-label"
    expect_status 0
    # the check itself finds a wrong key, a wrong type, and a missing field
    cp -r "$KUBERNETES/base" "$FB_DIR/base"
    sed -i 's/hostPID: true/hostPid: true/; s/runAsUser: 0/runAsUser: root/; s/          image: flatbed-node//; s/^handler:.*//' \
        "$FB_DIR"/base/{install,runtimeclass}.yaml
    run manifests check "$FB_DIR/base"
    rm -r "$FB_DIR/base"
    expect_failure
    expect_match 'V1PodSpec has no hostPid'
    expect_match 'runAsUser: not a int'
    expect_match 'handler.*must not be .None'
}

@test "the policy of the base has no errors" {
    run "$FLATBED" check --draft "$KUBERNETES/base/policy.json"
    expect_status 0
}

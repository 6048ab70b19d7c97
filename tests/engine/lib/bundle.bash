# shellcheck shell=bash
# Bare bundles for the low-level runtimes, without any engine.
# Containers are named after the test so that a crashed run never blocks the next one.

bundle_require() { require_tool runc crun gojq; }

bundle_start() { namespace_start; }

bundle_stop() { :; }

# bundle_make NAME [ANNOTATIONS_JSON [SCRIPT]]: makes $FB_DIR/bundles/NAME with config.json; prints its path.
bundle_make() {
    local dir=$FB_DIR/bundles/$1
    mkdir -p "$dir/rootfs"
    tar -C "$FB_DIR/rootfs" -c . | tar -C "$dir/rootfs" -x
    rm -f "$dir/config.json"
    runc spec --bundle "$dir"
    # shellcheck disable=SC2016  # gojq's variables
    bundle_edit "$dir" --argjson a "${2-null}" --arg s "${3-true}" \
        '.process.terminal = false | .process.args = ["/bin/sh", "-c", $s] | .root.readonly = false
         | .process.env = ["PATH=/bin"] | if $a then .annotations = $a else . end'
    echo "$dir"
}

# bundle_edit DIR JQ-ARGS…: edits the bundle's config.json.
bundle_edit() {
    local dir=$1
    shift
    gojq "$@" "$dir/config.json" >"$dir/config.new"
    mv "$dir/config.new" "$dir/config.json"
}

# A filter that lets nobody make user namespaces, as those of Docker and Kubernetes.
# shellcheck disable=SC2034  # for tests
BUNDLE_FILTER='{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
    {"names": ["unshare", "setns"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1},
    {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38},
    {"names": ["clone"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1,
     "args": [{"index": 0, "value": 268435456, "valueTwo": 268435456, "op": "SCMP_CMP_MASKED_EQ"}]}]}'

# shim ARGS…: runs flatbed-runtime with the policy of the test, and private state.
shim() { within "$FLATBED_RUNTIME" "--flatbed-policy=$FB_POLICY" --root "$FB_DIR/state" "$@"; }

# shim_create LOG ARGS…: runs "create" with LOG as output, which the container keeps.
shim_create() {
    local log=$1
    shift
    shim create "$@" >"$log" 2>&1 </dev/null 3>&-
}

shim_is() { [ "$(shim state "$1" | gojq -r .status)" = "$2" ]; }

# Removes the containers that a failed test left, by the low-level runtime itself.
bundle_remove_all() {
    local dir low
    for dir in "$FB_DIR"/state/*/; do
        [ -d "$dir" ] || continue
        for low in runc crun; do
            within "$low" --root "$FB_DIR/state" delete --force "$(basename "$dir")" >/dev/null 2>&1 || true
        done
    done
    rm -rf "$FB_DIR/state" "$FB_DIR/bundles"
}

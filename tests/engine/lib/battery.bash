# shellcheck shell=bash
# The tables of battery/ with the engines of frame.bash: what the variants need, and the runner.
#
# The variables of the tables:
#   $HOMES         the homes of the policy's rule; 1001 has file, work, inside (a link to work) and etc (a link to /etc)
#   $SRV           the directory of volumes
#   $DISK $FUSE    nodes of a disk and of /dev/fuse in $DEVICES
#   $FILTER…       filters: one that forbids a few calls, and some that forbid too little
#   $OTHER $THEIRS the ID of another user's container, and the engine's directory of it
#   $HOSTILE       an image: its user is root by another name, it asks for GPUs and for other rules

# Prints what a container has, one fact a line.
# shellcheck disable=SC2016  # for the container's shell
export PROBE='echo battery-ran; id; echo "PWD=$PWD" "HOSTNAME=$(cat /etc/hostname)"
while read -r key value; do case $key in Cap*|NoNew*|Seccomp:) echo "$key $value" ;; esac; done </proc/self/status
while read -r from to type options rest; do echo "$to $type $options"; echo "$from $to"; done </proc/mounts
cat /proc/self/cgroup; env; ulimit -a'

# battery_policy: README's policy with other paths for its volumes, homes and logs.
battery_policy() {
    python3 "$BATS_TEST_DIRNAME/../cli/shim/lib/readme_policy.py" "$BATS_TEST_DIRNAME/../../README.md" |
        sed -E -e "s#\"/(srv|home)/#\"$FB_SRV/\1/#g" -e "s#\"/var/l(og|ib)/#\"$FB_DIR/l\1/#g" | policy_write
}

# battery_filter NAME DEFAULT CALL…: a filter with another verdict for these calls.
battery_filter() {
    local name=$1 default=$2 other=$3
    shift 3
    printf '%s\n' "$@" | gojq -R . | gojq -s --arg default "$default" --arg other "$other" \
        '{defaultAction: $default, syscalls: [{names: ., action: $other}]}' >"$FB_DIR/$name.json"
}

battery_filters() {
    local -a bad=(userfaultfd perf_event_open open_by_handle_at kexec_load kexec_file_load init_module finit_module delete_module)
    battery_filter filter SCMP_ACT_ALLOW SCMP_ACT_ERRNO bpf "${bad[@]}"
    battery_filter filter-all SCMP_ACT_ERRNO SCMP_ACT_ALLOW bpf "${bad[@]}" read
    battery_filter filter-bpf SCMP_ACT_ALLOW SCMP_ACT_ERRNO "${bad[@]}"
    battery_filter filter-trace SCMP_ACT_ALLOW SCMP_ACT_TRACE bpf "${bad[@]}"
    export FILTER=$FB_DIR/filter.json FILTER_ALL=$FB_DIR/filter-all.json FILTER_BPF=$FB_DIR/filter-bpf.json \
        FILTER_TRACE=$FB_DIR/filter-trace.json
}

# battery_files: homes, data, nodes and filters.
battery_files() {
    export SRV=$FB_SRV HOMES=$FB_SRV/home DEVICES=$FB_DIR/devices ENV_FILE=$FB_DIR/env-file
    mkdir -p "$SRV"/srv/{data/{imagenet,secret},logs,cache} "$HOMES"/{1001,1002}/work "$DEVICES" "$FB_DIR/log" \
        "$FB_DIR/lib/prometheus/node-exporter"
    echo mine >"$HOMES/1001/file"
    echo FROM_FILE=1 >"$ENV_FILE"
    ln -sfn work "$HOMES/1001/inside"
    ln -sfn /etc "$HOMES/1001/etc"
    chown -hR 1001:1001 "$HOMES/1001"
    chown -hR 1002:1002 "$HOMES/1002"
    chmod 0700 "$HOMES/1002"
    [ -e "$DEVICES/disk" ] || mknod "$DEVICES/disk" b 7 0
    [ -e "$DEVICES/fuse" ] || mknod "$DEVICES/fuse" c 10 229
    export DISK=$DEVICES/disk FUSE=$DEVICES/fuse
    battery_filters
}

# battery_run TABLE VERSION FUNCTION ARGS…: runs the table by that function of the shell. On two processors, more than
# four variants at a time save nothing.
battery_run() {
    local table=$1 version=$2
    shift 2
    # shellcheck disable=SC2016  # for that shell
    nice -n "${BATTERY_NICE:-0}" python3 "$BATS_TEST_DIRNAME/lib/battery.py" "$BATS_TEST_DIRNAME/battery/$table.txt" "$version" \
        "${BATTERY_PARALLEL:-4}" bash -c '"$@"' bash "$@"
}

# battery_mounts PID…: prints the mounts of these processes' namespaces below $FB_DIR and flatbed's own. dockerd keeps
# one of the host's network once a container has used that.
battery_mounts() {
    local pid
    for pid; do
        awk -v dir="$FB_DIR" '$5 ~ "/netns/default$" { next } index($5, dir) == 1 || index($5, "/run/flatbed") == 1 { print $5 }' "/proc/$pid/mountinfo"
    done | sort
}

# battery_bundle_base: makes $FB_DIR/base.json, the config.json that the variants of bundles change.
battery_bundle_base() {
    mkdir -p "$FB_DIR/base"
    rm -f "$FB_DIR/base/config.json"
    runc spec --bundle "$FB_DIR/base"
    gojq --arg probe "$PROBE" --slurpfile filter "$FILTER" '
        .process.terminal = false | .process.args = ["/bin/sh", "-c", $probe] | .process.env = ["PATH=/bin"]
        | .process.user = {uid: 1001, gid: 1001} | .process.noNewPrivileges = true | .process.rlimits = []
        | .process.capabilities |= map_values([]) | .root = {path: "rootfs", readonly: false}
        | .linux.seccomp = $filter[0]' "$FB_DIR/base/config.json" >"$FB_DIR/base.json"
}

# battery_bundle LOW ID-FILE FILTER: changes it by the filter, and runs it in a bundle with a root of its own: a root
# elsewhere is judged like a mount. The ID is that of this process.
battery_bundle() {
    local id=battery-$1-$BASHPID dir status=0
    dir=$FB_DIR/bundles/$id
    mkdir -p "$dir"
    cp -al "$FB_DIR/rootfs" "$dir/rootfs"
    echo "$id" >"$2"
    gojq --arg home "$HOMES/1001" "$3" "$FB_DIR/base.json" >"$dir/config.json" || return 70
    within "$FLATBED_RUNTIME" "--flatbed-policy=$FB_DIR/policy-$1.json" --root "$FB_DIR/state" run --bundle "$dir" "$id" || status=$?
    rm -r "$dir"
    return "$status"
}

battery_require() { require_tool python3 gojq; }
battery_start() { :; }
battery_stop() { :; }
battery_remove_all() { :; }

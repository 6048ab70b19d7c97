# shellcheck shell=bash
# podman as root with its own storage, state and configuration. No daemon: conmon lives per container.

# podman 5 warns at every command that cgroup v1 is deprecated; tests compare its output.
export PODMAN_IGNORE_CGROUPSV1_WARNING=1

# The wrapper that podman starts containers with, unless a test chooses another one.
export FB_PODMAN_RUNTIME="${FB_PODMAN_RUNTIME:-flatbed-runtime}"

podman_require() { require_tool podman conmon; }

# podman_cli ARGS…: $FB_PODMAN_RUNTIME names one of the wrappers (flatbed-runtime, crun, runc).
# PODMAN_IN is a command to run podman in.
podman_cli() {
    within "${PODMAN_IN[@]}" env CONTAINERS_CONF="$FB_DIR/containers.conf" CONTAINERS_STORAGE_CONF="$FB_DIR/storage.conf" \
        TMPDIR="$FB_DIR/tmp" podman --runtime "$FB_PODMAN_RUNTIME" "$@" 3>&-
}

podman_run() { podman_cli run --network=none "$@"; }

podman_start_container() {
    podman_run --detach --name "$1" "$FB_IMAGE" sh -c "$2" >/dev/null
    wait_for podman_is "$1" running
}

podman_is() { [ "$(podman_cli inspect --format '{{.State.Status}}' "$1")" = "$2" ]; }

podman_logs_have() { podman_cli logs "$1" 2>&1 | grep -q -- "$2"; }

podman_remove_all() { podman_cli rm --all --force -t 0 >/dev/null 2>&1 || true; }

# ------------------------------------------------------------------ its configuration

# podman requests more files and processes than root may have without CAP_SYS_RESOURCE, and starts
# the runtime with no more processes than kernel.pid_max, even where its own limit is higher.
podman_ulimits() {
    local files procs pids
    has_cap 24 && return 0
    files=$(ulimit -Hn)
    procs=$(ulimit -Hu)
    pids=$(</proc/sys/kernel/pid_max)
    if [ "$procs" = unlimited ] || [ "$procs" -gt "$pids" ]; then procs=$pids; fi
    [ "$files" != unlimited ] || files=1048576
    echo "default_ulimits = [\"nofile=$files:$files\", \"nproc=$procs:$procs\"]"
}

podman_containers_conf() {
    cat <<EOF
[containers]
netns = "none"
log_driver = "k8s-file"
$(podman_ulimits)
[engine]
cdi_spec_dirs = ["/etc/cdi", "/run/cdi"] # podman 5 reads the first alone
cgroup_manager = "cgroupfs"
events_logger = "none"
lock_type = "file"
tmp_dir = "$FB_DIR/podman/tmp"
volume_path = "$FB_DIR/podman/volumes"
[engine.runtimes]
flatbed-runtime = ["$FB_DIR/bin/flatbed-runtime"]
crun = ["$FB_DIR/bin/crun"]
runc = ["$FB_DIR/bin/runc"]
EOF
}

podman_storage_conf() {
    cat <<EOF
[storage]
driver = "$1"
graphroot = "$FB_DIR/podman/root"
runroot = "$FB_DIR/podman/run"
EOF
}

podman_driver() {
    if overlay_works; then
        echo overlay
    else
        fb_note "no overlay mounts on $FB_DIR; podman uses vfs"
        echo vfs
    fi
}

podman_start() {
    [ -z "$FB_REFUSED" ] || return 0
    mkdir -p "$FB_DIR/podman"
    podman_containers_conf >"$FB_DIR/containers.conf"
    podman_storage_conf "$(podman_driver)" >"$FB_DIR/storage.conf"
    wrapper crun
    wrapper runc
    namespace_start
    FB_PODMAN_RUNTIME=flatbed-runtime podman_cli load --quiet --input "$FB_DIR/image.tar" >/dev/null
}

podman_stop() {
    if [ -n "${FB_DIR-}" ] && [ -e "$FB_DIR/containers.conf" ]; then
        FB_PODMAN_RUNTIME=flatbed-runtime podman_remove_all
        fb_reap conmon
    fi
    namespace_stop
}

# shellcheck shell=bash
# podman (and buildah) as an ordinary user who exists only in a mount namespace, whose /etc is a
# copy with that user and the ranges of ids for newuidmap(1).

load lib/podman

FB_USER=fbworker
FB_UID=51234
FB_SUBID=200000 # the first of 65536

# Makes the namespace for `within` (lowlevel.bash), with its own /etc.
rootless_namespace() {
    [ -z "$FB_REFUSED" ] || return 0
    cp -a /etc "$FB_DIR/etc"
    echo "$FB_USER:x:$FB_UID:$FB_UID::$FB_DIR/home:/bin/sh" >>"$FB_DIR/etc/passwd"
    echo "$FB_USER:x:$FB_UID:" >>"$FB_DIR/etc/group"
    echo "$FB_USER:$FB_SUBID:65536" | tee "$FB_DIR/etc/subuid" >"$FB_DIR/etc/subgid"
    namespace_hold "mount --bind '$FB_DIR/etc' /etc"
}

rootless_directories() {
    local dir
    mkdir -p "$FB_DIR"/{home,xdg,rootless}
    for dir in home xdg rootless; do
        chown "$FB_UID:$FB_UID" "$FB_DIR/$dir"
        chmod 0700 "$FB_DIR/$dir"
    done
}

# as_worker COMMAND…: runs it as that user, without the environment of root.
as_worker() {
    within setpriv --reuid "$FB_UID" --regid "$FB_UID" --clear-groups env -i -C "$FB_DIR/home" PATH="$PATH" \
        HOME="$FB_DIR/home" USER="$FB_USER" XDG_RUNTIME_DIR="$FB_DIR/xdg" TMPDIR="$FB_DIR/rootless" \
        PODMAN_IGNORE_CGROUPSV1_WARNING="$PODMAN_IGNORE_CGROUPSV1_WARNING" \
        CONTAINERS_CONF="$FB_DIR/containers.conf" CONTAINERS_STORAGE_CONF="$FB_DIR/storage.conf" "$@" 3>&-
}

# worker_podman ARGS…: runs podman as that user. There is no daemon; a process of podman holds the user namespace.
worker_podman() { as_worker podman --runtime flatbed-runtime "$@"; }

rootless_require() { require_tool podman conmon crun runc gojq newuidmap newgidmap setpriv; }

rootless_remove_all() { worker_podman rm --all --force -t 0 >/dev/null 2>&1 || true; }

rootless_start() {
    [ -z "$FB_REFUSED" ] || return 0
    rootless_namespace
    rootless_directories
    podman_containers_conf | sed "s|$FB_DIR/podman|$FB_DIR/rootless|" >"$FB_DIR/containers.conf"
    podman_storage_conf vfs | sed "s|$FB_DIR/podman|$FB_DIR/rootless|" >"$FB_DIR/storage.conf"
    if as_worker podman unshare true >"$FB_DIR/rootless.log" 2>&1; then
        worker_podman load --quiet --input "$FB_DIR/image.tar" >/dev/null
    else
        refuse "an ordinary user gets no user namespace: $(tail -n 1 "$FB_DIR/rootless.log")"
    fi
}

# Kills the podman process that holds the user namespace; $FB_DIR is not on its command line.
rootless_release() {
    local file
    find "$FB_DIR/xdg" "$FB_DIR/rootless" -name pause.pid 2>/dev/null | while read -r file; do
        kill -KILL "$(<"$file")" 2>/dev/null || true
    done
}

rootless_stop() {
    [ -z "${FB_NAMESPACE_PID-}" ] || rootless_remove_all
    fb_reap
    rootless_release
    namespace_stop
}

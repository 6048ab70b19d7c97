# shellcheck shell=bash
# A mount namespace in which crun can run. crun refuses a "hybrid" host (a cgroup v2 mount beside v1 ones): there,
# and only there, a process holds a namespace without that mount.

# Prints the cgroup v2 mount of a hybrid host, or nothing.
cgroup_hybrid() {
    awk '$5 ~ "^/sys/fs/cgroup/" && / - cgroup2 / { print $5; exit }' /proc/self/mountinfo
}

namespace_start() {
    [ -z "$FB_REFUSED${FB_NAMESPACE_PID-}" ] && [ -n "$(cgroup_hybrid)" ] || return 0
    namespace_hold :
}

# namespace_hold COMMANDS: makes the namespace on every host, and runs these shell commands in it.
namespace_hold() {
    local hybrid
    hybrid=$(cgroup_hybrid)
    unshare --mount --propagation private sh -ec "${hybrid:+umount '$hybrid';} $1
        : >\"\$1\"; exec sleep 3600" sh "$FB_DIR/namespace.ready" >"$FB_DIR/namespace.log" 2>&1 </dev/null 3>&- &
    export FB_NAMESPACE_PID=$!
    daemon_await "the namespace holder" "$FB_NAMESPACE_PID" "$FB_DIR/namespace.log" test -e "$FB_DIR/namespace.ready"
}

namespace_stop() {
    daemon_stop "${FB_NAMESPACE_PID-}"
    FB_NAMESPACE_PID=
}

# within COMMAND…: runs it in that namespace if there is one, with the same root and working directory, which
# setns(2) changes.
within() {
    if [ -n "${FB_NAMESPACE_PID-}" ]; then
        nsenter --target "$FB_NAMESPACE_PID" --mount --root --wdns="$PWD" -- "$@"
    else
        "$@"
    fi
}

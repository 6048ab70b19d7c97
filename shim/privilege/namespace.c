#include "shim/privilege/namespace.h"

const char *const namespace_names[NAMESPACE_KINDS] = {
    [NAMESPACE_PID] = "pid", [NAMESPACE_NET] = "net",       [NAMESPACE_IPC] = "ipc",
    [NAMESPACE_UTS] = "uts", [NAMESPACE_CGROUP] = "cgroup", [NAMESPACE_USER] = "user",
    [NAMESPACE_MNT] = "mnt",
};

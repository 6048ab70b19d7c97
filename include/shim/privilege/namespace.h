/* The kinds of Linux namespaces that a policy names, and a container shares with its host or not.
 */
#ifndef SHIM_NAMESPACE_H
#define SHIM_NAMESPACE_H

enum namespace_kind {
    NAMESPACE_PID,
    NAMESPACE_NET,
    NAMESPACE_IPC,
    NAMESPACE_UTS,
    NAMESPACE_CGROUP,
    NAMESPACE_USER,
    NAMESPACE_MNT,
    NAMESPACE_KINDS
};

/* "pid", "net" … "mnt": the names of a policy and of the files in /proc/PID/ns (namespaces(7)). */
extern const char *const namespace_names[NAMESPACE_KINDS];

#endif

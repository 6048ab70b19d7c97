/*
 * The mount namespace of another process (mount_namespaces(7)). Its root is that of the namespace
 * itself, also if the process has changed its own (chroot(2)): so a process sees it that enters the
 * namespace.
 */
#ifndef SHIM_MOUNT_NAMESPACE_H
#define SHIM_MOUNT_NAMESPACE_H

#include <stdbool.h>

/*
 * Returns true if the open namespace (/proc/PID/ns/mnt) belongs to the user namespace of this
 * process: it was not made by root of a user namespace below (ioctl_ns(2), NS_GET_USERNS).
 */
bool mount_namespace_is_ours(int ns);

/* Returns a descriptor of its root (O_PATH), which the caller closes, or -1 and errno. */
int mount_namespace_root(int ns);

#endif

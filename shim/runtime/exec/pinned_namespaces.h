/*
 * The namespaces that the low-level runtime enters for an exec, as they are now. It opens them by
 * /proc/PID/ns of the container's first process, which can be in others by then: where it can make
 * user namespaces, in a mount namespace with what its user likes on each path. So this process gets
 * a mount namespace of its own, with a directory of links to descriptors on /proc/PID/ns. They stay
 * open when it becomes the runtime, which closes them for the container's process.
 */
#ifndef SHIM_PINNED_NAMESPACES_H
#define SHIM_PINNED_NAMESPACES_H

#include "base/cleanup.h"
#include "base/err.h"

#include <sys/types.h>

/*
 * Pins those of the process `pid`: `proc` is its open directory in /proc, `mounts` the mount
 * namespace that was judged. What is mounted on this host afterwards is seen as before.
 */
int pinned_namespaces_enter(pid_t pid, int proc, int mounts, struct err *err) must_check;

#endif

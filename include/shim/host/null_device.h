/* The null device as a standard stream. */
#ifndef SHIM_NULL_DEVICE_H
#define SHIM_NULL_DEVICE_H

#include "base/cleanup.h"
#include "base/err.h"

/*
 * Replaces each standard stream that is a null device by another one, which lies in a file system
 * of its own without a mount point. crun (1.8.1 and others) gives the streams of an exec to the
 * user of the process, and those of a container that maps ids to its root: they could take the
 * host's /dev/null from everybody. Needs CAP_SYS_ADMIN and CAP_MKNOD. ERR_SYSTEM: some may be
 * replaced.
 */
int null_device_replace(struct err *err) must_check;

#endif

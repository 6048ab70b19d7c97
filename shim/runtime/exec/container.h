/* A container that is there: what exec and start look at. */
#ifndef SHIM_CONTAINER_H
#define SHIM_CONTAINER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/host/process/process.h"
#include "shim/oci/call.h"

struct container {
    struct process process; /* the first one */
    int proc;               /* its directory in /proc */
    int mounts;             /* its mount namespace */
    int root;               /* of that namespace */
};

#define CONTAINER_INIT ((struct container){.proc = -1, .mounts = -1, .root = -1})

/* Opens the call's container, for container_close. ERR_POLICY: it has ended. */
int container_open(const struct call *call, struct container *out, struct err *err) must_check;

/* Closes what is open of it. */
void container_close(struct container *container);

#define _cleanup_container_ _cleanup_(container_close)

#endif

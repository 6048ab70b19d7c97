/*
 * The running container that is watched: one of its processes, found by the root of /proc/PID, and
 * the namespaces of that.
 */
#ifndef SHIM_WATCH_TARGET_H
#define SHIM_WATCH_TARGET_H

#include "base/cleanup.h"
#include "shim/admin/containers/containers.h"
#include "shim/admin/watch/trace/tracer.h"

#include <limits.h>
#include <sys/types.h>

struct target {
    pid_t pid;             /* its first process */
    int pidfd;             /* owned; readable when that has ended */
    int root;              /* owned: the container's root directory, O_PATH */
    char prefix[PATH_MAX]; /* of the root in paths of /proc/PID; "" for a mount namespace's root */
    uint64_t mounts;       /* the mount namespace */
    struct tracer_filter filter;
};

#define TARGET_INIT                                                                                \
    {                                                                                              \
        .pidfd = -1, .root = -1                                                                    \
    }

/*
 * Returns the container that a word means, a name or the start of an ID. ERR_USAGE if none does, or
 * several.
 */
const struct container_found *target_choose(const struct container_list *list, const char *word,
                                            struct err *err) must_check;

/* Finds the process. ERR_USAGE if the container does not run. */
int target_open(const struct container_found *container, struct target *out,
                struct err *err) must_check;

/* Returns true if the process, or thread, has the container's mount namespace. */
bool target_has(const struct target *target, pid_t thread);

/*
 * Returns the container's name for a path that /proc/self/fd shows of one of its files; NULL for
 * other files. The result points into `path`.
 */
const char *target_within(const struct target *target, const char *path);

/* Closes it. Safe on TARGET_INIT. */
void target_close(struct target *target);

#define _cleanup_target_ _cleanup_(target_close)

#endif

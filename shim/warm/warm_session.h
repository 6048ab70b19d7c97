/*
 * The files that a container opens, as fanotify tells of the file system of its root, and of its
 * volumes once it runs.
 */
#ifndef SHIM_WARM_SESSION_H
#define SHIM_WARM_SESSION_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A part of the container's tree that is looked at. */
struct warm_part {
    const char *target;    /* its mount point in the container; "/" for the root, the first part */
    const char *directory; /* of the volume on the host, as a proof that it is mounted there */
    bool marked;
};

struct warm_seen {
    const char *path; /* relative to its part */
    uint32_t part;
    int64_t at;     /* nanoseconds of CLOCK_MONOTONIC of the first open */
    uint64_t early; /* bytes of the first 64 MiB that were cached by then */
    bool blind;     /* large, and cached by then: what is read of it cannot be seen */
};

struct warm_session {
    int fd;          /* fanotify */
    const char *out; /* the path by which the host sees the container's root; "": none */
    struct stat root;
    struct warm_part *parts; /* borrowed */
    size_t part_count;
    int first;     /* pidfd of the first process that is seen in the container; -1: none yet */
    uint64_t lost; /* opens that were not seen */
    struct warm_seen *list;
    size_t count;
    uint32_t *table; /* of `list` by path: index + 1 */
    struct arena arena;
};

/*
 * Begins to look at the overlay that `root` shows; part_count is set later. `within`: its processes
 * see it as "/", and none sees it as `root`. The caller ends it.
 */
int warm_session_begin(struct warm_session *session, const char *root, bool within,
                       struct warm_part *parts, struct err *err) must_check;

/* Takes a process of the container, and looks at the volumes that are mounted there. */
void warm_session_enter(struct warm_session *session, pid_t pid);

/* Waits up to `ms` for opens, or for the end of the first process, or of `also`, a pidfd or -1. */
void warm_session_wait(struct warm_session *session, int also, int ms);

/* Returns true if the container's first process was seen, and is gone. */
bool warm_session_over(const struct warm_session *session);

/* Returns the first open of a file; NULL: there was none. */
const struct warm_seen *warm_session_find(const struct warm_session *session, uint32_t part,
                                          const char *path);

/*
 * Returns the path within its part of a file that /proc shows as `path`, and sets *part; NULL for
 * the mount point itself, and for names with a line break. Pure.
 */
const char *warm_session_place(const char *path, const char *out, const struct warm_part *parts,
                               size_t count, uint32_t *part);

/* Frees it. */
void warm_session_end(struct warm_session *session);

#define _cleanup_warm_session_ _cleanup_(warm_session_end)

#endif

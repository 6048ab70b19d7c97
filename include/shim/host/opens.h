/*
 * Files that programs open on a mount, or on a whole file system, as fanotify(7) tells: afterwards,
 * so that no program waits. Needs CAP_SYS_ADMIN. An event that is not read yet holds its mount.
 */
#ifndef SHIM_OPENS_H
#define SHIM_OPENS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum opens_scope {
    OPENS_MOUNT,       /* of one mount, whatever its file system shows elsewhere */
    OPENS_FILE_SYSTEM, /* of every mount of the file system, of all namespaces, now and later */
};

/*
 * Returns a descriptor to poll; the caller closes it. -1: ERR_UNSUPPORTED. `all`: no event is lost,
 * whatever memory they take; else those beyond 16384 are.
 */
int opens_begin(bool all, struct err *err) must_check;

/* Adds the mount, or file system, that a path shows. `directories`: also those that are opened. */
int opens_mark(int fd, const char *path, enum opens_scope scope, bool directories,
               struct err *err) must_check;

struct opened {
    pid_t pid;
    int fd;           /* the file, for reading; closed behind the taker's back */
    const char *path; /* as /proc/self/fd shows it */
};

typedef void opens_taker(const struct opened *opened, void *ctx);

/* Passes on the events that are there; those of this process are left out. Adds those lost to
 * *lost. */
void opens_read(int fd, opens_taker *take, void *ctx, uint64_t *lost);

#endif

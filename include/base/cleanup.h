/*
 * Ownership by attribute: a variable marked _cleanup_X_ is released when it leaves its scope.
 * steal_ptr and steal_fd hand it on. Cleanups keep errno and never retry close(2) (on Linux the
 * descriptor is gone whatever close returns).
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Frees what the pointer at `p` points to. */
static inline void cleanup_free(void *p)
{
    free(*(void **)p);
}

/* Closes a descriptor unless it is negative. Keeps errno. */
static inline void cleanup_fd(int *fd)
{
    if (*fd >= 0) {
        int saved = errno;
        close(*fd);
        errno = saved;
    }
}

#define _cleanup_(fn)  __attribute__((cleanup(fn)))
#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_fd_   _cleanup_(cleanup_fd)

/*
 * Defines cleanup_<name>(type **), which calls release(type *) unless the pointer is NULL. Keeps
 * errno.
 */
#define DEFINE_CLEANUP(name, type, release)                                                        \
    static inline void cleanup_##name(type **p)                                                    \
    {                                                                                              \
        if (*p) {                                                                                  \
            int saved = errno;                                                                     \
            release(*p);                                                                           \
            errno = saved;                                                                         \
        }                                                                                          \
    }

/* Returns the pointer and sets the variable to NULL: the caller owns it. */
#define steal_ptr(p)                                                                               \
    ({                                                                                             \
        __typeof__(*(p)) stolen_ = *(p);                                                           \
        *(p) = NULL;                                                                               \
        stolen_;                                                                                   \
    })

/* Returns the descriptor and sets the variable to -1: the caller owns it. */
static inline int steal_fd(int *fd)
{
    int stolen = *fd;
    *fd = -1;
    return stolen;
}

/* Marks a function whose result must be used. */
#define must_check __attribute__((warn_unused_result))

#endif

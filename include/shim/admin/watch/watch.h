/* Watches a container: counts its calls by directory and program as they come. */
#ifndef SHIM_WATCH_H
#define SHIM_WATCH_H

#include "shim/admin/watch/seen.h"
#include "shim/admin/watch/target.h"

enum { WATCH_WHY = 256, WATCH_KNOWN = 4096 };

struct watch {
    const struct target *target; /* borrowed */
    struct seen seen;
    struct tracer tracer;
    int marks;                   /* fanotify; -1: tracepoints */
    char why[WATCH_WHY];         /* opens alone are seen, and why; "": all is seen */
    struct places *places;       /* owned */
    uint32_t known[WATCH_KNOWN]; /* processes of the container, where the kernel does not choose */
    uint64_t lost;               /* records without room */
    uint64_t cut;                /* names that were longer than a record */
};

#define WATCH_INIT                                                                                 \
    {                                                                                              \
        .tracer = TRACER_INIT, .marks = -1                                                         \
    }

/* Begins to watch. With `opens` fanotify is used even if tracepoints could be. */
int watch_begin(struct watch *out, const struct target *target, bool opens,
                struct err *err) must_check;

/* Waits a few milliseconds and counts the calls. Returns false once the container has ended. */
bool watch_wait(struct watch *w);

/* Frees it. Safe on WATCH_INIT. */
void watch_end(struct watch *w);

#define _cleanup_watch_ _cleanup_(watch_end)

#endif

/*
 * Traces the calls of a container by programs in the kernel: bpf(2), perf_event_open(2). The kernel
 * removes all of it with the descriptors.
 */
#ifndef SHIM_WATCH_TRACER_H
#define SHIM_WATCH_TRACER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/admin/watch/trace/record.h"

#include <stdbool.h>
#include <stddef.h>

enum { TRACER_DESCRIPTORS = 96 };

/* Tasks to be traced: those of a pid namespace, or all processes but one. */
struct tracer_filter {
    bool by_namespace;
    uint64_t dev, inode; /* of the namespace; dev as the kernel has it */
    uint32_t not_pid;
};

struct tracer {
    int owned[TRACER_DESCRIPTORS]; /* programs and events */
    size_t count;
    int pending, ring, lost; /* maps; of `owned`, too */
    void *consumer, *data;   /* mapped */
};

#define TRACER_INIT                                                                                \
    {                                                                                              \
        .ring = -1                                                                                 \
    }

typedef void tracer_taker(const struct watch_record *record, void *ctx);

/* Begins to trace. ERR_UNSUPPORTED says why the kernel refuses it. */
int tracer_open(struct tracer *out, const struct tracer_filter *filter, struct err *err) must_check;

/*
 * Passes on all records that are there. It must be called every few milliseconds: the kernel wakes
 * nobody, as that would cost the container more than all else.
 */
void tracer_read(struct tracer *t, tracer_taker *take, void *ctx);

/* Returns how many records found no room. */
uint64_t tracer_lost(const struct tracer *t);

/* Ends it. Safe on TRACER_INIT. */
void tracer_close(struct tracer *t);

#define _cleanup_tracer_ _cleanup_(tracer_close)

#endif

/*
 * The tracing programs, as instructions of BPF (Linux, Documentation/bpf/standardization): at the
 * entry of a call the pointer to the name is kept in a hash by thread, at the exit the name is read
 * and goes to a ring buffer with the result. Tasks outside of the container are passed over in the
 * kernel, if the container has a pid namespace. Pure.
 */
#ifndef SHIM_WATCH_PROGRAM_H
#define SHIM_WATCH_PROGRAM_H

#include "shim/admin/watch/trace/tracepoints.h"
#include "shim/admin/watch/trace/tracer.h"

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

enum { PROGRAM_MOST = 80 }; /* instructions */

struct program {
    struct bpf_insn list[PROGRAM_MOST];
    size_t count;
};

/* A pending call, in the hash. */
struct program_pending {
    uint64_t name; /* an address of the task */
    int32_t dirfd;
    uint32_t call;
};

/* Makes the program of an entry. Of fcntl(2) only commands that make a descriptor are kept. */
void program_enter(struct program *out, const struct tracer_filter *filter, int pending,
                   const struct tracepoint_call *call);

/* Makes the program of all exits. `lost` is an array of one counter. */
void program_exit(struct program *out, int pending, int ring, int lost);

#endif

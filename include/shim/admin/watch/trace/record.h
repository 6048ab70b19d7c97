/*
 * A call that names a file, as the tracing program in the kernel reports it. The layout is shared
 * with that program (program.c).
 */
#ifndef SHIM_WATCH_RECORD_H
#define SHIM_WATCH_RECORD_H

#include <stdint.h>

enum watch_call {
    WATCH_OPEN,
    WATCH_STAT,
    WATCH_ACCESS,
    WATCH_READLINK,
    /* The others are not counted; they tell to what later names are relative. */
    WATCH_DUP,
    WATCH_CHDIR,
    WATCH_FCHDIR,
};
enum { WATCH_CALLS = WATCH_DUP };
enum { WATCH_NAME = 256, WATCH_COMM = 16 };

extern const char *const watch_call_names[WATCH_CALLS]; /* "opens" … */

struct watch_record {
    uint64_t task;  /* the process in the upper half, the thread in the lower one */
    int32_t dirfd;  /* the name is relative to it; or the descriptor of a call without a name */
    uint32_t call;  /* enum watch_call */
    int64_t result; /* of the call: -errno if it failed */
    char comm[WATCH_COMM]; /* the name of the thread */
    char name[WATCH_NAME]; /* NUL-terminated, cut */
    int64_t len;           /* with the NUL; WATCH_NAME if it was cut; negative without a name */
};

#endif

/* The values of requests, which mean the same in every carrier: names of volumes, opt-outs, sizes.
 */
#ifndef SHIM_REQUEST_VALUE_H
#define SHIM_REQUEST_VALUE_H

#include "shim/request/request.h"

struct request_reader {
    const struct policy *policy;
    const struct spec *spec;
    struct arena *arena;
    struct requests *out;
    unsigned char *named;  /* by class, then by word: the number of the carrier that named it */
    unsigned char carrier; /* number of the carrier that is read, counted from 1 */
    const char *key;       /* the annotation, variable or path that is read, for messages */
    size_t problems;       /* so far */
    struct err *err;
};

/* Adds a request, with the reader's key. -1 without memory, as from all that follow. */
int request_push(struct request_reader *r, struct request request) must_check;

/* Adds a request that cannot be understood. */
int request_problem(struct request_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3))) must_check;

/* Adds the problem that `name` is not a valid name. */
int request_bad_name(struct request_reader *r, const char *name) must_check;

/* Reads "NAME[:ro|:rw][:TARGET],…" for a class of volumes. */
int request_list(struct request_reader *r, const struct policy_volume *volume,
                 const char *text) must_check;

/* Reads "mounts,tuning": what the container opts out of. */
int request_off(struct request_reader *r, const char *text) must_check;

/* Reads a size or a number for one kind of tuning. */
int request_tuning(struct request_reader *r, enum tuning_kind kind, const char *text) must_check;

#endif

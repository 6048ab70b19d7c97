/* What the sources that read requests share. */
#ifndef SHIM_REQUEST_VALUE_H
#define SHIM_REQUEST_VALUE_H

#include "shim/request/request.h"

struct request_reader {
    const struct policy *policy;
    const struct spec *spec;
    struct arena *arena;
    struct requests *out;
    unsigned char *named;  /* for each class, and then each word: the carrier that named it */
    unsigned char carrier; /* the one at hand, counted from 1 */
    const char *key;       /* the annotation, variable or path at hand, for messages */
    size_t problems;       /* so far */
    struct err *err;
};

/* Adds a request that cannot be understood. -1 without memory. */
int request_problem(struct request_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3))) must_check;

int request_bad_name(struct request_reader *r, const char *name) must_check;

/* "NAME[:ro|:rw][:TARGET],…" */
int request_list(struct request_reader *r, const struct policy_volume *volume,
                 const char *text) must_check;

/* "mounts,tuning": what the container opts out of. */
int request_off(struct request_reader *r, const char *text) must_check;

/* A size or a number for one kind of tuning. */
int request_tuning(struct request_reader *r, enum tuning_kind kind, const char *text) must_check;

int request_push(struct request_reader *r, struct request request) must_check;

#endif

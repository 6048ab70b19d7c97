/*
 * What a container asks for, by annotations (all on the container, set by `--annotation` or a pod):
 *
 *     flatbed.CLASS = NAME[:ro|:rw][:TARGET],…       flatbed.project = NAME
 *
 * A request that cannot be understood is kept, with its problem: the policy's mode decides whether
 * that fails the launch. Pure.
 */
#ifndef SHIM_REQUEST_H
#define SHIM_REQUEST_H

#include "base/arena.h"
#include "shim/policy.h"

enum {
    REQUEST_VALUE_BYTES = 4096,
    REQUEST_NAMES = 64,    /* in one annotation */
    REQUESTS_IN_ALL = 256, /* of one container */
};

struct request {
    const char *key;                    /* the annotation, for messages */
    const struct policy_volume *volume; /* NULL with a problem */
    const char *name;
    bool says_access;
    enum policy_access access;
    const char *target;  /* NULL: where the policy says */
    const char *problem; /* why it cannot be granted, or NULL */
};

struct requests {
    const char *project; /* or NULL */
    struct request *list;
    size_t count;
};

/*
 * Reads the annotations (an object or NULL) that begin with "flatbed.". Texts are in the arena or
 * borrowed from policy and document. Fails only without memory.
 */
int requests_read(const struct policy *policy, const struct json *annotations, struct arena *arena,
                  struct requests *out, struct err *err) must_check;

/* Why nobody may choose this target, or NULL if he may: it must be clean, and not the system's. */
const char *request_target_problem(const char *target);

#endif

/* The source that a command line names, and the class of the policy that stages it. */
#ifndef ADMIN_STAGE_TARGET_H
#define ADMIN_STAGE_TARGET_H

#include "shim/stage/stage.h"

struct stage_target {
    const struct policy_volume *volume;
    const char *path; /* as the policy or the operand has it; in the arena */
    const char *real; /* without symbolic links; NULL before stage_target_open */
    int fd;           /* the directory, -1 in a registry; owned */
    struct stage_root root;
    const char *metrics; /* the file of counters that the policy names, or NULL */
    struct user_ids user;
    bool has_user;
};

#define STAGE_TARGET_INIT                                                                          \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Closes the directory. */
void stage_target_close(struct stage_target *target);

#define _cleanup_stage_target_ _cleanup_(stage_target_close)

/*
 * Finds the class: `operand` is CLASS=NAME, CLASS of a class without {name}, or the path of a
 * source, which a class with "stage" must have. `user` (a name or a number, or NULL) is for {user},
 * {uid} and {gid}, and reads what root may not. ERR_USAGE if nothing fits.
 */
int stage_target_find(const struct policy *policy, const char *operand, const char *user,
                      struct arena *arena, struct stage_target *out, struct err *err) must_check;

/* Opens the source, for at most ten seconds; nothing in a registry. */
int stage_target_open(struct stage_target *target, struct arena *arena, struct err *err) must_check;

/* Visits each cache of the policy and its profiles once. Ends with the first -1. */
int stage_caches(const struct policy *policy,
                 int (*visit)(void *context, const struct policy_stage *rules, struct err *err),
                 void *context, struct err *err) must_check;

#endif

/* Denials by a key of "security". */
#ifndef SHIM_SECURITY_DENY_H
#define SHIM_SECURITY_DENY_H

#include "shim/plan/security/plan_security.h"

/* Adds an operation for a key of the policy. NULL without memory. */
struct plan_op *security_push(struct planner *p, enum plan_kind kind, const char *key);

/* Judges the groups of the container's process. Fails only without memory. */
int security_judge_groups(struct planner *p) must_check;

/* Judges the devices of the container, and its rules for them. Fails only without memory. */
int security_judge_devices(struct planner *p) must_check;

/* Judges the priorities of the container's processes. Fails only without memory. */
int security_judge_realtime(struct planner *p) must_check;

#define deny_op(p, key, place, says_what_to_do, ...)                                               \
    ({                                                                                             \
        struct plan_op *op_ = security_push(p, PLAN_SECURITY, key);                                \
        if (op_)                                                                                   \
            op_->advises = says_what_to_do;                                                        \
        op_ ? plan_decide(p, op_, PLAN_DENIED, place, __VA_ARGS__) : -1;                           \
    })

/* Adds a denial for a key of the policy: 0, or -1 without memory. plan_hints.c adds what to do. */
#define deny(p, key, place, ...) deny_op(p, key, place, false, __VA_ARGS__)

/* Adds a denial whose text says what to do. */
#define deny_advising(p, key, place, ...) deny_op(p, key, place, true, __VA_ARGS__)

#endif

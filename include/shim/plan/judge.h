/*
 * One container under a policy: what config.json says, what it asks for, what the host says of it,
 * and the plan that comes of it. Looks at the host, and changes nothing: the same judgement is
 * applied by the runtime (edit.h) and shown by `flatbed explain`.
 *
 * The pause container of a Kubernetes pod has the pod's annotations but runs nothing of the
 * user's: it gets no volumes, but what it brings is judged like any other's. Where users set
 * annotations themselves they can pass for one, and go without volumes.
 */
#ifndef SHIM_JUDGE_H
#define SHIM_JUDGE_H

#include "shim/gather/rootfs.h"
#include "shim/plan/plan.h"

struct judgement {
    const struct policy *policy;          /* what is judged by: with the profile's overrides */
    const struct policy_profile *profile; /* or NULL */
    struct requests requests;
    struct facts facts;
    struct bind_facts binds;
    struct security_facts security;
    struct tuning_facts tuning;
    struct rootfs_facts rootfs;
    struct plan plan; /* what it denies is not yet an error: decision_check */
};

/*
 * Under a profile whose mode is "off" the plan is empty.
 *
 * `spec` is of the document `doc`, `bundle` the open folder that its relative sources start from,
 * `id` the container's. The judgement borrows from all of them, from the policy and from the arena,
 * and may not be moved.
 */
int judge_container(const struct policy *policy, const struct spec *spec, struct json_doc *doc,
                    int bundle, const char *id, struct arena *arena, struct judgement *out,
                    struct err *err) must_check;

#endif

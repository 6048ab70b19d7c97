/*
 * Judges one container under a policy: reads config.json and the requests, gathers the facts of the
 * host, and makes the plan. Looks at the host, and changes nothing: the runtime applies the same
 * judgement (create.h) that `flatbed explain` shows.
 *
 * The pause container of a Kubernetes pod has the pod's annotations but runs no program of the
 * user: it gets no volumes, but its mounts are judged like those of others. A user who can set
 * annotations can make a container pass for one, which then goes without volumes.
 */
#ifndef SHIM_JUDGE_H
#define SHIM_JUDGE_H

#include "shim/gather/rootfs.h"
#include "shim/plan/plan.h"

struct judgement {
    const struct policy *policy;          /* the one that counts: with the profile's overrides */
    const struct policy_profile *profile; /* or NULL */
    struct requests requests;
    struct facts facts;
    struct bind_facts binds;
    struct security_facts security;
    struct tuning_facts tuning;
    struct account_facts account;
    struct gpu_facts gpus;
    struct rootfs_facts rootfs;
    struct plan plan; /* its denials are not errors yet (decision_check) */
};

/*
 * Judges the container. Under a profile whose mode is "off" the plan is empty. `spec` is read from
 * the document `doc`, `bundle` is the open directory that relative sources start from, `id` the id
 * of the container, which has its cgroup already if it `exists`, `lowlevel` the path of the
 * low-level runtime (NULL: not known). The judgement borrows from all of them, from the policy and
 * from the arena, and must not be moved. Fails without memory, or if the host cannot be looked at;
 * denials are part of the plan.
 */
int judge_container(const struct policy *policy, const struct spec *spec, struct json_doc *doc,
                    int bundle, const char *id, bool exists, const char *lowlevel,
                    struct arena *arena, struct judgement *out, struct err *err) must_check;

#endif

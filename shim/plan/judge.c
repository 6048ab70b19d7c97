#include "shim/plan/judge.h"

#include "shim/host/trust.h"
#include "shim/request/profile.h"

#include <string.h>

static bool is_pause_container(const struct spec *spec)
{
    static const char *const keys[] = {"io.kubernetes.cri.container-type",
                                       "io.kubernetes.cri-o.ContainerType"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        const char *value = spec_annotation(spec, keys[i]);
        if (value && strcmp(value, "sandbox") == 0)
            return true;
    }
    return false;
}

/*
 * The requests decide on the profile, and the profile on what may be asked for: under one they are
 * read anew.
 */
static int choose_profile(const struct policy *policy, const struct spec *spec, struct arena *arena,
                          struct judgement *out, bool *undecided, struct err *err)
{
    struct profile_choice choice;

    out->policy = policy;
    out->profile = NULL;
    if (requests_read(policy, spec, arena, &out->requests, err) < 0 ||
        profile_choose(policy, spec, &out->requests, arena, &choice, err) < 0)
        return -1;
    *undecided = choice.undecided;
    if (choice.profile) {
        out->profile = choice.profile;
        out->policy = choice.profile->policy;
        if (requests_read(out->policy, spec, arena, &out->requests, err) < 0)
            return -1;
    }
    return choice.problem
               ? requests_deny(&out->requests, choice.problem_key, choice.problem, arena, err)
               : 0;
}

static bool maps_ids(const struct policy *policy)
{
    for (size_t i = 0; i < policy->volume_count; i++)
        if (policy->volumes[i].idmap != IDMAP_NEVER)
            return true;
    return false;
}

int judge_container(const struct policy *policy, const struct spec *spec, struct json_doc *doc,
                    int bundle, const char *id, bool exists, const char *lowlevel,
                    struct arena *arena, struct judgement *out, struct err *err)
{
    bool undecided;

    *out = (struct judgement){0};
    if (choose_profile(policy, spec, arena, out, &undecided, err) < 0)
        return -1;
    policy = out->policy;
    if (policy->mode == POLICY_OFF)
        return 0;
    if (facts_gather(policy, spec, id, bundle, &out->requests, arena, &out->facts, err) < 0)
        return -1;
    struct plan_input input = {
        .policy = policy,
        .requests = &out->requests,
        .spec = spec,
        .values = out->facts.values,
        .rootless = trust_rootless(),
        /* a pause container carries its pod's annotations: its volume requests are ignored,
           its profile is not */
        .no_volumes = is_pause_container(spec) && !undecided,
        .created = exists,
        .no_idmap = maps_ids(policy) && trust_rootless(),
    };
    if (account_wanted(policy)) { /* before the binds, which are tried with its groups */
        if (account_gather(policy, spec, bundle, &out->facts, arena, &out->account, err) < 0)
            return -1;
        input.account = &out->account;
    }
    if (security_settle_groups(&policy->security, spec, &out->facts, arena, err) < 0)
        return -1;
    if (policy->binds.given) {
        if (binds_gather(policy, spec, &out->facts, bundle, arena, &out->binds, err) < 0)
            return -1;
        input.binds = &out->binds;
    }
    if (policy->security.given) {
        if (security_gather(policy, spec, &out->facts, doc, arena, &out->security, err) < 0)
            return -1;
        input.security = &out->security;
    }
    if ((policy->binds.given || policy->security.given) &&
        host_places_gather(spec, bundle, arena, &input.places, err) < 0)
        return -1;
    if (exists)
        input.places.cgroup = NULL;
    if (policy->gpus.given) {
        if (gpu_facts_gather(spec, lowlevel, arena, &out->gpus, err) < 0)
            return -1;
        input.gpus = &out->gpus;
    }
    if (policy->tuning.given) {
        tuning_gather(&out->tuning);
        input.tuning = &out->tuning;
    }
    if ((policy->rootfs.max_depth || policy->warm.given) &&
        rootfs_gather(spec, bundle, arena, &out->rootfs, err) < 0)
        return -1;
    input.depth = out->rootfs.layers.count;
    return plan_make(&input, arena, &out->plan, err);
}

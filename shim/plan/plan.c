#include "shim/plan/plan.h"

#include "shim/plan/plan_parts.h"
#include "shim/plan/security/plan_security.h"
#include "shim/plan/tuning/plan_tuning.h"

static int add_parts(struct planner *p)
{
    const struct plan_input *in = p->in;
    bool tuned = in->tuning && !in->no_volumes && !(in->requests->off & 1u << OPT_OUT_TUNING);

    if (plan_add_volumes(p) < 0 || plan_add_env(p) < 0 || (in->binds && plan_add_binds(p) < 0) ||
        (in->security && plan_add_security(p) < 0) || plan_add_annotations(p) < 0 ||
        plan_add_places(p) < 0 || plan_add_remounts(p) < 0 || plan_add_cgroup(p) < 0 ||
        plan_add_cache_class(p) < 0 || plan_add_cgroup_files(p) < 0 ||
        plan_add_cgroup_mounts(p) < 0 || (in->gpus && plan_add_gpus(p) < 0) ||
        (tuned && plan_add_tuning(p) < 0))
        return -1;
    if (in->account && !in->no_volumes && plan_add_user(p) < 0)
        return -1;
    return plan_add_rootfs(p) < 0 ? -1 : plan_add_hints(p);
}

int plan_make(const struct plan_input *input, struct arena *arena, struct plan *out,
              struct err *err)
{
    struct planner p = {.in = input, .arena = arena, .err = err};

    *out = (struct plan){.requests = input->requests};
    if (add_parts(&p) < 0)
        return -1;
    out->ops = p.ops;
    out->count = p.count;
    out->loose = input->places.loose && !input->rootless;
    if (input->security && !input->rootless) {
        out->joined = input->security->joined;
        out->joined_count = input->security->joined_count;
    }
    return 0;
}

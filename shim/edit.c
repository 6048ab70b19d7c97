#include "shim/edit.h"

#include "shim/apply.h"
#include "shim/bundle.h"
#include "shim/lowlevel.h"
#include "shim/state.h"
#include "shim/volumes.h"

#include <string.h>

enum { MEMORY_LIMIT = 256 * 1024 * 1024 };

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

static int plan_for(const struct policy *policy, const struct call *call, const struct spec *spec,
                    const struct bundle *bundle, struct arena *arena, struct facts *facts,
                    struct plan *plan, struct err *err)
{
    struct requests *requests = arena_alloc(arena, sizeof(*requests));
    struct bind_facts binds;
    struct security_facts security;

    if (!requests)
        return err_nomem(err);
    if (requests_read(policy, spec, arena, requests, err) < 0 ||
        facts_gather(policy, spec, call->id, requests, arena, facts, err) < 0)
        return -1;
    struct plan_input input = {
        .policy = policy,
        .requests = requests,
        .spec = spec,
        .values = facts->values,
        .no_volumes = is_pause_container(spec),
    };
    if (policy->binds.given) {
        if (binds_gather(policy, spec, facts, bundle->dirfd, arena, &binds, err) < 0)
            return -1;
        input.binds = &binds;
    }
    if (policy->security.given) {
        if (security_gather(policy, spec, facts, bundle->doc, arena, &security, err) < 0)
            return -1;
        input.security = &security;
    }
    if (plan_make(&input, arena, plan, err) < 0)
        return -1;
    return policy->mode == POLICY_ENFORCE ? plan_check(plan, err) : 0;
}

/* For exec. Nobody's launch fails for want of it. */
static void keep_variables(const struct call *call, const struct plan *plan)
{
    struct err ignored;

    if (state_save(call->root, call->id, plan, lowlevel_depth() > 1, &ignored) < 0)
        return;
}

/* What the runtime behind us can do is asked only where it matters. */
static int fit(struct plan *plan, struct lowlevel *low, bool needed, bool enforce, struct err *err)
{
    struct features features;

    features_find(low, needed, &features);
    return plan_fit(plan, &features, low->path, enforce, err);
}

/* What the plan cannot do without is settled before anything is made on the host. */
static int prepare(struct plan *plan, const struct facts *facts, struct lowlevel *low, bool enforce,
                   struct arena *arena, struct err *err)
{
    enum plan_need need = plan_need(plan);

    if (need == PLAN_NEEDS_FEATURES && fit(plan, low, true, enforce, err) < 0)
        return -1;
    if (volumes_prepare(plan, facts, enforce, arena, err) < 0)
        return -1;
    if (need == PLAN_WANTS_FEATURES && plan_need(plan) == need)
        return fit(plan, low, false, enforce, err);
    return 0;
}

static int edit_bundle(const struct policy *policy, const struct call *call, struct lowlevel *low,
                       struct bundle *bundle, struct arena *arena, struct err *err)
{
    struct spec spec;
    struct facts facts;
    struct plan plan;
    bool enforce = policy->mode == POLICY_ENFORCE;

    if (spec_read(bundle->doc, arena, &spec, err) < 0)
        return err_wrap(err, "%s", bundle->path);
    if (plan_for(policy, call, &spec, bundle, arena, &facts, &plan, err) < 0 ||
        prepare(&plan, &facts, low, enforce, arena, err) < 0)
        return -1;
    if (plan_changes(&plan)) {
        if (apply_plan(&plan, bundle->doc, &spec, err) < 0)
            return err_wrap(err, "%s", bundle->path);
        if (bundle_write(bundle, err) < 0)
            return -1;
    }
    keep_variables(call, &plan);
    return 0;
}

int edit_config(const struct policy *policy, const struct call *call, struct lowlevel *low,
                struct err *err)
{
    _cleanup_bundle_ struct bundle bundle = BUNDLE_INIT;
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};

    if (bundle_open(&bundle, call, err) < 0)
        return -1;
    return edit_bundle(policy, call, low, &bundle, &arena, err);
}

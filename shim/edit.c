#include "shim/edit.h"

#include "shim/apply.h"
#include "shim/bundle.h"
#include "shim/judge.h"
#include "shim/lowlevel.h"
#include "shim/state.h"
#include "shim/volumes.h"

enum { MEMORY_LIMIT = 256 * 1024 * 1024 };

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
    struct judgement j;
    bool enforce = policy->mode == POLICY_ENFORCE;

    if (spec_read(bundle->doc, arena, &spec, err) < 0)
        return err_wrap(err, "%s", bundle->path);
    if (judge_container(policy, &spec, bundle->doc, bundle->dirfd, call->id, arena, &j, err) < 0 ||
        (enforce && plan_check(&j.plan, err) < 0) ||
        prepare(&j.plan, &j.facts, low, enforce, arena, err) < 0)
        return -1;
    if (plan_changes(&j.plan)) {
        if (apply_plan(&j.plan, bundle->doc, &spec, err) < 0)
            return err_wrap(err, "%s", bundle->path);
        if (bundle_write(bundle, err) < 0)
            return -1;
    }
    keep_variables(call, &j.plan);
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

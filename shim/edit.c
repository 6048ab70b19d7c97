#include "shim/edit.h"

#include "shim/apply.h"
#include "shim/bundle.h"
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
                    struct arena *arena, struct facts *facts, struct plan *plan, struct err *err)
{
    struct requests requests;

    if (requests_read(policy, spec->annotations, arena, &requests, err) < 0 ||
        facts_gather(policy, spec, call->id, &requests, arena, facts, err) < 0)
        return -1;
    struct plan_input input = {
        .policy = policy, .requests = &requests, .spec = spec, .values = facts->values};
    if (plan_make(&input, arena, plan, err) < 0)
        return -1;
    return policy->mode == POLICY_ENFORCE ? plan_check(plan, err) : 0;
}

/* A pause container is skipped on its annotation's word, which users may forge: so no rule that
 * restricts them may come in here. */
static int edit_volumes(const struct policy *policy, const struct call *call, struct bundle *bundle,
                        const struct spec *spec, struct arena *arena, struct err *err)
{
    struct facts facts;
    struct plan plan;

    if (is_pause_container(spec))
        return 0;
    if (plan_for(policy, call, spec, arena, &facts, &plan, err) < 0 ||
        volumes_prepare(&plan, &facts, policy->mode == POLICY_ENFORCE, arena, err) < 0)
        return -1;
    if (plan_changes(&plan) && apply_plan(&plan, bundle->doc, spec, err) < 0)
        return err_wrap(err, "%s", bundle->path);
    return 0;
}

static int edit_bundle(const struct policy *policy, const struct call *call, struct bundle *bundle,
                       struct arena *arena, struct err *err)
{
    struct spec spec;

    if (spec_read(bundle->doc, arena, &spec, err) < 0)
        return err_wrap(err, "%s", bundle->path);
    if (edit_volumes(policy, call, bundle, &spec, arena, err) < 0)
        return -1;
    return json_modified(bundle->doc) ? bundle_write(bundle, err) : 0;
}

int edit_config(const struct policy *policy, const struct call *call, struct err *err)
{
    _cleanup_bundle_ struct bundle bundle = BUNDLE_INIT;
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};

    if (bundle_open(&bundle, call, err) < 0)
        return -1;
    return edit_bundle(policy, call, &bundle, &arena, err);
}

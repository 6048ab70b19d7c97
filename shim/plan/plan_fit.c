/* A plan and what the runtime behind us can do. */
#include "shim/plan/plan.h"

#include <string.h>

/* Overlays have nothing mounted below them, and are not idmapped. */
static bool is_new_bind(const struct plan_op *op)
{
    return op->kind == PLAN_MOUNT && op->verdict == PLAN_ADDED && !op->pool;
}

static bool says_rro(const struct plan_op *op)
{
    const struct policy_list *options = &op->volume->options;

    for (size_t i = 0; i < options->count; i++)
        if (strcmp(options->items[i], "rro") == 0)
            return true;
    return false;
}

enum plan_need plan_need(const struct plan *plan)
{
    enum plan_need need = PLAN_NEEDS_NOTHING;

    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_op *op = &plan->ops[i];
        if (!is_new_bind(op))
            continue;
        if (op->idmap || (op->access == ACCESS_RO && says_rro(op)))
            return PLAN_NEEDS_FEATURES;
        if (op->access == ACCESS_RO)
            need = PLAN_WANTS_FEATURES;
    }
    return need;
}

static int lacks(const struct plan_op *op, const char *what, const char *runtime, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED,
                   "volumes.%s: %s Linux 5.12 and a runtime that knows it; '%s features' does "
                   "not say so",
                   op->volume->name, what, runtime);
}

int plan_fit(struct plan *plan, const struct features *features, const char *runtime, bool enforce,
             struct err *err)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct plan_op *op = &plan->ops[i];
        if (!is_new_bind(op))
            continue;
        op->rro = op->access == ACCESS_RO && features->rro;
        if (enforce && op->access == ACCESS_RO && !op->rro && says_rro(op))
            return lacks(op, "the option 'rro' needs", runtime, err);
        if (enforce && op->idmap && !features->idmap)
            return lacks(op, "an idmapped mount needs", runtime, err);
        op->idmap = op->idmap && features->idmap;
    }
    return 0;
}

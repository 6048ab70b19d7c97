/* A plan and what the runtime behind us can do. */
#include "shim/plan.h"

#include <string.h>

static bool to_be_written(const struct plan_op *op)
{
    return op->kind == PLAN_MOUNT && op->verdict == PLAN_ADDED;
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
        if (!to_be_written(op) || op->access == ACCESS_RW)
            continue;
        if (says_rro(op))
            return PLAN_NEEDS_FEATURES;
        need = PLAN_WANTS_FEATURES;
    }
    return need;
}

int plan_fit(struct plan *plan, const struct features *features, const char *runtime, bool enforce,
             struct err *err)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct plan_op *op = &plan->ops[i];
        if (!to_be_written(op) || op->access == ACCESS_RW)
            continue;
        op->rro = features->rro;
        if (enforce && !op->rro && says_rro(op))
            return err_set(err, ERR_UNSUPPORTED,
                           "volumes.%s: the option 'rro' needs Linux 5.12 and a runtime that knows "
                           "it; %s features does not list it",
                           op->volume->name, runtime);
    }
    return 0;
}

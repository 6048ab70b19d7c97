/* Turns the ruling on a container's GPUs into an operation. */
#include "shim/plan/gpu/gpu_judge.h"
#include "shim/plan/plan_parts.h"

static enum plan_verdict verdict_of(enum gpu_outcome outcome)
{
    if (outcome == GPU_DENIED)
        return PLAN_DENIED;
    return outcome == GPU_ALLOWED ? PLAN_KEPT : PLAN_DOWNGRADED;
}

/* Returns true if "security" puts in the rules for devices that the container lacks. */
static bool puts_rules(const struct planner *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->ops[i].kind == PLAN_DEVICES)
            return true;
    return false;
}

int plan_add_gpus(struct planner *p)
{
    struct gpu_facts facts = *p->in->gpus;
    struct gpu_ruling ruling;

    if (puts_rules(p))
        facts.nodes.all = NULL;
    if (gpu_judge(&p->in->policy->gpus, &facts, p->arena, &ruling, p->err) < 0)
        return -1;
    if (ruling.outcome == GPU_NOTHING)
        return 0;
    struct plan_op *op = plan_push(p, PLAN_GPUS);
    if (!op)
        return -1;
    op->asked_by = ruling.key;
    op->gpus = (struct plan_gpus){.value = ruling.value,
                                  .strip = ruling.outcome == GPU_STRIPPED,
                                  .keep = ruling.keep,
                                  .keep_count = ruling.keep_count,
                                  .host = &p->in->gpus->host};
    return plan_decide(p, op, verdict_of(ruling.outcome), ruling.place, "%s", ruling.reason);
}

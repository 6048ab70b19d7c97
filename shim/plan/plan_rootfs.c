#include "shim/plan/plan_parts.h"

int plan_add_rootfs(struct planner *p)
{
    const struct policy_rootfs *rule = &p->in->policy->rootfs;
    struct plan_op *op;

    if (!rule->max_depth || p->in->depth <= rule->max_depth)
        return 0;
    op = plan_push(p, PLAN_ROOTFS);
    if (!op)
        return -1;
    op->asked_by = "rootfs.max_depth";
    op->restack = rule->beyond == BEYOND_RESTACK;
    return plan_decide(p, op, rule->beyond == BEYOND_DENY ? PLAN_DENIED : PLAN_KEPT, &rule->place,
                       "the container's root has %zu layers, and each is searched for a path: "
                       "'flatten IMAGE' makes an image of one",
                       p->in->depth);
}

#include "shim/plan/operation/plan_build.h"

#include <stdarg.h>
#include <string.h>

struct plan_op *plan_push(struct planner *p, enum plan_kind kind)
{
    struct plan_op *ops = arena_extend(p->arena, p->ops, p->count, sizeof(*p->ops));

    if (!ops) {
        err_nomem(p->err);
        return NULL;
    }
    p->ops = ops;
    struct plan_op *op = &p->ops[p->count++];
    *op = (struct plan_op){.kind = kind, .reason = ""};
    if (kind == PLAN_MOUNT)
        op->mount.name = "";
    if (kind == PLAN_ENV)
        op->variable = (struct plan_variable){.mount = PLAN_NO_MOUNT};
    return op;
}

int plan_decide(struct planner *p, struct plan_op *op, enum plan_verdict verdict,
                const struct policy_place *place, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    op->reason = arena_vprintf(p->arena, format, args);
    va_end(args);
    op->verdict = verdict;
    if (place)
        op->place = *place;
    return op->reason ? 0 : err_nomem(p->err);
}

int plan_set_hint(struct planner *p, struct plan_op *op, const struct buf *hint)
{
    op->hint = hint->failed ? NULL : arena_strndup(p->arena, hint->data, hint->len);
    return op->hint ? 0 : err_nomem(p->err);
}

const struct spec_mount *plan_mounted_on(const struct spec *spec, const char *target)
{
    for (size_t i = spec->mount_count; i > 0; i--)
        if (strcmp(spec->list[i - 1].destination, target) == 0)
            return &spec->list[i - 1];
    return NULL;
}

/* ---- variables ---- */

static const struct plan_op *variable_planned(const struct planner *p, const struct plan_op *op)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct plan_op *other = &p->ops[i];
        if (other != op && other->kind == PLAN_ENV && other->verdict == PLAN_ADDED &&
            strcmp(other->variable.name, op->variable.name) == 0)
            return other;
    }
    return NULL;
}

int plan_decide_variable(struct planner *p, struct plan_op *op, const char *reason)
{
    const struct spec *spec = p->in->spec;
    const char *present = spec_env(spec, op->variable.name);
    const struct plan_op *other = variable_planned(p, op);

    if (!spec->process)
        return plan_decide(p, op, PLAN_SKIPPED, NULL, "the container has no process");
    op->variable.same = present && strcmp(present, op->variable.value) == 0;
    if (present)
        return plan_decide(p, op, PLAN_KEPT, NULL,
                           op->variable.same ? "set already" : "the container sets it itself");
    if (other)
        return plan_decide(p, op, PLAN_SKIPPED, NULL, "set for %s already",
                           other->variable.volume ? other->variable.volume->name : "the policy");
    return plan_decide(p, op, PLAN_ADDED, NULL, "%s", reason);
}

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
        op->variable = (struct plan_variable){.volume_name = "", .mount = PLAN_NO_MOUNT};
    return op;
}

int plan_decide(struct planner *p, struct plan_op *op, enum plan_verdict verdict,
                const struct policy_place *place, const char *format, ...)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    op->verdict = verdict;
    if (place)
        op->place = *place;
    op->reason = text.data ? arena_strndup(p->arena, text.data, text.len) : NULL;
    return op->reason ? 0 : err_nomem(p->err);
}

const struct spec_mount *plan_mounted_on(const struct spec *spec, const char *target)
{
    for (size_t i = spec->mount_count; i > 0; i--)
        if (strcmp(spec->list[i - 1].destination, target) == 0)
            return &spec->list[i - 1];
    return NULL;
}

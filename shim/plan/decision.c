/* What is done with a finished plan, besides applying it. */
#include "shim/plan/plan.h"

void plan_skip(struct plan *plan, size_t mount, const char *reason)
{
    plan->ops[mount].verdict = PLAN_SKIPPED;
    plan->ops[mount].reason = reason;
    for (size_t i = 0; i < plan->count; i++) {
        struct plan_op *op = &plan->ops[i];
        if (op->kind == PLAN_ENV && op->mount == mount && op->verdict == PLAN_ADDED) {
            op->verdict = PLAN_SKIPPED;
            op->reason = "its volume was left out";
        }
    }
}

bool plan_changes(const struct plan *plan)
{
    if (plan->requests && plan->requests->mount_count)
        return true;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->ops[i].kind != PLAN_ROOTFS && /* what is mounted there is not in the document */
            (plan->ops[i].verdict == PLAN_ADDED || plan->ops[i].verdict == PLAN_DOWNGRADED ||
             plan->ops[i].hold))
            return true;
    return false;
}

static void print_denial(const struct plan_op *op, struct buf *out)
{
    if (op->asked_by)
        buf_printf(out, "%s: ", op->asked_by);
    else
        buf_printf(out, "volumes.%s: ", op->volume->name);
    buf_puts(out, op->reason);
    if (op->place.file) {
        buf_puts(out, " (");
        policy_place_print(&op->place, out);
        buf_putc(out, ')');
    }
}

int plan_check(const struct plan *plan, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    for (size_t i = 0; i < plan->count; i++) {
        if (plan->ops[i].verdict != PLAN_DENIED)
            continue;
        if (text.len)
            buf_puts(&text, "; ");
        print_denial(&plan->ops[i], &text);
    }
    if (text.failed)
        return err_nomem(err);
    return text.len ? err_set(err, ERR_POLICY, "%s", text.data) : 0;
}

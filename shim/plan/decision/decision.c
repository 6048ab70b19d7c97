#include "shim/plan/decision/decision.h"

#include <string.h>

int decision_begin(const struct plan *plan, struct arena *arena, struct decision *out,
                   struct err *err)
{
    struct outcome *list = arena_alloc(arena, (plan->count + 1) * sizeof(*list));

    if (!list)
        return err_nomem(err);
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_op *op = &plan->ops[i];
        list[i] = (struct outcome){.op = op, .verdict = op->verdict, .reason = op->reason};
        if (op->kind == PLAN_MOUNT)
            list[i].mount =
                (struct mount_form){.source = op->mount.source, .idmap = op->mount.idmap};
    }
    *out = (struct decision){.plan = plan, .list = list, .count = plan->count};
    return 0;
}

/* True for a variable that is added for the mount, or that an earlier edit added with it. */
static bool comes_with(const struct outcome *o, size_t mount, bool earlier)
{
    const struct plan_variable *v = &o->op->variable;

    return o->op->kind == PLAN_ENV && v->mount == mount &&
           (o->verdict == PLAN_ADDED || (earlier && o->verdict == PLAN_KEPT && v->same));
}

void decision_skip(struct decision *decision, size_t mount, const char *reason)
{
    bool earlier = decision->list[mount].op->mount.earlier;

    decision->list[mount].verdict = PLAN_SKIPPED;
    decision->list[mount].reason = reason;
    for (size_t i = 0; i < decision->count; i++) {
        struct outcome *o = &decision->list[i];
        if (comes_with(o, mount, earlier)) {
            o->verdict = PLAN_SKIPPED;
            o->reason = "its volume was left out";
        }
    }
}

/* True if the document changes; a root that is mounted anew does not show there. */
static bool outcome_changes(const struct outcome *o)
{
    if (o->op->kind == PLAN_ROOTFS)
        return false;
    if (o->op->kind == PLAN_MOUNT && o->op->mount.earlier && o->verdict != PLAN_KEPT)
        return true;
    return o->verdict == PLAN_ADDED || o->verdict == PLAN_DOWNGRADED || o->hold;
}

bool decision_changes(const struct decision *decision)
{
    const struct requests *requests = decision->plan->requests;

    if ((requests && requests->mount_count) || decision->holds_namespaces)
        return true;
    for (size_t i = 0; i < decision->count; i++)
        if (outcome_changes(&decision->list[i]))
            return true;
    return false;
}

/* True if no denial before that one has the same hint. */
static bool hint_is_new(const struct decision *decision, size_t i)
{
    const char *hint = decision->list[i].op->hint;

    for (size_t j = 0; hint && j < i; j++) {
        const struct outcome *other = &decision->list[j];
        if (other->verdict == PLAN_DENIED && other->op->hint && strcmp(other->op->hint, hint) == 0)
            return false;
    }
    return hint != NULL;
}

const char *decision_hint(const struct decision *decision, size_t i)
{
    const struct outcome *o = &decision->list[i];

    return o->verdict == PLAN_DENIED && hint_is_new(decision, i) ? o->op->hint : NULL;
}

static void print_denial(const struct outcome *o, const char *hint, struct buf *out)
{
    const struct plan_op *op = o->op;

    if (op->asked_by)
        buf_printf(out, "%s: ", op->asked_by);
    else
        buf_printf(out, "volumes.%s: ",
                   op->kind == PLAN_ENV ? op->variable.volume->name : op->mount.volume->name);
    buf_puts(out, o->reason);
    if (op->place.file) {
        buf_puts(out, " (");
        policy_place_print(&op->place, out);
        buf_putc(out, ')');
    }
    if (hint)
        buf_printf(out, "; %s", hint);
}

int decision_check(const struct decision *decision, struct err *err)
{
    enum { ROOM = sizeof(err->msg) - 64 }; /* for all but "and N more" and a context */
    _cleanup_buf_ struct buf text = BUF_INIT;
    size_t more = 0;

    for (size_t i = 0; i < decision->count; i++) {
        size_t before = text.len;
        if (decision->list[i].verdict != PLAN_DENIED)
            continue;
        if (text.len)
            buf_puts(&text, "; ");
        print_denial(&decision->list[i], decision_hint(decision, i), &text);
        if (before && text.len > ROOM) {
            buf_truncate(&text, before);
            more++;
        }
    }
    if (more)
        buf_printf(&text, "; and %zu more", more);
    if (text.failed)
        return err_nomem(err);
    return text.len ? err_set(err, ERR_POLICY, "%s", text.data) : 0;
}

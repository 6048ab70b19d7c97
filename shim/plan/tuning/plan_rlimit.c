#include "shim/plan/tuning/plan_rlimit.h"

#include <string.h>

static struct json *find_limit(const struct spec *spec, const char *type)
{
    for (size_t i = 0; i < json_count(spec->rlimits); i++) {
        const char *text = json_text(json_get(json_at(spec->rlimits, i), "type"));
        if (text && strcmp(text, type) == 0)
            return json_at(spec->rlimits, i);
    }
    return NULL;
}

static bool read_limit(const struct json *entry, struct plan_limit *out)
{
    return json_u64(json_get(entry, "soft"), &out->soft) &&
           json_u64(json_get(entry, "hard"), &out->hard);
}

static bool is_limit(const struct json *entry, uint64_t soft, uint64_t hard)
{
    struct plan_limit limit;

    return read_limit(entry, &limit) && limit.soft == soft && limit.hard == hard;
}

/* True for a limit that an engine sets by default; engines do so for nofile only. */
static bool is_engines_default(const struct planner *p, enum tuning_kind kind,
                               const struct json *entry)
{
    const struct tuning_limit *own = &p->in->tuning->limits[kind];

    if (kind != TUNING_NOFILE)
        return false;
    return is_limit(entry, 1024, 1024) ||               /* containerd, runc spec, crun spec */
           is_limit(entry, 1024 * 1024, 1024 * 1024) || /* podman run by root */
           is_limit(entry, own->soft, own->hard);       /* rootless podman: its own */
}

/*
 * Returns the highest limit that the low-level runtime can set. crun sets limits within the
 * container's user namespace, where hard limits cannot be raised.
 */
static uint64_t greatest_limit(const struct planner *p, enum tuning_kind kind)
{
    const struct tuning_facts *host = p->in->tuning;
    const struct spec *spec = p->in->spec;
    bool may_raise = host->may_raise && !spec->uid_map.count && !spec->joins_user_namespace;
    uint64_t most = may_raise ? UINT64_MAX : host->limits[kind].hard;

    return kind == TUNING_NOFILE && host->files < most ? host->files : most;
}

static int decide_limit(struct planner *p, struct plan_op *op, enum tuning_kind kind,
                        uint64_t wanted)
{
    const struct json *entry = op->rlimit.entry;
    const char *text = plan_tune_text(p, kind, wanted);

    if (!text)
        return -1;
    op->rlimit.same = entry && is_limit(entry, op->rlimit.amount, op->rlimit.amount);
    if (op->rlimit.same)
        return plan_decide(p, op, PLAN_KEPT, NULL, "set already");
    if (entry && (!is_engines_default(p, kind, entry) || !read_limit(entry, &op->rlimit.was)))
        return plan_decide(p, op, PLAN_KEPT, NULL, "the container sets it itself");
    if (op->rlimit.amount < wanted)
        return plan_decide(p, op, PLAN_DOWNGRADED, NULL,
                           "%s is wanted, and more than the runtime may give", text);
    return plan_decide(p, op, PLAN_ADDED, NULL,
                       entry ? "in place of the engine's default" : "not limited by the container");
}

static int plan_rlimit(struct tuner *t, enum tuning_kind kind)
{
    struct planner *p = t->p;
    struct wish wish;

    if (plan_tune_wish(t, kind, &wish) < 0)
        return -1;
    if (!wish.given)
        return 0;
    struct plan_op *op = plan_tune_push(p, kind, wish.asked_by);
    if (!op)
        return -1;
    uint64_t most = greatest_limit(p, kind);
    op->rlimit.amount = wish.amount < most ? wish.amount : most;
    op->rlimit.value = plan_tune_text(p, kind, op->rlimit.amount);
    if (!op->rlimit.value)
        return -1;
    if (!p->in->spec->process)
        return plan_decide(p, op, PLAN_SKIPPED, NULL, "the container has no process");
    op->rlimit.entry = find_limit(p->in->spec, op->rlimit.name);
    return decide_limit(p, op, kind, wish.amount);
}

int plan_rlimits(struct tuner *t)
{
    for (int kind = 0; kind < TUNING_KINDS; kind++)
        if (tuning_rlimit((enum tuning_kind)kind) && plan_rlimit(t, (enum tuning_kind)kind) < 0)
            return -1;
    return 0;
}

#include "shim/plan/describe.h"

static const char *const kinds[] = {
    [PLAN_MOUNT] = "volume",
    [PLAN_ENV] = "variable",
    [PLAN_BIND] = "mount",
    [PLAN_SECURITY] = "security",
    [PLAN_CAPABILITIES] = "capabilities",
    [PLAN_PRIVILEGES] = "no_new_privileges",
    [PLAN_FILTER] = "seccomp",
    [PLAN_SHM] = "shm",
    [PLAN_RLIMIT] = "limit",
    [PLAN_ROOTFS] = "rootfs",
};

static const char *const verdicts[] = {
    [PLAN_ADDED] = "added",   [PLAN_KEPT] = "kept",       [PLAN_DOWNGRADED] = "downgraded",
    [PLAN_DENIED] = "denied", [PLAN_SKIPPED] = "skipped",
};

const char *describe_kind(const struct plan_op *op)
{
    return kinds[op->kind];
}

const char *describe_verdict(const struct plan_op *op)
{
    return verdicts[op->verdict];
}

static const char *join(const char *first, const char *second, struct arena *arena)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    buf_printf(&text, "%s:%s", first, second);
    return text.failed ? NULL : arena_strndup(arena, text.data, text.len);
}

/* NULL without memory. */
static const char *subject_of(const struct plan_op *op, struct arena *arena)
{
    if (op->kind == PLAN_MOUNT && op->volume)
        return *op->name ? join(op->volume->name, op->name, arena) : op->volume->name;
    if (op->kind == PLAN_ENV)
        return op->variable;
    if (op->kind == PLAN_BIND || op->kind == PLAN_SHM)
        return op->target;
    if (op->kind == PLAN_RLIMIT)
        return op->limit;
    return op->asked_by ? op->asked_by : "";
}

/* Of the others `asked_by` is the subject. */
static bool has_requester(enum plan_kind kind)
{
    return kind == PLAN_MOUNT || kind == PLAN_ENV || kind == PLAN_SHM || kind == PLAN_RLIMIT;
}

static int put_policy(const struct policy_place *place, struct arena *arena,
                      struct description *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    policy_place_print(place, &text);
    if (!text.len)
        return 0;
    out->policy = text.failed ? NULL : arena_strndup(arena, text.data, text.len);
    return out->policy ? 0 : err_nomem(err);
}

int describe_op(const struct plan_op *op, struct arena *arena, struct description *out,
                struct err *err)
{
    bool mount = op->kind == PLAN_MOUNT || op->kind == PLAN_BIND;

    *out = (struct description){
        .kind = describe_kind(op),
        .verdict = describe_verdict(op),
        .subject = subject_of(op, arena),
        .source = op->kind == PLAN_BIND && op->bind->path ? op->bind->path : op->source,
        .target = op->target,
        .access =
            mount && op->verdict != PLAN_DENIED ? (op->access == ACCESS_RW ? "rw" : "ro") : NULL,
        .value = op->value,
        .asked_by = has_requester(op->kind) ? op->asked_by : NULL,
        .reason = op->reason,
    };
    return out->subject ? put_policy(&op->place, arena, out, err) : err_nomem(err);
}

struct json *describe_json(const struct description *d, struct json_doc *doc)
{
    struct json *object = json_object(doc);
    const struct {
        const char *key, *value;
    } members[] = {
        {"kind", d->kind},     {"verdict", d->verdict},   {"subject", d->subject},
        {"source", d->source}, {"target", d->target},     {"access", d->access},
        {"value", d->value},   {"asked_by", d->asked_by}, {"reason", d->reason},
        {"policy", d->policy},
    };

    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
        if (members[i].value)
            json_set(doc, object, members[i].key, json_string(doc, members[i].value));
    return object;
}

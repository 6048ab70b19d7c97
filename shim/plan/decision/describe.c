#include "shim/plan/decision/describe.h"

static const char *const kinds[] = {
    [PLAN_MOUNT] = "volume",
    [PLAN_ENV] = "variable",
    [PLAN_BIND] = "mount",
    [PLAN_SECURITY] = "security",
    [PLAN_CAPABILITIES] = "capabilities",
    [PLAN_PRIVILEGES] = "no_new_privileges",
    [PLAN_FILTER] = "seccomp",
    [PLAN_DEVICES] = "devices",
    [PLAN_CONSOLE] = "devices",
    [PLAN_OWN_GROUPS] = "groups",
    [PLAN_SHM] = "shm",
    [PLAN_RLIMIT] = "limit",
    [PLAN_FILE] = "file",
    [PLAN_GROUPS] = "groups",
    [PLAN_ROOTFS] = "rootfs",
    [PLAN_GPUS] = "gpus",
};

static const char *const verdicts[] = {
    [PLAN_ADDED] = "added",   [PLAN_KEPT] = "kept",       [PLAN_DOWNGRADED] = "downgraded",
    [PLAN_DENIED] = "denied", [PLAN_SKIPPED] = "skipped",
};

const char *describe_kind(const struct plan_op *op)
{
    return kinds[op->kind];
}

const char *describe_verdict(const struct outcome *o)
{
    return verdicts[o->verdict];
}

/* Returns "CLASS:NAME", or "CLASS" for a volume without a name. NULL without memory. */
static const char *volume_subject(const struct plan_mount *m, struct arena *arena)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (!*m->name)
        return m->volume->name;
    buf_printf(&text, "%s:%s", m->volume->name, m->name);
    return text.failed ? NULL : arena_strndup(arena, text.data, text.len);
}

static void describe_mount(const struct outcome *o, struct arena *arena, struct description *out)
{
    const struct plan_mount *m = &o->op->mount;

    if (m->volume)
        out->subject = volume_subject(m, arena);
    out->source = o->mount.source;
    out->target = m->target;
    out->access = m->access == ACCESS_RW ? "rw" : "ro";
    out->stage = o->stage.word;
    out->asked_by = o->op->asked_by;
}

static void describe_bind(const struct plan_bind *b, struct description *out)
{
    out->subject = out->target = b->target;
    out->source = b->source->path ? b->source->path : b->written;
    out->access = b->access == ACCESS_RW ? "rw" : "ro";
}

static void describe_value(const struct plan_op *op, const char *subject, const char *value,
                           struct description *out)
{
    out->subject = subject;
    out->value = value;
    out->asked_by = op->asked_by;
}

static void describe_by_kind(const struct outcome *o, struct arena *arena, struct description *out)
{
    const struct plan_op *op = o->op;

    switch (op->kind) {
    case PLAN_MOUNT:
        describe_mount(o, arena, out);
        break;
    case PLAN_BIND:
        describe_bind(&op->bind, out);
        break;
    case PLAN_ENV:
        describe_value(op, op->variable.name, op->variable.value, out);
        break;
    case PLAN_SHM:
        describe_value(op, op->shm.target, op->shm.value, out);
        out->target = op->shm.target;
        break;
    case PLAN_RLIMIT:
        describe_value(op, op->rlimit.name, op->rlimit.value, out);
        break;
    case PLAN_FILE:
        out->subject = out->target = op->file.target;
        out->access = "ro";
        out->asked_by = op->asked_by;
        break;
    case PLAN_GROUPS:
        describe_value(op, op->asked_by, op->groups.value, out);
        break;
    case PLAN_GPUS:
        out->value = op->gpus.value;
        break;
    case PLAN_SECURITY:
    case PLAN_CAPABILITIES:
    case PLAN_PRIVILEGES:
    case PLAN_FILTER:
    case PLAN_DEVICES:
    case PLAN_CONSOLE:
    case PLAN_OWN_GROUPS:
    case PLAN_ROOTFS:
        break;
    }
    if (o->verdict == PLAN_DENIED)
        out->access = NULL;
}

static int describe_place(const struct policy_place *place, struct arena *arena,
                          struct description *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    policy_place_print(place, &text);
    if (!text.len)
        return 0;
    out->policy = text.failed ? NULL : arena_strndup(arena, text.data, text.len);
    return out->policy ? 0 : err_nomem(err);
}

int describe_outcome(const struct outcome *o, struct arena *arena, struct description *out,
                     struct err *err)
{
    *out = (struct description){
        .kind = describe_kind(o->op),
        .verdict = describe_verdict(o),
        .subject = o->op->asked_by ? o->op->asked_by : "",
        .reason = o->reason,
    };
    describe_by_kind(o, arena, out);
    return out->subject ? describe_place(&o->op->place, arena, out, err) : err_nomem(err);
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
        {"stage", d->stage},   {"policy", d->policy},
    };

    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
        if (members[i].value)
            json_set(doc, object, members[i].key, json_string(doc, members[i].value));
    return object;
}

/* Adds to the denials of "security" what is allowed, or what to do instead. */
#include "shim/plan/plan_parts.h"
#include "shim/privilege/namespace.h"

#include <string.h>

static void put_devices(const struct policy_security *s, struct buf *out)
{
    buf_puts(out, "allowed devices: ");
    policy_list_print(&s->devices, out);
}

static void put_namespaces(const struct policy_security *s, struct buf *out)
{
    size_t count = 0;

    buf_puts(out, "namespaces of the host that may be shared: ");
    for (int kind = 0; kind < NAMESPACE_KINDS; kind++)
        if (s->host_namespaces & 1u << kind)
            buf_printf(out, "%s%s", count++ ? ", " : "", namespace_names[kind]);
    if (!count)
        buf_puts(out, "none (leave out --pid=host, --network=host, --ipc=host, --uts=host)");
}

static void put_user(const struct policy_security *s, struct buf *out)
{
    if (!s->root_say)
        buf_puts(out, "run it as a user, as with --user $(id -u):$(id -g)");
}

static void put_privileged(const struct policy_security *s, struct buf *out)
{
    buf_puts(out, s->devices.count ? "leave out --privileged, and name devices by --device"
                                   : "leave out --privileged");
}

static void put_seccomp(const struct policy_security *s, struct buf *out)
{
    (void)s;
    buf_puts(out, "leave out --security-opt seccomp=...");
}

static void put_system_paths(const struct policy_security *s, struct buf *out)
{
    (void)s;
    buf_puts(out, "leave out --security-opt systempaths=unconfined and mounts of proc and sysfs");
}

static const struct {
    const char *key;
    void (*put)(const struct policy_security *s, struct buf *out);
} hints[] = {
    {"security.devices", put_devices}, {"security.namespaces", put_namespaces},
    {"security.user", put_user},       {"security.privileged", put_privileged},
    {"security.seccomp", put_seccomp}, {"security.system_paths", put_system_paths},
};

static int add_hint(struct planner *p, struct plan_op *op)
{
    _cleanup_buf_ struct buf hint = BUF_INIT;

    for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
        if (strcmp(op->asked_by, hints[i].key) == 0)
            hints[i].put(&p->in->policy->security, &hint);
    if (!hint.len && !hint.failed)
        return 0;
    return plan_set_hint(p, op, &hint);
}

int plan_add_hints(struct planner *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct plan_op *op = &p->ops[i];
        if (op->kind == PLAN_SECURITY && op->verdict == PLAN_DENIED && !op->hint &&
            add_hint(p, op) < 0)
            return -1;
    }
    return 0;
}

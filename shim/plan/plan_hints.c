/* Adds to denials what is allowed, or what to do instead. */
#include "base/path.h"
#include "shim/plan/plan_parts.h"
#include "shim/privilege/namespace.h"

#include <string.h>

/* ---- mounts ---- */

/* Appends "these volumes are offered: flatbed.data (imagenet, coco-*), flatbed.models". */
static void put_volumes(const struct policy *policy, struct buf *out)
{
    for (size_t i = 0; i < policy->volume_count; i++) {
        const struct policy_volume *v = &policy->volumes[i];
        const struct policy_list *names = policy_offered_names(v);
        buf_printf(out, "%sflatbed.%s", i ? ", " : "these volumes are offered: ", v->name);
        if (!names->given)
            continue;
        buf_puts(out, " (");
        policy_list_print(names, out);
        buf_putc(out, ')');
    }
}

/* True for directories of engines that users do not mount from; those of their volumes they do. */
static bool is_of_engines(const char *path)
{
    static const char *const directories[] = {"/var/lib/docker", "/var/lib/containerd",
                                              "/run/containerd", "/var/lib/containers",
                                              "/run/containers", "/var/lib/kubelet"};

    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        if (path_is_beneath(path, directories[i]))
            return strcmp(path, "/var/lib/docker/volumes") != 0;
    return false;
}

/* Appends "mounts are allowed from: /home/alice, /srv/data (read-only)". */
static void put_allowed_paths(const struct planner *p, struct buf *out)
{
    enum { MOST = 12 };
    const struct policy_binds *binds = &p->in->policy->binds;
    size_t count = 0;

    for (size_t i = 0; binds->fallback == BIND_DENY && i < binds->rule_count && count < MOST; i++) {
        const char *path = p->in->binds->rules[i].path;
        if (!path || binds->rules[i].access == BIND_DENY || binds->rules[i].named_volumes ||
            is_of_engines(path))
            continue;
        buf_printf(out, "%s%s%s",
                   count++    ? ", "
                   : out->len ? "; mounts are allowed from: "
                              : "mounts are allowed from: ",
                   path, binds->rules[i].access == BIND_RO ? " (read-only)" : "");
    }
}

int plan_hint_allowed(struct planner *p, struct plan_op *op)
{
    _cleanup_buf_ struct buf hint = BUF_INIT;

    put_volumes(p->in->policy, &hint);
    put_allowed_paths(p, &hint);
    if (!hint.len && !hint.failed)
        return 0;
    return plan_set_hint(p, op, &hint);
}

const char *plan_hint_target(const struct plan_op *op)
{
    static const struct {
        const char *path, *hint;
    } options[] = {
        {"/dev/shm", "leave out --ipc=host, or choose another path in the container"},
        {"/dev", "leave out --privileged, and name devices by --device"},
        {"/proc", "leave out --pid=host"},
        {"/sys/fs/cgroup", "leave out --systemd=always"},
        {"/sys", "leave out --network=host"},
    };
    const char *source = op->bind.source->path;

    for (size_t i = 0; source && i < sizeof(options) / sizeof(*options); i++)
        if (path_is_beneath(source, options[i].path) &&
            path_is_beneath(op->bind.target, options[i].path))
            return options[i].hint;
    return "choose another path in the container";
}

/* ---- security ---- */

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

static void put_privileged(const struct policy_security *s, struct buf *out)
{
    buf_puts(out, s->devices.count ? "leave out --privileged, and name devices by --device"
                                   : "leave out --privileged");
}

static void put_seccomp(const struct policy_security *s, struct buf *out)
{
    (void)s;
    buf_puts(out, "leave out --security-opt seccomp=... and --cap-add; ctr needs --seccomp");
}

static void put_system_paths(const struct policy_security *s, struct buf *out)
{
    (void)s;
    buf_puts(out, "leave out --security-opt systempaths=unconfined and mounts of proc and sysfs");
}

static void put_annotations(const struct policy_security *s, struct buf *out)
{
    if (!s->annotations.count)
        return;
    buf_puts(out, "denied annotations: ");
    policy_list_print(&s->annotations, out);
}

static void put_cgroups(const struct policy_security *s, struct buf *out)
{
    buf_puts(out, "allowed parents: ");
    policy_list_print(&s->cgroup_parents, out);
}

static void put_hooks(const struct policy_security *s, struct buf *out)
{
    (void)s;
    buf_puts(out, "hooks come from the engine and its configuration: ask the administrator");
}

static const struct {
    const char *key;
    void (*put)(const struct policy_security *s, struct buf *out);
} hints[] = {
    {"security.annotations", put_annotations},   {"security.hooks", put_hooks},
    {"security.devices", put_devices},           {"security.namespaces", put_namespaces},
    {"security.privileged", put_privileged},     {"security.seccomp", put_seccomp},
    {"security.system_paths", put_system_paths}, {"security.cgroups", put_cgroups},
};

static int add_hint(struct planner *p, struct plan_op *op)
{
    _cleanup_buf_ struct buf hint = BUF_INIT;

    for (size_t i = 0; op->kind == PLAN_SECURITY && i < sizeof(hints) / sizeof(*hints); i++)
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
        if (op->verdict == PLAN_DENIED && !op->hint && !op->advises && add_hint(p, op) < 0)
            return -1;
    }
    return 0;
}

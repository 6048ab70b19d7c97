#include "shim/plan/security/plan_security.h"

#include "base/path.h"
#include "shim/plan/security/security_deny.h"
#include "shim/privilege/capability.h"
#include "shim/privilege/namespace.h"
#include "shim/privilege/syscall_filter.h"

#include <string.h>

struct plan_op *security_push(struct planner *p, enum plan_kind kind, const char *key)
{
    struct plan_op *op = plan_push(p, kind);

    if (op)
        op->asked_by = key;
    return op;
}

/* ---- user, hooks, namespaces ---- */

/* True for the container of a pod itself. podman has no option to run it as a user. */
static bool is_of_pod(const struct spec *spec)
{
    const struct json *args = json_get(spec->process, "args");
    const char *program = json_text(json_at(args, 0)), *option = json_text(json_at(args, 1));

    return program && option && strcmp(program, "/catatonit") == 0 && strcmp(option, "-P") == 0;
}

static const char *advice(const struct planner *p)
{
    const char *say = p->in->policy->security.root_say;

    if (is_of_pod(p->in->spec))
        return "it is a pod's own: make the pod with podman pod create --infra=false";
    return say ? say : "run it as a user, as with --user $(id -u):$(id -g)";
}

static int judge_user(struct planner *p)
{
    const struct policy_security *s = &p->in->policy->security;
    const struct security_facts *facts = p->in->security;

    if (!s->root.deny)
        return 0;
    if (!facts->host_root && facts->ids_problem)
        return deny(p, "security.user", &s->root.place,
                    "the ids of the container's user namespace are not known: %s",
                    facts->ids_problem);
    if (!facts->host_root && facts->root_inside)
        return deny(p, "security.user", &s->root.place,
                    "%s of the container's user namespace is root's on this host, and its process "
                    "could become it: map no id to 0",
                    facts->root_inside);
    if (!facts->host_root && facts->root_by)
        return deny(p, "security.user", &s->root.place,
                    "the container's process could act as root on this host by %s: run it without "
                    "--cap-add, or leave such capabilities out of security.capabilities.max",
                    facts->root_by);
    if (!facts->host_root)
        return 0;
    return deny(p, "security.user", &s->root.place,
                "the container's process would be root on this host: %s", advice(p));
}

/* True for a volume of the policy, from an earlier edit. */
static bool is_volume(const struct planner *p, const struct spec_mount *mount)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct plan_op *op = &p->ops[i];
        if (op->kind == PLAN_MOUNT && op->verdict == PLAN_KEPT && op->mount.ours &&
            plan_mounted_on(p->in->spec, op->mount.target) == mount)
            return true;
    }
    return false;
}

/*
 * On an idmapped mount another id acts as root of the host: it reads root's files, and can leave
 * programs there that have root's setuid bit.
 */
static int judge_idmapped(struct planner *p)
{
    const struct policy_switch *root = &p->in->policy->security.root;

    for (size_t i = 0; root->deny && !p->in->rootless && i < p->in->spec->mount_count; i++) {
        const struct spec_mount *mount = &p->in->spec->list[i];
        if (!spec_is_idmapped(mount->entry) || is_volume(p, mount))
            continue;
        if (deny(p, "security.user", &root->place,
                 "files of the mount on %.200s can be root's on this host while other ids own them "
                 "in the container: mount it without idmap",
                 mount->destination) < 0)
            return -1;
    }
    return 0;
}

/* Returns the fact about a hook, or NULL. */
static const struct hook_fact *find_hook(const struct security_facts *facts,
                                         const struct json *entry)
{
    for (size_t i = 0; i < facts->hook_count; i++)
        if (facts->hooks[i].entry == entry)
            return &facts->hooks[i];
    return NULL;
}

/* Denies the first hook of that kind that is not allowed. */
static int judge_hooks_of(struct planner *p, const char *kind, const struct json *list)
{
    const struct policy_place *place = &p->in->policy->security.hooks.place;

    if (json_count(list) && !json_is(list, JSON_ARRAY))
        return deny(p, "security.hooks", place, "the container has %.32s hooks that are no list",
                    kind);
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *entry = json_at(list, i);
        const struct hook_fact *fact = find_hook(p->in->security, entry);
        const char *path = json_text(json_get(entry, "path"));
        if (!fact || fact->problem)
            return deny(p, "security.hooks", place, "the container has %.32s hooks: %.200s: %s",
                        kind, path ? path : "one without a path",
                        fact ? fact->problem : "it is not allowed");
    }
    return 0;
}

static int judge_hooks(struct planner *p)
{
    const struct json *hooks = json_get(p->in->spec->root, "hooks");

    if (!p->in->policy->security.hooks.deny || !json_is(hooks, JSON_OBJECT))
        return 0;
    for (size_t i = 0; i < hooks->len; i++)
        if (judge_hooks_of(p, hooks->members[i].key, hooks->members[i].value) < 0)
            return -1;
    return 0;
}

/* "linux.netDevices" (runtime-spec 1.3) moves devices of the host's network into the container's.
 */
static int judge_net_devices(struct planner *p)
{
    const struct policy_security *s = &p->in->policy->security;
    const struct json *devices = json_path(p->in->spec->root, "linux", "netDevices", NULL);

    if (!s->namespaces.file || (s->host_namespaces & 1u << NAMESPACE_NET) || !devices)
        return 0;
    if (json_is(devices, JSON_OBJECT) && !devices->len)
        return 0;
    return deny(p, "security.namespaces", &s->namespaces,
                "the container would take %.64s from the host's network",
                json_is(devices, JSON_OBJECT) ? devices->members[0].key : "a device");
}

static int judge_namespaces(struct planner *p)
{
    static const unsigned optional = 1u << NAMESPACE_CGROUP | 1u << NAMESPACE_USER;
    const struct policy_security *s = &p->in->policy->security;
    unsigned judged = (~optional | s->own_namespaces) & ~s->host_namespaces;

    for (int kind = 0; s->namespaces.file && kind < NAMESPACE_KINDS; kind++) {
        unsigned bit = judged & 1u << kind;
        if ((p->in->security->host_namespaces & bit) &&
            deny(p, "security.namespaces", &s->namespaces,
                 "the container would share the host's %s namespace", namespace_names[kind]) < 0)
            return -1;
        if ((p->in->security->loose_namespaces & bit) &&
            deny_advising(
                p, "security.namespaces", &s->namespaces,
                "the container would join another %s namespace by a path that a user could "
                "change: name it by a path of root's, or of a process (/proc/PID/ns)",
                namespace_names[kind]) < 0)
            return -1;
    }
    return 0;
}

/* ---- what of /proc and /sys is the host's ---- */

/*
 * True if the path, or a directory of /proc above it, is in that list of the container. The
 * low-level runtimes leave out what they do not find, as behind a "..", and a mount on "/" stays
 * behind the root that the container's process has already.
 */
static bool is_covered(const struct spec *spec, const char *list, const char *path)
{
    const struct json *paths = json_path(spec->root, "linux", list, NULL);
    struct err ignored;

    for (size_t i = 0; i < json_count(paths); i++) {
        const char *text = json_text(json_at(paths, i));
        _cleanup_buf_ struct buf clean = BUF_INIT;
        if (!text || *text != '/' || path_has_parents(text))
            continue;
        buf_putc(&clean, '/');
        if (path_clean(text, strlen(text), &clean, &ignored) == 0 &&
            path_is_beneath(clean.data, "/proc") && path_is_beneath(path, clean.data))
            return true;
    }
    return false;
}

/*
 * Through these paths a container's root could change the host without any capability; engines
 * cover them unless they are told not to.
 */
static int judge_covers(struct planner *p)
{
    static const char *const paths[] = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq",
                                        "/proc/bus", "/proc/kcore"};
    enum { HIDDEN = 4 }; /* from there on, paths must not even be read */
    _cleanup_buf_ struct buf bare = BUF_INIT;

    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (!is_covered(p->in->spec, "maskedPaths", paths[i]) &&
            (i >= HIDDEN || !is_covered(p->in->spec, "readonlyPaths", paths[i])))
            buf_printf(&bare, "%s%s", bare.len ? ", " : "", paths[i]);
    if (bare.failed)
        return err_nomem(p->err);
    if (!bare.len)
        return 0;
    return deny(p, "security.system_paths", &p->in->policy->security.system_paths.place,
                "nothing keeps the container from %s of this host (systempaths=unconfined)",
                bare.data);
}

/* True for a container that maps ids, and not the host's root, who owns the cgroups. */
static bool has_no_root(const struct spec *spec)
{
    return spec->uid_map.count && !id_map_root(&spec->uid_map) && !spec->joins_user_namespace;
}

/*
 * True for writable cgroups of the host where root is allowed: for other users, buildah makes such
 * mounts in each step of a build, and for mapped ids dockerd does.
 */
static bool has_all_cgroups(const struct planner *p, const struct spec_mount *m)
{
    return strncmp(m->type, "cgroup", strlen("cgroup")) == 0 && !m->read_only &&
           !p->in->policy->security.root.deny && !has_no_root(p->in->spec) &&
           (p->in->security->host_namespaces & 1u << NAMESPACE_CGROUP);
}

/* Covers are only on /proc and /sys: a second mount of these would be bare. */
static int judge_second_mounts(struct planner *p)
{
    const struct policy_place *place = &p->in->policy->security.system_paths.place;

    for (size_t i = 0; i < p->in->spec->mount_count; i++) {
        const struct spec_mount *m = &p->in->spec->list[i];
        if (m->bind || !m->type)
            continue;
        if (strcmp(m->type, "proc") == 0 && strcmp(m->destination, "/proc") != 0 &&
            deny(p, "security.system_paths", place,
                 "the container would have another /proc, on %.200s", m->destination) < 0)
            return -1;
        if (strcmp(m->type, "sysfs") == 0 && !m->read_only &&
            deny(p, "security.system_paths", place,
                 "the container would have a writable sysfs, on %.200s", m->destination) < 0)
            return -1;
        if (has_all_cgroups(p, m) &&
            deny_advising(p, "security.system_paths", place,
                          "the container would have all cgroups of this host, writable, on %.200s: "
                          "give it a cgroup namespace (--cgroupns=private), or mount them ro",
                          m->destination) < 0)
            return -1;
    }
    return 0;
}

static int judge_system_paths(struct planner *p)
{
    if (!p->in->policy->security.system_paths.deny)
        return 0;
    return judge_covers(p) < 0 ? -1 : judge_second_mounts(p);
}

/* ---- capabilities and privileges ---- */

static int judge_capabilities(struct planner *p, bool privileged)
{
    const struct policy_security *s = &p->in->policy->security;
    bool bounded = s->max.given && !privileged;
    uint64_t kept = security_capabilities(s, privileged);
    _cleanup_buf_ struct buf removed = BUF_INIT;

    if (!bounded && !s->drop.set)
        return 0;
    capability_beyond(p->in->spec->process, kept, &removed);
    if (removed.failed)
        return err_nomem(p->err);
    if (!removed.len)
        return 0;
    struct plan_op *op = security_push(p, PLAN_CAPABILITIES, "security.capabilities");
    if (!op)
        return -1;
    op->capabilities = kept;
    return plan_decide(p, op, PLAN_DOWNGRADED, bounded ? &s->max.place : &s->drop.place,
                       "taken away: %s", removed.data);
}

static int judge_privileges(struct planner *p)
{
    const struct policy_security *s = &p->in->policy->security;
    const struct json *process = p->in->spec->process;

    if (!s->privileges.deny || !process || json_true(json_get(process, "noNewPrivileges")))
        return 0;
    struct plan_op *op = security_push(p, PLAN_PRIVILEGES, "security.no_new_privileges");
    return op ? plan_decide(p, op, PLAN_DOWNGRADED, &s->privileges.place, "set") : -1;
}

/* ---- system calls ---- */

static int put_filter(struct planner *p)
{
    struct plan_op *op = security_push(p, PLAN_FILTER, "security.seccomp");

    if (!op)
        return -1;
    op->profile = p->in->security->profile;
    return plan_decide(p, op, PLAN_DOWNGRADED, &p->in->policy->security.profile.place,
                       "the container has no filter: the policy's profile is put in");
}

/* Returns the place of a rule that limits the container's rights; NULL if there is none. */
static const struct policy_place *place_of_limits(const struct policy_security *s)
{
    if (s->unfiltered.deny || s->syscalls.count || s->profile.text)
        return s->unfiltered.deny  ? &s->unfiltered.place
               : s->syscalls.count ? &s->syscalls.place
                                   : &s->profile.place;
    if (s->root.deny)
        return &s->root.place;
    if (s->max.given || s->drop.set)
        return s->max.given ? &s->max.place : &s->drop.place;
    return s->privileged.deny ? &s->privileged.place : NULL;
}

/* The runtime, which is root, connects to the socket at listenerPath and hands it a descriptor. */
static int judge_listener(struct planner *p, const struct json *filter)
{
    const char *path = json_text(json_get(filter, "listenerPath"));
    const struct policy_place *place = place_of_limits(&p->in->policy->security);

    if (!path || !*path || !place)
        return 0;
    return deny_advising(
        p, "security.seccomp", place,
        "the runtime would connect to the socket %.200s as root: leave out listenerPath", path);
}

/* The runtime gives up its rights by system calls that are filtered already. */
static int judge_faked_calls(struct planner *p, const struct json *filter)
{
    const struct policy_place *place = place_of_limits(&p->in->policy->security);
    const char *name = syscall_filter_faked(filter);

    if (!place || !name)
        return 0;
    return deny_advising(p, "security.seccomp", place,
                         "the container's filter skips %.60s and the runtime takes it for done, by "
                         "which it could keep root's rights: give it \"errnoRet\": 1",
                         name);
}

static int judge_filter(struct planner *p)
{
    const struct policy_security *s = &p->in->policy->security;
    const struct security_facts *facts = p->in->security;
    const struct json *filter = json_path(p->in->spec->root, "linux", "seccomp", NULL);

    if (judge_listener(p, filter) < 0 || judge_faked_calls(p, filter) < 0)
        return -1;
    if (facts->filter_problem && s->profile.text && syscall_filter_is_empty(filter))
        return deny_advising(p, "security.seccomp", &s->profile.place, "%s: ask the administrator",
                             facts->filter_problem);
    if (facts->filter_problem)
        return deny(p, "security.seccomp", s->profile.text ? &s->profile.place : &s->syscalls.place,
                    "%s", facts->filter_problem);
    if (s->unfiltered.deny && !facts->profile && syscall_filter_is_empty(filter))
        return deny(p, "security.seccomp", &s->unfiltered.place,
                    "the container has no filter for system calls (seccomp=unconfined)");
    if (facts->profile && put_filter(p) < 0)
        return -1;
    if (!*facts->let_through)
        return 0;
    return deny(p, "security.seccomp", &s->syscalls.place, "the container's filter allows %s",
                facts->let_through);
}

/* ---- all of it ---- */

int plan_add_security(struct planner *p)
{
    const struct policy_security *s = &p->in->policy->security;
    bool privileged = security_is_privileged(p->in->spec);

    if (judge_user(p) < 0 || security_judge_groups(p) < 0 || judge_idmapped(p) < 0 ||
        judge_hooks(p) < 0 || judge_namespaces(p) < 0 || judge_net_devices(p) < 0 ||
        judge_capabilities(p, privileged) < 0 || judge_privileges(p) < 0 ||
        security_judge_realtime(p) < 0)
        return -1;
    if (!privileged)
        return security_judge_devices(p) < 0 || judge_system_paths(p) < 0 ? -1 : judge_filter(p);
    if (!s->privileged.deny)
        return 0;
    return deny(p, "security.privileged", &s->privileged.place,
                "the container is privileged: CAP_SYS_ADMIN and all devices of this host");
}

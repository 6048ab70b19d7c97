/*
 * Annotations: those that the policy denies, and those by which a runtime replaces what the policy
 * judged. docs/annotations.md has the versions in which they were found.
 */
#include "base/glob.h"
#include "shim/plan/security/plan_security.h"
#include "shim/plan/security/security_deny.h"

#include <string.h>

/* The parts of a policy that an annotation gets around. */
enum {
    AROUND_SECCOMP = 1 << 0,
    AROUND_DEVICES = 1 << 1,
    AROUND_USER = 1 << 2,
    AROUND_ACCESS = 1 << 3, /* binds.require_access */
    AROUND_HOST = 1 << 4,   /* whatever keeps a container from the host */
};

struct rule {
    const char *key;  /* one that ends in "." is a prefix */
    unsigned around;  /* 0: it is harmless */
    const char *does; /* what the runtime does with it */
};

/* podman sets it for --group-add keep-groups. */
static const char keep_groups[] = "run.oci.keep_original_groups";

/* The first rule that matches counts. */
static const struct rule rules[] = {
    {"run.oci.seccomp_bpf_data", AROUND_SECCOMP, "replaces the filter for system calls"},
    {"run.oci.seccomp_fail_unknown_syscall", 0, NULL}, /* it only makes a filter stricter */
    {"run.oci.seccomp.receiver", AROUND_SECCOMP | AROUND_HOST,
     "has a program answer for the filter for system calls"},
    {"run.oci.seccomp.plugins", AROUND_HOST, "loads a library into the runtime, which is root"},
    {"run.oci.handler", AROUND_DEVICES | AROUND_USER,
     "runs the program in another way, with further devices and capabilities"},
    {"module.wasm.image/variant", AROUND_USER, "runs the program without executing it"},
    {keep_groups, AROUND_USER | AROUND_ACCESS, "keeps the engine's groups"},
    {"run.oci.hooks.", AROUND_HOST, "has root write to a file of the host"},
    {"run.oci.pidfd_receiver", AROUND_HOST, "has root connect to a socket of the host"},
    {"run.oci.mount_context_type", AROUND_HOST, "adds options to mounts"},
    {"run.oci.systemd.force_cgroup_v1", AROUND_HOST, "mounts the host's cgroups"},
    {"run.oci.systemd.subgroup", AROUND_DEVICES | AROUND_HOST,
     "moves the container to another cgroup"},
    {"run.oci.delegate-cgroup", AROUND_DEVICES | AROUND_HOST,
     "moves the container to another cgroup"},
    {"run.oci.timens_offset", 0, NULL},
    {"run.oci.", AROUND_HOST, "is not known, and crun acts on such annotations"},
    {"org.criu.config", AROUND_HOST, "has CRIU read a file of the host, and run what that says"},
    {"org.systemd.property.", AROUND_HOST, "sets a property of a unit of the host's systemd"},
    {"bundle", AROUND_HOST, "replaces the config.json that 'runc exec' reads"},
};

/* ---- harmless values ---- */

static bool is_one_of(const char *text, size_t len, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == len && memcmp(*list, text, len) == 0)
            return true;
    return false;
}

/* Properties of a scope that limit or describe it (systemd.resource-control(5), systemd.kill(5)).
 */
static bool is_plain_property(const char *name, size_t len)
{
    static const char *const names[] = {"After",
                                        "AllowedCPUs",
                                        "AllowedMemoryNodes",
                                        "Before",
                                        "BlockIOWeight",
                                        "CPUQuotaPerSecUSec",
                                        "CPUQuotaPeriodUSec",
                                        "CPUShares",
                                        "CPUWeight",
                                        "CollectMode",
                                        "DefaultDependencies",
                                        "Description",
                                        "FinalKillSignal",
                                        "IOWeight",
                                        "KillMode",
                                        "KillSignal",
                                        "MemoryHigh",
                                        "MemoryLow",
                                        "MemoryMax",
                                        "MemoryMin",
                                        "MemorySwapMax",
                                        "RuntimeMaxSec",
                                        "RuntimeMaxUSec",
                                        "SendSIGHUP",
                                        "SendSIGKILL",
                                        "TasksMax",
                                        "TimeoutStopSec",
                                        "TimeoutStopUSec",
                                        NULL};

    return is_one_of(name, len, names);
}

/* SELinux's names of options (mount(8)); podman sets one of them for label=nested. */
static bool is_context_type(const char *value)
{
    static const char *const types[] = {"context", "defcontext", "fscontext", "rootcontext", NULL};

    return value && is_one_of(value, strlen(value), types);
}

static bool is_harmless(const struct planner *p, const struct rule *r, const char *key, size_t len,
                        const char *value)
{
    static const char property[] = "org.systemd.property.";

    if (strcmp(r->key, property) == 0)
        return is_plain_property(key + sizeof(property) - 1, len - (sizeof(property) - 1));
    if (strcmp(r->key, "run.oci.mount_context_type") == 0)
        return is_context_type(value);
    /* There the engine is the user's, and so are its groups. */
    return strcmp(r->key, keep_groups) == 0 && p->in->rootless;
}

/* ---- what the policy judges ---- */

static bool requires_access(const struct policy_binds *binds)
{
    for (size_t i = 0; i < binds->rule_count; i++)
        if (binds->rules[i].require_access)
            return true;
    return binds->require_access;
}

/* Returns the key of the policy that the annotation gets around, and its place; NULL: none. */
static const char *judged_by(const struct policy *policy, unsigned around,
                             const struct policy_place **place)
{
    const struct policy_security *s = &policy->security;
    const struct policy_binds *b = &policy->binds;
    const struct {
        unsigned around;
        bool judged;
        const char *key;
        const struct policy_place *place;
    } keys[] = {
        {AROUND_SECCOMP, s->unfiltered.deny, "security.seccomp", &s->unfiltered.place},
        {AROUND_SECCOMP, s->syscalls.count, "security.seccomp", &s->syscalls.place},
        {AROUND_SECCOMP, s->profile.text, "security.seccomp", &s->profile.place},
        {AROUND_DEVICES | AROUND_HOST, s->devices.given, "security.devices", &s->devices.place},
        {AROUND_DEVICES | AROUND_HOST, s->privileged.deny, "security.privileged",
         &s->privileged.place},
        {AROUND_USER | AROUND_HOST, s->root.deny, "security.user", &s->root.place},
        {AROUND_USER | AROUND_HOST, s->groups.deny, "security.user", &s->groups.place},
        {AROUND_ACCESS, requires_access(b), "binds.require_access", &b->place},
        {AROUND_HOST, b->given, "binds", &b->place},
        {AROUND_HOST, s->hooks.deny, "security.hooks", &s->hooks.place},
        {AROUND_HOST, s->system_paths.deny, "security.system_paths", &s->system_paths.place},
        {AROUND_HOST, s->namespaces.file, "security.namespaces", &s->namespaces},
        {AROUND_HOST, s->max.given, "security.capabilities", &s->max.place},
        {AROUND_HOST, s->unfiltered.deny, "security.seccomp", &s->unfiltered.place},
        {AROUND_HOST, s->syscalls.count, "security.seccomp", &s->syscalls.place},
        {AROUND_HOST, s->realtime.deny, "security.realtime", &s->realtime.place},
        {AROUND_HOST, s->cgroup_parents.given, "security.cgroups", &s->cgroup_parents.place},
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if ((keys[i].around & around) && keys[i].judged) {
            *place = keys[i].place;
            return keys[i].key;
        }
    return NULL;
}

const char *security_judge(const struct policy *policy, const struct policy_place **place)
{
    return judged_by(policy, AROUND_DEVICES | AROUND_HOST, place);
}

/* ---- one annotation ---- */

/*
 * The key is `len` bytes: runc reads annotations back from a list of "KEY=VALUE", so that a key
 * with
 * "=" becomes another.
 */
static bool rule_is_for(const struct rule *r, const char *key, size_t len)
{
    size_t own = strlen(r->key);

    return len >= own && memcmp(r->key, key, own) == 0 && (len == own || r->key[own - 1] == '.');
}

static const struct rule *find_rule(const char *key, size_t len)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (rule_is_for(&rules[i], key, len))
            return &rules[i];
    return NULL;
}

static bool is_listed(const struct policy_list *globs, const char *key)
{
    for (size_t i = 0; i < globs->count; i++)
        if (glob_matches(globs->items[i], key))
            return true;
    return false;
}

/* Returns what to do about an annotation that an engine sets for an option; NULL for another. */
static const char *find_advice(const struct rule *rule)
{
    return rule && strcmp(rule->key, keep_groups) == 0
               ? "leave out --group-add keep-groups, and name groups that the user has, as "
                 "--group-add GID"
               : NULL;
}

/* Returns true if "deny" has the key. "allow" beats the "deny" of a preset, which others wrote. */
static bool is_denied(const struct policy_security *s, const char *key, const char *shown,
                      bool allowed)
{
    return (is_listed(&s->annotations, key) || is_listed(&s->annotations, shown)) &&
           !(allowed && s->annotations_of_preset);
}

static int judge_annotation(struct planner *p, const char *key, const char *shown,
                            const char *value)
{
    const struct policy_security *s = &p->in->policy->security;
    const struct rule *rule = find_rule(key, strlen(key));
    const char *advice = find_advice(rule);
    const struct policy_place *place;

    bool allowed =
        is_listed(&s->annotations_allowed, key) && is_listed(&s->annotations_allowed, shown);
    bool listed = is_denied(s, key, shown, allowed);
    if (listed && advice)
        return deny_advising(p, "security.annotations", &s->annotations.place,
                             "'%.80s' may not be set: %s", shown, advice);
    if (listed)
        return deny(p, "security.annotations", &s->annotations.place, "'%.80s' may not be set",
                    shown);
    if (!rule || allowed || is_harmless(p, rule, key, strlen(key), value))
        return 0;
    const char *judge = judged_by(p->in->policy, rule->around, &place);
    if (!judge)
        return 0;
    return deny_advising(p, "security.annotations", place, "'%.80s' %s, past %s: %s", shown,
                         rule->does, judge, advice ? advice : "leave it out");
}

int plan_add_annotations(struct planner *p)
{
    const struct json *list = p->in->spec->annotations;

    for (size_t i = 0; i < json_count(list); i++) {
        const struct json_member *m = &list->members[i];
        const char *key = arena_strndup(p->arena, m->key, strcspn(m->key, "="));
        if (!key)
            return err_nomem(p->err);
        if (judge_annotation(p, key, m->key, json_text(m->value)) < 0)
            return -1;
    }
    return 0;
}

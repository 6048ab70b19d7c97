/* The "security" section. */
#include "base/path.h"
#include "shim/policy/read/sections/sections.h"
#include "shim/privilege/capability.h"
#include "shim/privilege/namespace.h"
#include "shim/privilege/syscall_filter.h"

#include <string.h>

static int read_switch(struct decoder *d, const struct json *value, const char *yes,
                       struct policy_switch *out)
{
    const char *const names[] = {yes, "deny"};
    int deny;

    if (decode_choice(d, value, names, 2, &deny) < 0)
        return -1;
    *out = (struct policy_switch){.deny = deny, .place = decode_place(d, value)};
    return 0;
}

static int read_demand(struct decoder *d, const struct json *value, struct policy_switch *out)
{
    out->place = decode_place(d, value);
    return decode_bool(d, value, &out->deny);
}

static int read_privileged(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    return read_switch(d, value, "allow", &s->privileged);
}

/* ---- hooks ---- */

static int read_hook_path(struct decoder *d, const struct json *value, void *target)
{
    struct policy_hook *rule = target;
    struct policy_text text = {0};

    if (decode_path(d, value, &text) < 0)
        return -1;
    rule->path = text.text;
    return 0;
}

static int read_hook_args(struct decoder *d, const struct json *value, void *target)
{
    struct policy_hook *rule = target;

    return decode_list(d, value, &rule->args);
}

static int read_hook_rule(struct decoder *d, const struct json *value, struct policy_hook *rule)
{
    static const struct decode_key keys[] = {{"path", read_hook_path}, {"args", read_hook_args}};

    *rule = (struct policy_hook){0};
    if (decode_object(d, value, keys, 2, rule) < 0)
        return -1;
    return rule->path ? 0 : decode_fail(d, value, "there is no \"path\"");
}

static int read_hooks_allow(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    if (decode_type(d, value, JSON_ARRAY) < 0)
        return -1;
    s->hook_rules = arena_alloc(&d->policy->arena, (value->len + 1) * sizeof(*s->hook_rules));
    if (!s->hook_rules)
        return err_nomem(d->err);
    for (size_t i = 0; i < value->len; i++)
        if (read_hook_rule(d, value->items[i], &s->hook_rules[s->hook_rule_count++]) < 0)
            return -1;
    return 0;
}

static int read_hooks(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {{"allow", read_hooks_allow}};
    struct policy_security *s = target;

    s->hook_rules = NULL;
    s->hook_rule_count = 0;
    if (value->type != JSON_OBJECT)
        return read_switch(d, value, "keep", &s->hooks);
    s->hooks = (struct policy_switch){.deny = true, .place = decode_place(d, value)};
    return decode_object(d, value, keys, 1, s);
}

static int read_system_paths(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    return read_switch(d, value, "keep", &s->system_paths);
}

static int read_realtime(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    return read_switch(d, value, "allow", &s->realtime);
}

static int read_no_new_privileges(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    return read_demand(d, value, &s->privileges);
}

/* ---- user ---- */

static int read_root(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    return read_switch(d, value, "allow", &s->root);
}

static int read_root_say(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;
    struct policy_text text = {0};

    if (decode_text(d, value, &text) < 0)
        return -1;
    s->root_say = text.text;
    return 0;
}

static int read_own_groups(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {"any", "own"};
    struct policy_security *s = target;
    int own;

    if (decode_choice(d, value, names, 2, &own) < 0)
        return -1;
    s->groups = (struct policy_switch){.deny = own, .place = decode_place(d, value)};
    return 0;
}

static int read_user(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"root", read_root}, {"say", read_root_say}, {"groups", read_own_groups}};

    return decode_object(d, value, keys, 3, target);
}

/* ---- capabilities ---- */

static int read_set(struct decoder *d, const struct json *value, struct policy_capabilities *out)
{
    struct policy_list list = {0};

    if (decode_list(d, value, &list) < 0)
        return -1;
    *out = (struct policy_capabilities){.given = true, .place = list.place};
    for (size_t i = 0; i < list.count; i++) {
        bool all = strcmp(list.items[i], "ALL") == 0;
        uint64_t bit = all ? ~(uint64_t)0 : capability_bit(list.items[i]);
        if (!bit)
            return decode_fail(d, value->items[i], "there is no capability '%s'", list.items[i]);
        out->set |= bit;
    }
    return 0;
}

static int read_max(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    return read_set(d, value, &s->max);
}

static int read_drop(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    return read_set(d, value, &s->drop);
}

static int read_capabilities(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {{"max", read_max}, {"drop", read_drop}};

    return decode_object(d, value, keys, 2, target);
}

/* ---- seccomp ---- */

static int read_require(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    return read_demand(d, value, &s->unfiltered);
}

static int read_profile(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    if (decode_text(d, value, &s->profile) < 0)
        return -1;
    if (!path_is_clean_absolute(s->profile.text))
        return decode_fail(d, value, "'%s' is not a clean absolute path", s->profile.text);
    return 0;
}

static int read_syscalls(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    if (decode_list(d, value, &s->syscalls) < 0)
        return -1;
    for (size_t i = 0; i < s->syscalls.count; i++)
        if (!syscall_filter_knows(s->syscalls.items[i]))
            return decode_fail(d, value->items[i], "there is no system call '%s'",
                               s->syscalls.items[i]);
    return 0;
}

static int read_seccomp(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"require", read_require}, {"profile", read_profile}, {"deny", read_syscalls}};

    return decode_object(d, value, keys, 3, target);
}

/* ---- namespaces ---- */

static int read_bits(struct decoder *d, const struct json *value, const char *const *names,
                     size_t count, unsigned *out)
{
    struct policy *policy = d->policy;
    int index;

    if (decode_type(d, value, JSON_ARRAY) < 0)
        return -1;
    *out = 0;
    policy->security.namespaces = decode_place(d, value);
    for (size_t i = 0; i < value->len; i++) {
        if (decode_choice(d, value->items[i], names, count, &index) < 0)
            return -1;
        *out |= 1u << index;
    }
    return 0;
}

static int read_host(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    return read_bits(d, value, namespace_names, NAMESPACE_MNT, &s->host_namespaces);
}

static int read_own(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    if (read_bits(d, value, namespace_names + NAMESPACE_CGROUP, 2, &s->own_namespaces) < 0)
        return -1;
    s->own_namespaces <<= NAMESPACE_CGROUP;
    return 0;
}

static int read_namespaces(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {{"host", read_host}, {"require", read_own}};

    return decode_object(d, value, keys, 2, target);
}

/* ---- devices, annotations ---- */

static int read_devices_allow(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    if (decode_list(d, value, &s->devices) < 0)
        return -1;
    for (size_t i = 0; i < s->devices.count; i++) {
        const char *item = s->devices.items[i];
        const char *slash = strrchr(item, '/');
        if (!path_is_clean_absolute(item) || strcspn(item, "*?[\\") < (size_t)(slash - item))
            return decode_fail(d, value->items[i],
                               "'%s': expected an absolute path, with * only in its last part",
                               item);
    }
    return 0;
}

static int read_devices(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {{"allow", read_devices_allow}};

    return decode_object(d, value, keys, 1, target);
}

static int read_annotations_deny(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    s->annotations_of_preset = d->preset != NULL;
    return decode_list(d, value, &s->annotations);
}

static int read_annotations_allow(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    return decode_list(d, value, &s->annotations_allowed);
}

static int read_annotations(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {{"deny", read_annotations_deny},
                                             {"allow", read_annotations_allow}};

    return decode_object(d, value, keys, 2, target);
}

/* ---- cgroups ---- */

static int read_cgroup_parents(struct decoder *d, const struct json *value, void *target)
{
    struct policy_security *s = target;

    return decode_list(d, value, &s->cgroup_parents);
}

static int read_cgroups(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {{"parents", read_cgroup_parents}};

    return decode_object(d, value, keys, 1, target);
}

int decode_security(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"preset", decode_preset_name},
        {"privileged", read_privileged},
        {"user", read_user},
        {"capabilities", read_capabilities},
        {"no_new_privileges", read_no_new_privileges},
        {"seccomp", read_seccomp},
        {"namespaces", read_namespaces},
        {"devices", read_devices},
        {"annotations", read_annotations},
        {"hooks", read_hooks},
        {"system_paths", read_system_paths},
        {"cgroups", read_cgroups},
        {"realtime", read_realtime},
    };
    enum { KEYS = sizeof(keys) / sizeof(*keys) };
    struct policy *policy = target;

    policy->security.given = true;
    if (decode_preset(d, value, "security", keys, KEYS, &policy->security) < 0)
        return -1;
    return decode_object(d, value, keys, KEYS, &policy->security);
}

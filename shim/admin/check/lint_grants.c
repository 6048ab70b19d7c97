#include "shim/admin/check/lint_grants.h"

#include "base/glob.h"

#include <string.h>

/* ---- profiles ---- */

const char *lint_profile_grants(const struct policy *policy, const struct policy *profile)
{
    const struct policy_security *of = &policy->security, *by = &profile->security;
    const struct {
        bool denied, allowed;
        const char *key;
    } keys[] = {
        {of->privileged.deny, !by->privileged.deny, "security.privileged"},
        {of->root.deny, !by->root.deny, "security.user"},
        {of->groups.deny, !by->groups.deny, "security.user"},
        {of->max.given, !by->max.given || (by->max.set & ~of->max.set), "security.capabilities"},
        {of->privileges.deny, !by->privileges.deny, "security.no_new_privileges"},
        {of->devices.given, !by->devices.given, "security.devices"},
        {of->unfiltered.deny, !by->unfiltered.deny, "security.seccomp"},
        {of->namespaces.file != NULL,
         !by->namespaces.file || (by->host_namespaces & ~of->host_namespaces),
         "security.namespaces"},
        {of->hooks.deny, !by->hooks.deny, "security.hooks"},
        {of->system_paths.deny, !by->system_paths.deny, "security.system_paths"},
        {of->realtime.deny, !by->realtime.deny, "security.realtime"},
        {policy->binds.given,
         !profile->binds.given || profile->binds.fallback < policy->binds.fallback, "binds"},
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (keys[i].denied && keys[i].allowed)
            return keys[i].key;
    return NULL;
}

/* ---- lists ---- */

/* Returns the first of the texts that an item of the list matches; NULL: none. */
static const char *find_match(const struct policy_list *list, const char *const *texts)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; texts[k]; k++)
            if (glob_matches(list->items[i], texts[k]))
                return texts[k];
    return NULL;
}

static void lint_devices(const struct policy_list *devices, struct findings *out)
{
    static const char *const disks[] = {"/dev/sda", "/dev/nvme0n1", "/dev/vda", "/dev/dm-0",
                                        "/dev/mem", "/dev/kmsg",    NULL};
    const char *found = find_match(devices, disks);

    if (found)
        findings_add(out, FINDING_WARNING, "devices-wide", &devices->place,
                     "security.devices: it allows %s, by which a container reads and writes what "
                     "is not its own: name the devices that are needed",
                     found);
}

static void lint_annotations(const struct policy_list *allowed, struct findings *out)
{
    static const char *const any[] = {"run.oci.any", NULL};

    if (find_match(allowed, any))
        findings_add(
            out, FINDING_WARNING, "annotations-wide", &allowed->place,
            "security.annotations: \"allow\" has all that run.oci.* can ask crun for: name "
            "the keys that are needed");
}

/* Hooks run as root on the host. */
static void lint_hooks(const struct policy_security *s, struct findings *out)
{
    static const char *const any[] = {"*/env",     "*/sh",   "*/bash",    "*/dash", "*/busybox",
                                      "*/python*", "*/perl", "*/nsenter", NULL};

    for (size_t i = 0; i < s->hook_rule_count; i++) {
        const struct policy_hook *hook = &s->hook_rules[i];
        bool wide = !hook->args.given || hook->args.count == 0 ||
                    strcmp(hook->args.items[hook->args.count - 1], "...") == 0;
        for (size_t k = 0; any[k] && wide; k++)
            if (glob_matches(any[k], hook->path))
                findings_add(out, FINDING_WARNING, "hooks-wide", &s->hooks.place,
                             "security.hooks: %s runs whatever its arguments name, as root on the "
                             "host: give its \"args\"",
                             hook->path);
    }
}

/* A list replaces the preset's: it may have lost the places of the kernel. */
static void lint_targets_deny(const struct policy_binds *binds, struct findings *out)
{
    static const char *const places[] = {"/proc", "/sys", "/dev"};

    for (size_t i = 0; binds->targets_deny.given && i < sizeof(places) / sizeof(*places); i++)
        if (!policy_denied_target(&binds->targets_deny, places[i], false))
            findings_add(out, FINDING_WARNING, "targets-few", &binds->targets_deny.place,
                         "binds: \"targets_deny\" does not name %s, which the preset's list does: "
                         "a list replaces it",
                         places[i]);
}

void lint_grants(const struct policy *policy, struct findings *out)
{
    const struct policy_security *s = &policy->security;

    if (s->devices.given)
        lint_devices(&s->devices, out);
    if (s->annotations_allowed.count)
        lint_annotations(&s->annotations_allowed, out);
    lint_hooks(s, out);
    if (policy->binds.given && policy->binds.fallback != BIND_ALLOW)
        lint_targets_deny(&policy->binds, out);
}

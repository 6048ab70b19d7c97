#include "shim/admin/check/lint.h"

#include "shim/admin/check/lint_grants.h"
#include "shim/admin/check/lint_stage.h"

#include "base/glob.h"
#include "base/path.h"
#include "shim/policy/registry_source.h"
#include "shim/policy/template.h"
#include "shim/privilege/namespace.h"

#include <string.h>

/* ---- volumes ---- */

static bool is_glob(const char *text)
{
    return strpbrk(text, "*?[\\") != NULL;
}

/* Returns true if glob `a` matches everything that `b` matches, as far as the text shows. */
static bool covers(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    return strcmp(a, "*") == 0 ? b[0] != '.' : !is_glob(b) && glob_matches_file(a, b);
}

static void lint_names(const struct policy_volume *v, struct findings *out)
{
    for (size_t i = 0; i < v->names.count; i++)
        for (size_t j = 0; j < v->names.count; j++) {
            const char *a = v->names.items[j], *b = v->names.items[i];
            if (i == j || !covers(a, b) || (j > i && strcmp(a, b) == 0))
                continue;
            findings_add(out, FINDING_WARNING, "name-covered", &v->names.place,
                         "volumes.%s: '%s' adds nothing, '%s' offers it", v->name, b, a);
            break;
        }
    for (size_t i = 0; v->names.given && i < v->presets.count; i++)
        if (!policy_offers_name(v, v->presets.items[i]))
            findings_add(out, FINDING_WARNING, "preset-not-offered", &v->presets.place,
                         "volumes.%s: the preset '%s' is never used, \"names\" do not offer it",
                         v->name, v->presets.items[i]);
    if (v->names.given && !v->names.count && !v->always)
        findings_add(out, FINDING_WARNING, "volume-not-offered", &v->names.place,
                     "volumes.%s: no container can have it: \"names\" is empty", v->name);
}

static void lint_registry(const struct policy_volume *v, struct findings *out)
{
    static const unsigned chosen =
        1u << VAR_PROJECT | 1u << VAR_CONTAINER_NAME | 1u << VAR_IMAGE | 1u << VAR_HOSTNAME;
    bool any_name = v->source_vars & 1u << VAR_NAME && !v->names.given;

    if (any_name || v->source_vars & chosen)
        findings_add(out, FINDING_WARNING, "registry-any-name", &v->source.place,
                     "volumes.%s: users choose what root fetches with its credentials: list the "
                     "\"names\", and use no variable that containers choose",
                     v->name);
    if (registry_source_is_local(v->source.text))
        findings_add(out, FINDING_WARNING, "registry-local", &v->source.place,
                     "volumes.%s: a registry on this host may be without TLS, and any user can "
                     "listen on its port while it is down: use its name and TLS",
                     v->name);
    if (!v->stage.max)
        findings_add(out, FINDING_NOTE, "registry-no-max", &v->stage.cache.place,
                     "volumes.%s: \"stage\" has no \"max\": only \"free\" limits what is fetched",
                     v->name);
}

static void lint_volume(const struct policy_volume *v, struct findings *out)
{
    bool named = (v->source_vars | v->target_vars) & 1u << VAR_NAME;

    lint_names(v, out);
    if (registry_source_is(v->source.text))
        lint_registry(v, out);
    if (v->names.given && !named)
        findings_add(out, FINDING_WARNING, "name-unused", &v->names.place,
                     "volumes.%s: all names mean the same, neither \"source\" nor \"target\" has "
                     "{name}",
                     v->name);
    if (v->create.wanted && v->access == ACCESS_RO)
        findings_add(out, FINDING_WARNING, "create-read-only", &v->create.place,
                     "volumes.%s: what is made for a container stays empty, \"access\" is ro",
                     v->name);
    if (v->create.wanted && v->optional)
        findings_add(out, FINDING_NOTE, "optional-made", &v->create.place,
                     "volumes.%s: a source that is made is never missing, so \"optional\" only "
                     "counts when it does not answer",
                     v->name);
}

static void lint_targets(const struct policy *policy, struct findings *out)
{
    for (size_t i = 0; i < policy->volume_count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct policy_volume *a = &policy->volumes[j], *b = &policy->volumes[i];
            if (!a->always || !b->always || (b->target_vars & 1u << VAR_NAME) ||
                strcmp(a->target.text, b->target.text) != 0)
                continue;
            findings_add(out, FINDING_ERROR, "target-twice", &b->target.place,
                         "volumes.%s and volumes.%s are always mounted, both on %s: no container "
                         "can start",
                         a->name, b->name, b->target.text);
        }
}

/* ---- binds ---- */

static bool same_rule(const struct policy_bind_rule *a, const struct policy_bind_rule *b)
{
    return a->access == b->access && !a->options.count && !b->options.count && !a->say && !b->say &&
           a->says_require_access == b->says_require_access &&
           a->require_access == b->require_access;
}

/* Returns the rule that would decide if this one were not there; NULL: the default. */
static const struct policy_bind_rule *rule_above(const struct policy_binds *binds, size_t index)
{
    const char *path = binds->rules[index].path.text;
    const struct policy_bind_rule *best = NULL;

    for (size_t i = 0; i < binds->rule_count; i++) {
        const struct policy_bind_rule *rule = &binds->rules[i];
        if (i == index || strcmp(rule->path.text, path) == 0 ||
            !path_is_beneath(path, rule->path.text))
            continue;
        if (!best || strlen(rule->path.text) >= strlen(best->path.text))
            best = rule;
    }
    return best;
}

/*
 * Reports a rule that gives users what engines keep for other containers: it was needed before the
 * engine's own files were told apart.
 */
static void lint_engine_files(const struct policy_bind_rule *rule, struct findings *out)
{
    static const char *const directories[] = {"/var/lib/docker/containers",
                                              "/var/lib/containers/storage",
                                              "/run/containers",
                                              "/var/lib/containerd",
                                              "/run/containerd",
                                              "/var/lib/kubelet"};
    static const char volumes[] = "/var/lib/containers/storage/volumes";

    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        if (rule->access != BIND_DENY && path_is_beneath(rule->path.text, directories[i]) &&
            !path_is_beneath(rule->path.text, volumes))
            findings_add(out, FINDING_WARNING, "engine-files", &rule->place,
                         "binds: by this rule users can mount the files of other containers; those "
                         "that an engine mounts by itself need no rule, and \"named_volumes\" is "
                         "one for volumes");
}

/*
 * Reports a rule that never decides, or needlessly. Of equal paths the last decides. A rule that
 * allows is never called needless: beneath an overlay only such a rule makes a mount possible
 * (plan_binds.c).
 */
static void lint_rule(const struct policy_binds *binds, size_t index, struct findings *out)
{
    const struct policy_bind_rule *rule = &binds->rules[index];

    lint_engine_files(rule, out);
    for (size_t i = index + 1; i < binds->rule_count; i++)
        if (strcmp(binds->rules[i].path.text, rule->path.text) == 0) {
            findings_add(out, FINDING_WARNING, "bind-twice", &rule->place,
                         "binds: this rule never decides what is beneath %s, a later one for the "
                         "same path does",
                         rule->path.text);
            return;
        }
    if (rule->access == BIND_ALLOW)
        return;
    const struct policy_bind_rule *above = rule_above(binds, index);
    struct policy_bind_rule fallback = {.access = binds->fallback};
    if (same_rule(rule, above ? above : &fallback))
        findings_add(out, FINDING_WARNING, "bind-needless", &rule->place,
                     "binds: without this rule the answer would be the same, by %s",
                     above ? above->path.text : "\"default\"");
}

/* ---- security ---- */

static void lint_capabilities(const struct policy_security *s, struct findings *out)
{
    if (s->max.given && s->drop.given && s->drop.set && !(s->drop.set & s->max.set))
        findings_add(out, FINDING_WARNING, "drop-needless", &s->drop.place,
                     "security.capabilities: \"max\" allows nothing of what \"drop\" takes away");
    if (s->max.given && s->drop.given && s->max.set && !(s->max.set & ~s->drop.set))
        findings_add(out, FINDING_WARNING, "max-undone", &s->max.place,
                     "security.capabilities: \"drop\" takes away all that \"max\" allows");
}

static bool judges_more(const struct policy_security *s)
{
    return s->max.given || s->drop.given || s->unfiltered.deny || s->syscalls.given ||
           s->devices.given;
}

/* Reports ways in which a container's root, or a user that becomes root, is root on the host. */
static void lint_root(const struct policy_security *s, struct findings *out)
{
    if (s->root.deny && !s->privileges.deny)
        findings_add(out, FINDING_WARNING, "setuid-around", &s->root.place,
                     "security: a setuid program of an image makes its user root; "
                     "\"no_new_privileges\": true closes that");
    if (!s->root.deny && s->privileged.deny && !s->system_paths.place.file)
        findings_add(out, FINDING_WARNING, "system-paths-around", &s->privileged.place,
                     "security: with systempaths=unconfined a container's root writes the host's "
                     "/proc/sys, and is root by it; \"system_paths\": \"deny\" closes that");
}

/*
 * Reports what is not judged in a policy that is to keep users from becoming root. The presets have
 * all of it.
 */
static void lint_halves(const struct policy_security *s, struct findings *out)
{
    const struct policy_place *place = s->root.deny ? &s->root.place : &s->privileged.place;

    if (!s->root.deny && !s->privileged.deny)
        return;
    if (!s->devices.given)
        findings_add(out, FINDING_WARNING, "devices-around", place,
                     "security: --device-cgroup-rule gives a raw disk to any uid; \"devices\": "
                     "{\"allow\": []} closes that");
    if (s->root.deny && !s->max.given)
        findings_add(out, FINDING_WARNING, "capabilities-around", place,
                     "security: --cap-add gives a process that is not root capabilities on this "
                     "host; \"capabilities\": {\"max\": [...]} closes that");
    if (!s->unfiltered.deny && !s->profile.text)
        findings_add(out, FINDING_WARNING, "seccomp-around", place,
                     "security: seccomp=unconfined gives every system call; \"seccomp\": "
                     "{\"require\": true} closes that");
    if (!s->namespaces.file)
        findings_add(out, FINDING_WARNING, "namespaces-around", place,
                     "security: --pid=host and --network=host show the host's processes and "
                     "services; \"namespaces\": {\"host\": []} closes that");
    if (!s->realtime.place.file)
        findings_add(out, FINDING_WARNING, "realtime-around", place,
                     "security: --ulimit rtprio lets a container's processes run before all others "
                     "of the host; \"realtime\": \"deny\" closes that");
}

/* Reports that root passes every check of access. */
static void lint_access(const struct policy *policy, struct findings *out)
{
    const struct policy_binds *binds = &policy->binds;

    if (binds->given && binds->require_access && !policy->security.root.deny)
        findings_add(out, FINDING_WARNING, "access-around", &binds->place,
                     "binds: a container's root may read every source, so \"require_access\" stops "
                     "nobody; security \"user\": {\"root\": \"deny\"} closes that");
}

/* Reports what one section forbids and another, or a missing one, allows. */
static void lint_contradictions(const struct policy *policy, struct findings *out)
{
    const struct policy_security *s = &policy->security;

    if (!s->given && !policy->binds.given)
        return;
    if (s->given && !s->privileged.deny && judges_more(s))
        findings_add(out, FINDING_WARNING, "privileged-allowed",
                     s->privileged.place.file ? &s->privileged.place : NULL,
                     "security: capabilities, devices and seccomp are not judged for a privileged "
                     "container; \"privileged\": \"deny\" closes that");
    if (policy->binds.given && policy->binds.fallback != BIND_ALLOW &&
        !(s->given && s->privileged.deny))
        findings_add(out, FINDING_WARNING, "binds-around", &policy->binds.place,
                     "binds: a privileged container mounts the disks itself; security "
                     "\"privileged\": \"deny\" closes that");
    if (s->given && s->privileged.deny && !policy->binds.given)
        findings_add(out, FINDING_WARNING, "security-around", &s->privileged.place,
                     "security: without \"binds\" anybody mounts / or the engine's socket, and is "
                     "root by it");
    if (s->given) {
        lint_root(s, out);
        lint_halves(s, out);
    }
    lint_access(policy, out);
    const unsigned escape = 1u << NAMESPACE_PID | 1u << NAMESPACE_MNT;
    if (s->given && s->namespaces.file && (s->host_namespaces & escape) && s->privileged.deny)
        findings_add(out, FINDING_WARNING, "namespace-around", &s->namespaces,
                     "security: the host's pid or mnt namespace shows what \"privileged\": "
                     "\"deny\" is to keep away");
}

void lint_reach(const struct policy *policy, struct findings *out)
{
    const struct policy_security *s = &policy->security;

    if (policy->mode == POLICY_OFF ||
        !(s->root.deny || s->privileged.deny || policy->binds.fallback != BIND_ALLOW))
        return;
    findings_add(
        out, FINDING_NOTE, "out-of-reach", NULL,
        "no runtime judges docker cp, the files that dockerd copies into a new volume, and "
        "missing bind sources, which dockerd makes as root: an authorization plugin, "
        "userns-remap or rootless engines do (flatbed-policy(5), Out of reach)");
}

/* ---- profiles ---- */

static bool matches_all(const struct policy_match *match)
{
    return !match->image.given && !match->namespaces.given && !match->uid_count &&
           !match->annotation_count;
}

/* Reports a profile that gives more than the policy to whoever claims to match it. */
static void lint_claim(const struct policy *policy, const struct policy_profile *p,
                       struct findings *out)
{
    bool lax = p->policy->mode > policy->mode;
    const char *grants = matches_all(&p->match) ? NULL : lint_profile_grants(policy, p->policy);

    if (p->match.uid_count || (!lax && !grants))
        return;
    findings_add(out, FINDING_WARNING, "profile-lax", &p->place,
                 "profiles: '%s' %s%s, and users can claim what it matches: image, namespace and "
                 "annotations; say a \"uid\" as well",
                 p->name, lax ? "refuses nothing" : "allows more by ", lax ? "" : grants);
}

static void lint_profiles(const struct policy *policy, struct findings *out)
{
    const struct policy_profile *first = NULL; /* the first profile that matches every container */

    for (size_t i = 0; i < policy->profile_count; i++) {
        const struct policy_profile *p = &policy->profiles[i];
        if (first) {
            findings_add(
                out, FINDING_WARNING, "profile-never", &p->place,
                "profiles: '%s' never counts: '%s' comes first and matches every container",
                p->name, first->name);
            continue;
        }
        if (matches_all(&p->match))
            first = p;
        lint_claim(policy, p, out);
    }
}

/* ---- the whole policy ---- */

void lint_policy(const struct policy *policy, struct findings *out)
{
    if (policy->mode == POLICY_OFF)
        findings_add(out, FINDING_WARNING, "mode-off", NULL,
                     "\"mode\" is \"off\": containers start as if there were no policy");
    if (policy->mode == POLICY_PERMISSIVE)
        findings_add(out, FINDING_NOTE, "mode-permissive", NULL,
                     "\"mode\" is \"permissive\": what the policy refuses is reported, and "
                     "mounts and privileges stay as the user wants them");
    if (policy->rootfs.beyond != BEYOND_WARN && !policy->rootfs.max_depth)
        findings_add(out, FINDING_WARNING, "beyond-nothing", &policy->rootfs.place,
                     "rootfs.beyond has no effect without rootfs.max_depth, the number of layers "
                     "that a root may have");
    for (size_t i = 0; i < policy->volume_count; i++)
        lint_volume(&policy->volumes[i], out);
    lint_targets(policy, out);
    lint_stage(policy, out);
    for (size_t i = 0; i < policy->binds.rule_count; i++)
        lint_rule(&policy->binds, i, out);
    if (policy->security.given)
        lint_capabilities(&policy->security, out);
    lint_grants(policy, out);
    lint_contradictions(policy, out);
    lint_profiles(policy, out);
}

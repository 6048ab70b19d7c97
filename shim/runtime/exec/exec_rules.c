#include "shim/runtime/exec/exec_rules.h"

#include "shim/host/users/groups.h"
#include "shim/plan/security/plan_security.h"
#include "shim/privilege/capability.h"
#include "shim/privilege/cgroup_files.h"
#include "shim/privilege/realtime.h"
#include "shim/privilege/root_capability.h"

#include <string.h>

/* ---- keeping the rules, at create ---- */

/* Returns the member of the rules: an object with the reason, made if it is missing. */
static struct json *keep_rule(struct json_doc *doc, struct json *rules, const char *key,
                              const char *reason, const struct policy_place *place)
{
    struct json *rule = json_get(rules, key);
    _cleanup_buf_ struct buf why = BUF_INIT;

    if (rule)
        return rule;
    buf_printf(&why, "%s (", reason);
    policy_place_print(place, &why);
    buf_putc(&why, ')');
    rule = json_set(doc, rules, key, json_object(doc));
    json_set(doc, rule, "why", why.failed ? NULL : json_string_len(doc, why.data, why.len));
    return rule;
}

static void keep_root(const struct judgement *judgement, struct json_doc *doc, struct json *rules)
{
    const struct policy_security *s = &judgement->policy->security;

    if (!s->root.deny || judgement->security.own_ids)
        return;
    _cleanup_free_ char *why = strf("security.user: the process would be root on this host: %s",
                                    s->root_say ? s->root_say : "leave out --user root");
    struct json *rule = keep_rule(doc, rules, "root", why ? why : "", &s->root.place);
    json_set(doc, rule, "uid", json_number(doc, 0));
}

/* The groups of an exec are looked up for its own user. */
static void keep_groups(const struct judgement *judgement, struct json_doc *doc, struct json *rules)
{
    const struct policy_security *s = &judgement->policy->security;

    if (!s->groups.deny || !judgement->security.groups_judged)
        return;
    json_set(doc, rules, "own_groups", json_bool(doc, true));
    if (judgement->policy->mode == POLICY_ENFORCE)
        keep_rule(doc, rules, "group", "security.user: name a user with his group, as UID:GID",
                  &s->groups.place);
}

/*
 * Keeps what create found in the file, for each exec. Only root can change it since, which `docker
 * cp` does for its users; a mount namespace of theirs can have another.
 */
static void keep_names(const struct policy_security *s, const struct group_file *names, bool loose,
                       struct json_doc *doc, struct json *rules)
{
    if (!names)
        return;
    struct json *rule = keep_rule(doc, rules, "names", "security.user", &s->groups.place);
    struct json *numbers = json_list(doc, rule, "numbers");
    if (loose)
        json_set(doc, rule, "copied", json_bool(doc, true));
    for (size_t i = 0; i < names->names.count; i++)
        json_append(doc, numbers, json_number(doc, names->names.list[i]));
    const char *problem =
        names->names.more ? "it has too many names that are numbers" : names->problem;
    if (problem && !json_get(rule, "problem"))
        json_set(doc, rule, "problem", json_string(doc, problem));
}

/* Keeps the bits that stay under this rule and under the one before it. */
static void keep_bits(struct json_doc *doc, struct json *rule, const char *key, uint64_t bits)
{
    uint64_t before;

    if (json_u64(json_get(rule, key), &before))
        bits &= before;
    json_set(doc, rule, key, json_number(doc, bits));
}

static void keep_privileged(const struct policy_security *s, const struct spec *spec,
                            struct json_doc *doc, struct json *rules)
{
    if (!s->privileged.deny)
        return;
    struct json *rule = keep_rule(
        doc, rules, "privileged",
        "security.privileged: an exec may not have more than its container, leave out --privileged",
        &s->privileged.place);
    keep_bits(doc, rule, "bounding", capability_list(spec->process, "bounding"));
}

static void keep_realtime(const struct policy_security *s, struct json_doc *doc, struct json *rules)
{
    if (s->realtime.deny)
        keep_rule(doc, rules, "realtime",
                  "security.realtime: the process could run before all others of this host",
                  &s->realtime.place);
}

static void keep_cgroup(const struct policy *policy, struct json_doc *doc, struct json *rules)
{
    const struct policy_place *place;
    const char *judge = security_judge(policy, &place);
    _cleanup_free_ char *why =
        strf("an update stays in the container's cgroup, by %s", judge ? judge : "");

    if (judge)
        keep_rule(doc, rules, "cgroup", why ? why : "", place);
}

/* Notes whether all policies that kept rules are permissive. */
static void keep_mode(enum policy_mode mode, bool first, struct json_doc *doc, struct json *rules)
{
    if (mode != POLICY_PERMISSIVE)
        json_remove(rules, "permissive");
    else if (first && json_count(rules))
        json_set(doc, rules, "permissive", json_bool(doc, true));
}

bool exec_rules_enforced(const struct json *rules)
{
    return rules && !json_true(json_get(rules, "permissive"));
}

int exec_rules_keep(const struct judgement *judgement, const struct spec *spec,
                    const struct group_file *names, bool loose, struct json_doc *state,
                    struct err *err)
{
    const struct policy_security *s = &judgement->policy->security;
    uint64_t kept = security_capabilities(s, security_is_privileged(spec));
    struct json *rules = json_get(json_root(state), "rules");

    if (judgement->policy->mode == POLICY_OFF || !(s->given || judgement->policy->binds.given))
        return (int)json_count(rules);
    bool first = !rules;
    if (first)
        rules = json_object(state);
    if (judgement->policy->mode == POLICY_ENFORCE) {
        keep_root(judgement, state, rules);
        keep_privileged(s, spec, state, rules);
        keep_realtime(s, state, rules);
        keep_cgroup(judgement->policy, state, rules);
    }
    keep_groups(judgement, state, rules);
    keep_names(s, names, loose, state, rules);
    if (kept != ~(uint64_t)0)
        keep_bits(state, rules, "capabilities", kept);
    if (s->privileges.deny)
        json_set(state, rules, "no_new_privileges", json_bool(state, true));
    keep_mode(judgement->policy->mode, first, state, rules);
    if (json_count(rules))
        json_set(state, json_root(state), "rules", rules);
    return json_failed(state) ? err_nomem(err) : (int)json_count(rules);
}

/* ---- applying the rules, at exec ---- */

static int deny(const struct json *rule, const char *detail, struct err *err)
{
    const char *why = json_text(json_get(rule, "why"));

    return err_set(err, ERR_POLICY, "%s%s%s", why ? why : "the policy forbids it",
                   detail ? ": " : "", detail ? detail : "");
}

static int apply_root(const struct json *rule, const struct spec *process, struct err *err)
{
    _cleanup_buf_ struct buf by = BUF_INIT;
    uint64_t root;

    if (!rule)
        return 0;
    buf_puts(&by, "by ");
    root_capability_print(process->process, ~(uint64_t)0, &by);
    if (by.failed)
        return err_nomem(err);
    if (by.len > 3)
        return deny(rule, by.data, err);
    if (json_u64(json_get(rule, "uid"), &root) && root != process->uid)
        return 0;
    return deny(rule, NULL, err);
}

static int apply_privileged(const struct json *rule, const struct spec *process, struct err *err)
{
    _cleanup_buf_ struct buf beyond = BUF_INIT;
    uint64_t bounding;

    if (!rule)
        return 0;
    if (!json_u64(json_get(rule, "bounding"), &bounding))
        return deny(rule, NULL, err);
    capability_beyond(process->process, bounding, &beyond);
    if (beyond.failed)
        return err_nomem(err);
    return beyond.len ? deny(rule, beyond.data, err) : 0;
}

static int apply_realtime(const struct json *rule, const struct spec *process, struct err *err)
{
    _cleanup_buf_ struct buf asked = BUF_INIT;

    if (!rule)
        return 0;
    realtime_print_process(process->process, &asked);
    if (asked.failed)
        return err_nomem(err);
    return asked.len ? deny(rule, asked.data, err) : 0;
}

/* Denies it under any rules: older versions kept none for it. */
static int apply_cgroup(const struct json *rules, const struct json *resources, struct err *err)
{
    _cleanup_buf_ struct buf detail = BUF_INIT;
    struct cgroup_file file;

    if (!rules || !cgroup_file_find(resources, &file))
        return 0;
    buf_printf(&detail, "%s: '", file.key);
    buf_put_printable(&detail, file.name, strnlen(file.name, 80));
    buf_printf(&detail, "' %s: leave it out", file.problem);
    if (detail.failed)
        return err_nomem(err);
    return deny(json_get(rules, "cgroup"), detail.data, err);
}

int exec_rules_update(const struct json *rules, const struct json *resources, struct err *err)
{
    const struct json *rule = json_get(rules, "realtime");
    _cleanup_buf_ struct buf asked = BUF_INIT;

    if (apply_cgroup(rules, resources, err) < 0)
        return -1;
    if (!rule)
        return 0;
    realtime_print_resources(resources, &asked);
    if (asked.failed)
        return err_nomem(err);
    return asked.len ? deny(rule, asked.data, err) : 0;
}

/* Denies a primary group that is not the user's own, and takes such supplementary ones away. */
static int apply_own_groups(const struct json *rules, const struct spec *process, struct err *err)
{
    _cleanup_own_groups_ struct own_groups own = {.uid = process->uid};
    struct json *list = json_path(process->process, "user", "additionalGids", NULL);
    const struct json *rule = json_get(rules, "group");
    _cleanup_buf_ struct buf detail = BUF_INIT;
    uint64_t gid;

    for (size_t i = json_count(list); i > 0; i--)
        if (!json_u64(json_at(list, i - 1), &gid) || own_groups_problem(&own, (gid_t)gid))
            json_remove_at(list, i - 1);
    const char *problem = rule ? own_groups_problem(&own, process->gid) : NULL;
    if (!problem)
        return 0;
    buf_puts(&detail, "the process would have the group ");
    group_print(process->gid, &detail);
    buf_printf(&detail, ", %s", problem);
    return detail.failed ? err_nomem(err) : deny(rule, detail.data, err);
}

/* The file as create found it. A damaged rule allows nothing. */
static void read_names(const struct json *rule, struct group_file *out)
{
    const struct json *numbers = json_get(rule, "numbers"), *problem = json_get(rule, "problem");
    const char *text = json_text(problem);
    uint64_t number;

    *out = (struct group_file){.problem = problem && !text ? "its rule is damaged" : text};
    if (!json_is(numbers, JSON_ARRAY))
        out->problem = "its rule is damaged";
    for (size_t i = 0; i < json_count(numbers); i++)
        if (json_u64(json_at(numbers, i), &number) && number <= UINT32_MAX)
            group_names_add(&out->names, (uint32_t)number);
        else
            out->problem = "its rule is damaged";
}

bool exec_rules_copied(const struct json *rules)
{
    return json_true(json_path(rules, "names", "copied", NULL));
}

/* Judges supplementary groups by name, as those of create. The primary one needs no name. */
static int apply_names(const struct json *rules, const struct spec *process, bool nameless,
                       struct err *err)
{
    struct json *list = json_path(process->process, "user", "additionalGids", NULL);
    const struct json *rule = json_get(rules, "names");
    _cleanup_buf_ struct buf detail = BUF_INIT;
    struct group_file file;
    uint64_t gid;

    (void)spec_take_group(process->process, process->gid);
    if (!rule && !json_get(rules, "group")) /* it is permissive */
        return 0;
    read_names(rule, &file);
    for (size_t i = json_count(list); i > 0; i--)
        if (!rule || nameless || !json_u64(json_at(list, i - 1), &gid) || gid > UINT32_MAX)
            json_remove_at(list, i - 1);
        else if (!group_file_allows(&file, (uint32_t)gid, &detail))
            return detail.failed ? err_nomem(err) : deny(rule, detail.data, err);
    return 0;
}

/* The groups of root are not judged: it needs none. */
static int apply_groups(const struct json *rules, const struct spec *process, struct err *err)
{
    if (!json_get(rules, "own_groups") || process->uid == 0)
        return 0;
    return apply_own_groups(rules, process, err);
}

int exec_rules_apply_names(const struct json *rules, const struct spec *process, bool nameless,
                           struct err *err)
{
    return json_get(rules, "own_groups") ? apply_names(rules, process, nameless, err) : 0;
}

int exec_rules_apply(const struct json *rules, const struct spec *process, struct json_doc *doc,
                     struct err *err)
{
    const struct json *capabilities = json_get(rules, "capabilities");
    uint64_t kept = 0;

    if (!rules)
        return 0;
    if (!json_is(rules, JSON_OBJECT))
        return err_set(err, ERR_FORMAT, "the rules that were kept are damaged");
    if (capabilities) {
        (void)json_u64(capabilities, &kept); /* none stay if the number cannot be read */
        capability_keep(process->process, kept);
    }
    if (apply_root(json_get(rules, "root"), process, err) < 0 ||
        apply_groups(rules, process, err) < 0 ||
        apply_privileged(json_get(rules, "privileged"), process, err) < 0 ||
        apply_realtime(json_get(rules, "realtime"), process, err) < 0)
        return -1;
    const struct json *now = json_get(process->process, "noNewPrivileges");
    if (json_get(rules, "no_new_privileges") && !json_true(now))
        json_set(doc, process->process, "noNewPrivileges", json_bool(doc, true));
    return json_failed(doc) ? err_nomem(err) : 0;
}

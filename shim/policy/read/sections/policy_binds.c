/* The "binds" section. */
#include "base/path.h"
#include "shim/policy/read/sections/sections.h"
#include "shim/policy/template.h"

#include <string.h>

static int read_bind_access(struct decoder *d, const struct json *value, enum bind_access *out)
{
    static const char *const names[] = {"allow", "ro", "deny"};
    int access;

    if (decode_choice(d, value, names, 3, &access) < 0)
        return -1;
    *out = (enum bind_access)access;
    return 0;
}

/* ---- one rule ---- */

static int read_path(struct decoder *d, const struct json *value, void *target)
{
    static const unsigned allowed = TEMPLATE_COMPONENTS & ~(1u << VAR_NAME);
    struct policy_bind_rule *rule = target;
    unsigned used;

    if (decode_text(d, value, &rule->path) < 0)
        return -1;
    if (template_check(rule->path.text, allowed, &used, d->err) < 0)
        return decode_wrap(d, value);
    d->policy->vars |= used;
    if (rule->path.text[0] != '/')
        return decode_fail(d, value, "'%s' is not an absolute path", rule->path.text);
    return 0;
}

static int read_access(struct decoder *d, const struct json *value, void *target)
{
    struct policy_bind_rule *rule = target;

    return read_bind_access(d, value, &rule->access);
}

static int read_say(struct decoder *d, const struct json *value, void *target)
{
    struct policy_bind_rule *rule = target;
    struct policy_text text = {0};

    if (decode_text(d, value, &text) < 0)
        return -1;
    rule->say = text.text;
    return 0;
}

static int read_options(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {"nosuid", "nodev", "noexec"};
    struct policy_bind_rule *rule = target;
    int ignored;

    if (decode_list(d, value, &rule->options) < 0)
        return -1;
    for (size_t i = 0; i < value->len; i++)
        if (decode_choice(d, value->items[i], names, 3, &ignored) < 0)
            return -1;
    return 0;
}

static int read_rule_require(struct decoder *d, const struct json *value, void *target)
{
    struct policy_bind_rule *rule = target;

    rule->says_require_access = true;
    return decode_bool(d, value, &rule->require_access);
}

static int read_rule(struct decoder *d, const struct json *value, struct policy_bind_rule *rule)
{
    static const struct decode_key keys[] = {{"path", read_path},
                                             {"access", read_access},
                                             {"say", read_say},
                                             {"options", read_options},
                                             {"require_access", read_rule_require}};

    *rule = (struct policy_bind_rule){.place = decode_place(d, value)};
    if (decode_object(d, value, keys, sizeof(keys) / sizeof(*keys), rule) < 0)
        return -1;
    if (!rule->path.text || !json_get(value, "access"))
        return decode_fail(d, value, "there is no \"%s\"", rule->path.text ? "access" : "path");
    return 0;
}

/* ---- the section ---- */

static int read_default(struct decoder *d, const struct json *value, void *target)
{
    struct policy_binds *binds = target;

    binds->place = decode_place(d, value);
    return read_bind_access(d, value, &binds->fallback);
}

static int read_rules(struct decoder *d, const struct json *value, void *target)
{
    struct policy_binds *binds = target;
    struct policy_bind_rules *rules = d->preset ? &binds->preset : &binds->own;

    if (decode_type(d, value, JSON_ARRAY) < 0)
        return -1;
    *rules = (struct policy_bind_rules){
        .list = arena_alloc(&d->policy->arena, (value->len + 1) * sizeof(*rules->list))};
    if (!rules->list)
        return err_nomem(d->err);
    for (size_t i = 0; i < value->len; i++)
        if (read_rule(d, value->items[i], &rules->list[rules->count++]) < 0)
            return -1;
    return 0;
}

static int read_named_volumes(struct decoder *d, const struct json *value, void *target)
{
    struct policy_binds *binds = target;
    struct policy_bind_rule rule = {.place = decode_place(d, value), .named_volumes = true};

    rule.path = (struct policy_text){.text = "the directory of named volumes", .place = rule.place};
    if (read_bind_access(d, value, &rule.access) < 0)
        return -1;
    binds->named_volumes = rule;
    return 0;
}

static int read_require_access(struct decoder *d, const struct json *value, void *target)
{
    struct policy_binds *binds = target;

    return decode_bool(d, value, &binds->require_access);
}

static int read_targets(struct decoder *d, const struct json *value, void *target)
{
    struct policy_binds *binds = target;

    if (decode_list(d, value, &binds->targets_deny) < 0)
        return -1;
    for (size_t i = 0; i < value->len; i++)
        if (!path_is_clean_absolute(binds->targets_deny.items[i]))
            return decode_fail(d, value->items[i], "'%s' is not a clean absolute path",
                               binds->targets_deny.items[i]);
    return 0;
}

static int read_propagation(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {"allow", "deny"};
    struct policy_binds *binds = target;
    int deny;

    if (decode_choice(d, value, names, 2, &deny) < 0)
        return -1;
    binds->propagation = (struct policy_switch){.deny = deny, .place = decode_place(d, value)};
    return 0;
}

static bool has_rule(const struct policy_bind_rules *rules, const char *path)
{
    for (size_t i = 0; i < rules->count; i++)
        if (strcmp(rules->list[i].path.text, path) == 0)
            return true;
    return false;
}

/* Lists all rules anew: a file or a profile that replaces "rules" keeps those of the preset. */
static int join_rules(struct decoder *d, struct policy_binds *binds)
{
    size_t count = binds->preset.count + 1 + binds->own.count;
    struct policy_bind_rule *all = arena_alloc(&d->policy->arena, count * sizeof(*all));

    if (!all)
        return err_nomem(d->err);
    binds->rules = all;
    for (size_t i = 0; i < binds->preset.count; i++)
        if (!has_rule(&binds->own, binds->preset.list[i].path.text))
            *all++ = binds->preset.list[i];
    if (binds->named_volumes.path.text)
        *all++ = binds->named_volumes;
    for (size_t i = 0; i < binds->own.count; i++)
        *all++ = binds->own.list[i];
    binds->rule_count = (size_t)(all - binds->rules);
    return 0;
}

int decode_binds(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"preset", decode_preset_name},          {"default", read_default},
        {"named_volumes", read_named_volumes},   {"rules", read_rules},
        {"require_access", read_require_access}, {"targets_deny", read_targets},
        {"propagation", read_propagation}};
    enum { KEYS = sizeof(keys) / sizeof(*keys) };
    struct policy *policy = target;

    if (!policy->binds.given)
        policy->binds.place = decode_place(d, value);
    policy->binds.given = true;
    if (decode_preset(d, value, "binds", keys, KEYS, &policy->binds) < 0 ||
        decode_object(d, value, keys, KEYS, &policy->binds) < 0)
        return -1;
    return join_rules(d, &policy->binds);
}

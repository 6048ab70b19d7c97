/* The table of the policy's sections, and the sections that have no source of their own. */
#include "shim/policy/read/sections/sections.h"

#include <string.h>

int decode_mode(struct decoder *d, const struct json *value, void *target)
{
    struct policy *policy = target;
    int mode;

    if (decode_choice(d, value, policy_mode_names, POLICY_MODES, &mode) < 0)
        return -1;
    policy->mode = (enum policy_mode)mode;
    return 0;
}

/* Skips a section that is read before or after the others. */
static int read_already(struct decoder *d, const struct json *value, void *target)
{
    (void)d;
    (void)value;
    (void)target;
    return 0;
}

static int read_requests(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {"annotations", "mounts", "environment"};
    struct policy *policy = target;
    bool seen[POLICY_CARRIERS] = {false};

    if (decode_type(d, value, JSON_ARRAY) < 0)
        return -1;
    policy->carrier_count = 0;
    for (size_t i = 0; i < value->len; i++) {
        int carrier;
        if (decode_choice(d, value->items[i], names, POLICY_CARRIERS, &carrier) < 0)
            return -1;
        if (seen[carrier])
            return decode_fail(d, value->items[i], "\"%s\" is there already", names[carrier]);
        seen[carrier] = true;
        policy->carriers[policy->carrier_count++] = (enum policy_carrier)carrier;
    }
    return 0;
}

static int read_identity(struct decoder *d, const struct json *value, void *target)
{
    static const char prefix[] = "annotation:";
    struct policy *policy = target;
    struct policy_list list = {0};

    if (decode_list(d, value, &list) < 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        const char *item = list.items[i];
        bool annotation =
            strncmp(item, prefix, sizeof(prefix) - 1) == 0 && item[sizeof(prefix) - 1];
        if (!annotation && strcmp(item, "process") != 0 && strcmp(item, "rootless") != 0)
            return decode_fail(d, value->items[i],
                               "'%s': expected \"process\", \"rootless\" or \"annotation:KEY\"",
                               item);
    }
    policy->identity = list;
    return 0;
}

static int read_opt_out(struct decoder *d, const struct json *value, void *target)
{
    struct policy *policy = target;
    int what;

    if (decode_type(d, value, JSON_ARRAY) < 0)
        return -1;
    policy->opt_out = 0;
    for (size_t i = 0; i < value->len; i++) {
        if (decode_choice(d, value->items[i], policy_opt_out_names, POLICY_OPT_OUTS, &what) < 0)
            return -1;
        policy->opt_out |= 1u << what;
    }
    return 0;
}

static const struct decode_key sections[] = {
    {"version", read_already},   {"mode", read_already},        {"runtime", read_already},
    {"requests", read_requests}, {"identity", read_identity},   {"volumes", decode_volumes},
    {"binds", decode_binds},     {"security", decode_security}, {"tuning", decode_tuning},
    {"rootfs", decode_rootfs},   {"user", decode_user},         {"opt_out", read_opt_out},
    {"profiles", read_already}, /* read after all others, which it overrides */
    {"audit", read_already},     {"gpus", decode_gpus},         {"warm", decode_warm},
};

enum { SECTIONS = sizeof(sections) / sizeof(*sections) };

int decode_sections(struct decoder *d)
{
    return decode_object(d, json_root(d->file->doc), sections, SECTIONS, d->policy);
}

int decode_override(struct decoder *d, const struct json_member *m)
{
    static const struct decode_key before[] = {{"mode", decode_mode}, {"audit", decode_audit}};

    for (size_t i = 0; i < 2; i++)
        if (json_member_is(m, before[i].name))
            return before[i].read(d, m->value, d->policy);
    return decode_member(d, m, sections, SECTIONS, d->policy);
}

int decode_check(struct policy *policy, struct err *err)
{
    if (policy->audit.file.text || policy->audit.syslog)
        policy->uses_identity = true;
    return decode_volumes_check(policy, err);
}

/* The top of the policy: everything but the sections that have a source of their own. */
#include "shim/policy/policy_decode.h"

#include <string.h>

/* ---- version, mode, runtime: read even where the rest is wrong ---- */

static int read_version(struct decoder *d, const struct json *value, void *target)
{
    uint64_t version;

    (void)target;
    if (decode_type(d, value, JSON_NUMBER) < 0)
        return -1;
    if (!json_u64(value, &version) || version != 1)
        return decode_fail(d, value, "version %s: this program knows version 1", value->text);
    return 0;
}

static int read_mode(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {"enforce", "permissive", "off"};
    struct policy *policy = target;
    int mode;

    if (decode_choice(d, value, names, 3, &mode) < 0)
        return -1;
    policy->mode = (enum policy_mode)mode;
    return 0;
}

static int read_paths(struct decoder *d, const struct json *value, void *target)
{
    struct policy *policy = target;
    struct policy_list list = {0};

    if (decode_list(d, value, &list) < 0)
        return -1;
    if (list.count == 0)
        return decode_fail(d, value, "no runtime is named");
    for (size_t i = 0; i < list.count; i++)
        if (strchr(list.items[i], '/') && list.items[i][0] != '/')
            return decode_fail(d, value->items[i], "'%s' is neither absolute nor a bare name",
                               list.items[i]);
    policy->runtime_paths = list;
    return 0;
}

static int read_flavor(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {"auto", "runc", "crun"};
    struct policy *policy = target;
    int flavor;

    if (decode_choice(d, value, names, 3, &flavor) < 0)
        return -1;
    policy->flavor = (enum lowlevel_flavor)flavor;
    return 0;
}

static int read_runtime(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {{"paths", read_paths}, {"flavor", read_flavor}};

    return decode_object(d, value, keys, 2, target);
}

static int read_if_given(struct decoder *d, const char *key, decode_fn *read)
{
    const struct json *value = json_get(json_root(d->file->doc), key);

    return value ? read(d, value, d->policy) : 0;
}

int decode_header(struct decoder *d)
{
    const struct json *root = json_root(d->file->doc);

    if (decode_type(d, root, JSON_OBJECT) < 0)
        return -1;
    if (!json_get(root, "version"))
        return decode_fail(d, root, "there is no \"version\": 1");
    if (read_if_given(d, "version", read_version) < 0)
        return -1;
    if (read_if_given(d, "runtime", read_runtime) < 0)
        return -1;
    return read_if_given(d, "mode", read_mode);
}

/* ---- the rest ---- */

/* What was read before the rest. */
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

static const struct decode_key root_keys[] = {
    {"version", read_already},
    {"mode", read_already},
    {"runtime", read_already},
    {"requests", read_requests},
    {"identity", read_identity},
    {"volumes", decode_volumes},
    {"binds", decode_binds},
    {"security", decode_security},
    {"tuning", decode_tuning},
    {"rootfs", decode_rootfs},
    {"opt_out", read_opt_out},
    {"profiles", read_already}, /* later, in fact: each overrides all the others */
    {"audit", read_already},
};

enum { ROOT_KEYS = sizeof(root_keys) / sizeof(*root_keys) };

int decode_override(struct decoder *d, const struct json_member *m)
{
    static const struct decode_key before[] = {{"mode", read_mode}, {"audit", decode_audit}};

    for (size_t i = 0; i < 2; i++)
        if (strcmp(m->key, before[i].name) == 0)
            return before[i].read(d, m->value, d->policy);
    return decode_member(d, m, root_keys, ROOT_KEYS, d->policy);
}

int decode_check(struct policy *policy, struct err *err)
{
    if (policy->audit.file.text || policy->audit.syslog)
        policy->uses_identity = true;
    return decode_volumes_check(policy, err);
}

/* A key of every file that has it, in their order. */
static int read_from_all(struct policy *policy, const char *key, decode_fn *read, struct err *err)
{
    for (size_t i = 0; i < policy->file_count; i++) {
        struct decoder d = {.policy = policy, .file = &policy->files[i], .err = err};
        if (read_if_given(&d, key, read) < 0)
            return -1;
    }
    return 0;
}

int policy_decode(struct policy *policy, struct err *err)
{
    if (read_from_all(policy, "audit", decode_audit, err) < 0) {
        decode_audit_defaults(&policy->audit);
        return -1;
    }
    for (size_t i = 0; i < policy->file_count; i++) {
        struct decoder d = {.policy = policy, .file = &policy->files[i], .err = err};
        if (decode_object(&d, json_root(d.file->doc), root_keys, ROOT_KEYS, policy) < 0)
            return -1;
    }
    if (decode_check(policy, err) < 0)
        return -1;
    return read_from_all(policy, "profiles", decode_profiles, err);
}

/* The top of the policy: everything but the sections that have a source of their own. */
#include "shim/policy_decode.h"

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
    policy->flavor = (enum call_flavor)flavor;
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

static int read_header_again(struct decoder *d, const struct json *value, void *target)
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

static const struct decode_key root_keys[] = {
    {"version", read_header_again},
    {"mode", read_header_again},
    {"runtime", read_header_again},
    {"requests", read_requests},
    {"identity", read_identity},
    {"volumes", decode_volumes},
    {"binds", decode_binds},
    {"security", decode_security},
    {"tuning", decode_tuning},
    {"rootfs", decode_rootfs},
    {"profiles", NULL},
    {"audit", NULL},
};

int policy_decode(struct policy *policy, struct err *err)
{
    for (size_t i = 0; i < policy->file_count; i++) {
        struct decoder d = {.policy = policy, .file = &policy->files[i], .err = err};
        if (decode_object(&d, json_root(d.file->doc), root_keys,
                          sizeof(root_keys) / sizeof(*root_keys), policy) < 0)
            return -1;
    }
    return decode_volumes_check(policy, err);
}

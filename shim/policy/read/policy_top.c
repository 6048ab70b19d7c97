/* The order in which a policy is read: version, runtime and mode first, profiles last. */
#include "shim/policy/read/policy_order.h"
#include "shim/policy/read/policy_read.h"
#include "shim/policy/read/sections/policy_sections.h"

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
    return read_if_given(d, "mode", decode_mode);
}

/* ---- the rest ---- */

/* Reads one key of every file that has it, in the order of the files. */
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
        policy_audit_defaults(&policy->audit);
        return -1;
    }
    for (size_t i = 0; i < policy->file_count; i++) {
        struct decoder d = {.policy = policy, .file = &policy->files[i], .err = err};
        if (decode_sections(&d) < 0)
            return -1;
    }
    if (decode_check(policy, err) < 0)
        return -1;
    return read_from_all(policy, "profiles", decode_profiles, err);
}

/* The "gpus" section. */
#include "shim/gpu/gpu_name.h"
#include "shim/policy/read/sections/sections.h"

#include <string.h>

enum { MOST_GPUS = 4096 };

/* `false` takes back a key that an earlier file, or the policy of a profile, set. */
static bool takes_back(const struct json *value)
{
    return value->type == JSON_BOOL && !value->boolean;
}

static int read_max(struct decoder *d, const struct json *value, void *target)
{
    struct policy_gpus *gpus = target;

    gpus->limited = !takes_back(value);
    gpus->max_place = decode_place(d, value);
    if (!gpus->limited)
        return 0;
    if (decode_type(d, value, JSON_NUMBER) < 0)
        return -1;
    if (!json_u64(value, &gpus->max) || gpus->max > MOST_GPUS)
        return decode_fail(d, value, "%.32s: expected a number of GPUs, 0 to %d", value->text,
                           MOST_GPUS);
    return 0;
}

/* True for "0", "0-3", and for globs of UUIDs and of MIG devices by numbers. */
static bool is_device(const char *item)
{
    unsigned first, last;
    size_t digits = strspn(item, "0123456789");

    if (digits && item[digits] == ':')
        return item[digits + 1] != '\0';
    if (digits)
        return gpu_name_range(item, &first, &last);
    return strncmp(item, "GPU-", 4) == 0 || strncmp(item, "MIG-", 4) == 0;
}

static int read_devices(struct decoder *d, const struct json *value, void *target)
{
    struct policy_gpus *gpus = target;

    if (takes_back(value)) {
        gpus->devices = (struct policy_list){0};
        return 0;
    }
    if (decode_list(d, value, &gpus->devices) < 0)
        return -1;
    for (size_t i = 0; i < value->len; i++)
        if (!is_device(gpus->devices.items[i]))
            return decode_fail(d, value->items[i],
                               "'%.80s': expected a number or range such as \"0-3\", \"1:0\", or "
                               "a glob that begins with GPU- or MIG-",
                               gpus->devices.items[i]);
    return 0;
}

static int read_all(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {"deny", "allow"};
    struct policy_gpus *gpus = target;
    int allow;

    if (decode_choice(d, value, names, 2, &allow) < 0)
        return -1;
    gpus->allow_all = allow;
    gpus->all_place = decode_place(d, value);
    return 0;
}

/* True for a list of names such as "0,1", each of a certain GPU. */
static bool is_list(struct decoder *d, const char *text)
{
    struct gpu_name name;

    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        if (!gpu_name_parse(at, len, &d->policy->arena, &name) || name.kind < GPU_NAME_INDEX)
            return false;
        at += len;
        if (!*at)
            return true;
    }
}

static int read_default(struct decoder *d, const struct json *value, void *target)
{
    struct policy_gpus *gpus = target;

    if (decode_text(d, value, &gpus->names) < 0)
        return -1;
    gpus->fallback_place = gpus->names.place;
    gpus->fallback = GPUS_LISTED;
    if (strcmp(gpus->names.text, "none") == 0)
        gpus->fallback = GPUS_NONE;
    else if (strcmp(gpus->names.text, "deny") == 0)
        gpus->fallback = GPUS_REFUSE;
    else if (!is_list(d, gpus->names.text))
        return decode_fail(d, value,
                           "'%.80s': expected \"none\", \"deny\", or GPUs such as \"0,1\"",
                           gpus->names.text);
    return 0;
}

int decode_gpus(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"max", read_max}, {"devices", read_devices}, {"all", read_all}, {"default", read_default}};
    struct policy *policy = target;

    if (!policy->gpus.given)
        policy->gpus.place = decode_place(d, value);
    policy->gpus.given = true;
    return decode_object(d, value, keys, sizeof(keys) / sizeof(*keys), &policy->gpus);
}

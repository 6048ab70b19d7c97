/* The "rootfs" section. */
#include "shim/policy/read/sections/sections.h"

enum { MOST_LAYERS = 500 }; /* OVL_MAX_STACK, the kernel's limit */

static int read_max_depth(struct decoder *d, const struct json *value, void *target)
{
    struct policy_rootfs *rootfs = target;

    if (decode_type(d, value, JSON_NUMBER) < 0)
        return -1;
    if (!json_u64(value, &rootfs->max_depth) || rootfs->max_depth < 1 ||
        rootfs->max_depth > MOST_LAYERS)
        return decode_fail(d, value, "%.32s: expected a number of layers, 1 to %d", value->text,
                           MOST_LAYERS);
    rootfs->place = decode_place(d, value);
    return 0;
}

static int read_beyond(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {
        [BEYOND_WARN] = "warn", [BEYOND_DENY] = "deny", [BEYOND_RESTACK] = "restack"};
    struct policy_rootfs *rootfs = target;
    int beyond;

    if (decode_choice(d, value, names, 3, &beyond) < 0)
        return -1;
    rootfs->beyond = (enum policy_beyond)beyond;
    if (!rootfs->max_depth)
        rootfs->place = decode_place(d, value);
    return 0;
}

static int read_cache(struct decoder *d, const struct json *value, void *target)
{
    struct policy_rootfs *rootfs = target;

    return decode_path(d, value, &rootfs->cache);
}

int decode_rootfs(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"max_depth", read_max_depth}, {"beyond", read_beyond}, {"cache", read_cache}};
    struct policy *policy = target;

    return decode_object(d, value, keys, 3, &policy->rootfs);
}

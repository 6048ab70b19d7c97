#include "shim/oci/device.h"

#include <string.h>

struct json *device_nodes(const struct spec *spec)
{
    return json_path(spec->root, "linux", "devices", NULL);
}

struct json *device_rules(const struct spec *spec)
{
    return json_path(spec->root, "linux", "resources", "devices", NULL);
}

int64_t device_part(const struct json *device, const char *key)
{
    int64_t number;

    return json_i64(json_get(device, key), &number) ? number : -1;
}

bool device_rule_allows(const struct json *rule)
{
    return json_true(json_get(rule, "allow"));
}

bool device_rule_counts(const struct json *rule)
{
    const char *access = json_text(json_get(rule, "access"));

    if (!access || !*access)
        return true;
    if (device_rule_allows(rule))
        return strpbrk(access, "rw") != NULL;
    return strchr(access, 'r') && strchr(access, 'w');
}

#include "shim/gpu/gpu_nodes.h"

#include "shim/oci/device.h"

#include <string.h>

/* ---- devices and rules ---- */

/* True for a block device, or a FIFO: everything else can be one of NVIDIA's. */
static bool is_other(const struct json *device)
{
    const char *type = json_text(json_get(device, "type"));

    return type && (strcmp(type, "b") == 0 || strcmp(type, "p") == 0);
}

/* True for type "a", and for none. cgroup v1 ignores the numbers of such a rule. */
static bool is_for_all_types(const struct json *rule)
{
    const char *type = json_text(json_get(rule, "type"));

    return !type || !*type || strcmp(type, "a") == 0;
}

/* True for a rule on all character devices. */
static bool rule_is_general(const struct json *rule)
{
    return is_for_all_types(rule) ||
           (!is_other(rule) && device_part(rule, "major") < 0 && device_part(rule, "minor") < 0);
}

/* True unless the last rule for all character devices takes them away. */
static bool allows_everything(const struct spec *spec)
{
    const struct json *rules = device_rules(spec);
    bool all = true;

    for (size_t i = 0; i < json_count(rules); i++)
        if (rule_is_general(json_at(rules, i)) && device_rule_counts(json_at(rules, i)))
            all = device_rule_allows(json_at(rules, i));
    return all;
}

/* ---- finding ---- */

static int add_number(unsigned **list, size_t *count, unsigned number, struct arena *arena,
                      struct err *err)
{
    for (size_t i = 0; i < *count; i++)
        if ((*list)[i] == number)
            return 0;
    *list = arena_extend(arena, *list, *count, sizeof(**list));
    if (!*list)
        return err_nomem(err);
    (*list)[(*count)++] = number;
    return 0;
}

int gpu_nodes_add(struct gpu_nodes *nodes, const struct gpu_host *host, int64_t major,
                  int64_t minor, struct arena *arena, struct err *err)
{
    if (!gpu_host_owns(host, false, major))
        return 0;
    nodes->used = true;
    if (major != host->uvm && minor < 0)
        nodes->all = "a rule gives it all nodes of NVIDIA's driver";
    if (minor < 0 || minor > UINT32_MAX)
        return 0;
    if (major == GPU_MAJOR && minor <= GPU_MINOR_MOST)
        return add_number(&nodes->cards, &nodes->card_count, (unsigned)minor, arena, err);
    if (major == host->caps)
        return add_number(&nodes->rights, &nodes->right_count, (unsigned)minor, arena, err);
    return 0;
}

static int add_rule(struct gpu_nodes *nodes, const struct gpu_host *host, const struct json *rule,
                    struct arena *arena, struct err *err)
{
    int64_t major = device_part(rule, "major"), minor = device_part(rule, "minor");

    if (!device_rule_allows(rule) || !device_rule_counts(rule) || is_other(rule) ||
        rule_is_general(rule))
        return 0;
    if (major < 0) { /* that minor number of every driver */
        nodes->all = "a rule gives it devices of every driver";
        major = GPU_MAJOR;
    }
    return gpu_nodes_add(nodes, host, major, minor, arena, err);
}

int gpu_nodes_find(const struct spec *spec, const struct gpu_host *host, struct arena *arena,
                   struct gpu_nodes *out, struct err *err)
{
    const struct json *devices = device_nodes(spec);
    const struct json *rules = device_rules(spec);

    *out = (struct gpu_nodes){0};
    if (allows_everything(spec))
        out->all = "it may use all devices of this host";
    for (size_t i = 0; i < json_count(devices); i++) {
        const struct json *device = json_at(devices, i);
        if (!is_other(device) && gpu_nodes_add(out, host, device_part(device, "major"),
                                               device_part(device, "minor"), arena, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < json_count(rules); i++)
        if (add_rule(out, host, json_at(rules, i), arena, err) < 0)
            return -1;
    return 0;
}

/* ---- taking out ---- */

static bool is_kept(int64_t minor, const unsigned *keep, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (minor == keep[i])
            return true;
    return false;
}

static void strip_list(struct json *list, const struct gpu_host *host, const unsigned *keep,
                       size_t keep_count, bool rules)
{
    for (size_t i = json_count(list); i > 0; i--) {
        const struct json *item = json_at(list, i - 1);
        int64_t major = device_part(item, "major"), minor = device_part(item, "minor");
        bool gpu = major == GPU_MAJOR && minor <= GPU_MINOR_MOST;

        if (is_other(item) || (rules && !device_rule_allows(item)) ||
            !gpu_host_owns(host, false, major))
            continue;
        if (keep_count
                ? (gpu || major == host->caps) && !is_kept(gpu ? minor : -1, keep, keep_count)
                : true)
            json_remove_at(list, i - 1);
    }
}

void gpu_nodes_strip(const struct spec *spec, const struct gpu_host *host, const unsigned *keep,
                     size_t keep_count)
{
    strip_list(device_nodes(spec), host, keep, keep_count, false);
    strip_list(device_rules(spec), host, keep, keep_count, true);
}

#include "shim/apply/apply_parts.h"
#include "shim/gather/security/security_devices.h"
#include "shim/oci/device.h"
#include "shim/privilege/capability.h"

#include <string.h>

static void put_filter(struct json_doc *doc, const struct spec *spec, struct json *profile)
{
    struct json *object = json_get(spec->root, "linux");

    if (!json_is(object, JSON_OBJECT))
        object = json_set(doc, spec->root, "linux", json_object(doc));
    json_set(doc, object, "seccomp", profile);
}

static struct json *add_rule(struct json_doc *doc, struct json *rules, bool allow)
{
    struct json *rule = json_object(doc);

    json_set(doc, rule, "allow", json_bool(doc, allow));
    json_set(doc, rule, "access", json_string(doc, "rwm"));
    return json_append(doc, rules, rule);
}

/* Allows a node of linux.devices. A rule has "c" for what a node may call "u". */
static void allow_node(struct json_doc *doc, struct json *rules, const struct json *node)
{
    static const char *const numbers[] = {"major", "minor"};
    const char *type = json_text(json_get(node, "type"));

    if (!type || strcmp(type, "p") == 0)
        return;
    struct json *rule = add_rule(doc, rules, true);
    json_set(doc, rule, "type", json_string(doc, strcmp(type, "u") == 0 ? "c" : type));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        json_set(doc, rule, numbers[i], json_copy(doc, json_get(node, numbers[i])));
}

/* Forbids all devices but those in linux.devices, which were judged, and those that the low-level
 * runtime allows by itself. */
static void put_device_rules(struct json_doc *doc, const struct spec *spec)
{
    struct json *object = json_get(spec->root, "linux");
    const struct json *nodes = json_get(object, "devices");
    struct json *resources = json_get(object, "resources");

    if (!json_is(resources, JSON_OBJECT))
        resources = json_set(doc, object, "resources", json_object(doc));
    struct json *rules = json_set(doc, resources, "devices", json_array(doc));
    add_rule(doc, rules, false);
    for (size_t i = 0; i < json_count(nodes); i++)
        allow_node(doc, rules, json_at(nodes, i));
}

static void take_console(const struct spec *spec)
{
    struct json *rules = device_rules(spec);

    for (size_t i = json_count(rules); i > 0; i--)
        if (security_rule_is_console(json_at(rules, i - 1)))
            json_remove_at(rules, i - 1);
}

static void take_groups(const struct plan_own_groups *groups, const struct spec *spec)
{
    for (size_t i = 0; i < groups->count; i++)
        (void)spec_take_group(spec->process, groups->list[i]);
}

static void join_held(const struct plan *plan, struct json_doc *doc)
{
    for (size_t i = 0; i < plan->joined_count; i++)
        json_set(doc, plan->joined[i].entry, "path", json_string(doc, plan->joined[i].hold));
}

void apply_security(const struct decision *decision, struct json_doc *doc, const struct spec *spec)
{
    if (decision->holds_namespaces)
        join_held(decision->plan, doc);
    for (size_t i = 0; i < decision->count; i++) {
        const struct plan_op *op = decision->list[i].op;
        if (op->kind == PLAN_CAPABILITIES)
            capability_keep(spec->process, op->capabilities);
        else if (op->kind == PLAN_PRIVILEGES)
            json_set(doc, spec->process, "noNewPrivileges", json_bool(doc, true));
        else if (op->kind == PLAN_FILTER)
            put_filter(doc, spec, op->profile);
        else if (op->kind == PLAN_OWN_GROUPS)
            take_groups(&op->own_groups, spec);
        else if (op->kind == PLAN_CONSOLE)
            take_console(spec);
        else if (op->kind == PLAN_DEVICES)
            put_device_rules(doc, spec);
    }
}

#include "shim/runtime/apply/apply_parts.h"

#include <string.h>

static bool is_option(const struct json *item, const char *name)
{
    const char *text = json_text(item);

    return text && strcmp(text, name) == 0;
}

static void remove_option(struct json *list, const char *name)
{
    for (size_t i = json_count(list); i > 0; i--)
        if (is_option(json_at(list, i - 1), name))
            json_remove_at(list, i - 1);
}

/* Adds an option and removes its opposite, with and without "r", whatever their order was. */
static void put_option(struct json_doc *doc, struct json *list, const char *name,
                       const char *opposite)
{
    char recursive[16];

    snprintf(recursive, sizeof(recursive), "r%s", opposite);
    remove_option(list, opposite);
    remove_option(list, recursive);
    for (size_t i = 0; i < json_count(list); i++)
        if (is_option(json_at(list, i), name))
            return;
    json_append(doc, list, json_string(doc, name));
}

static void restrict_options(const struct plan_op *op, struct json_doc *doc)
{
    struct json *list = json_get(op->entry, "options");

    if (!json_is(list, JSON_ARRAY))
        list = json_set(doc, op->entry, "options", json_array(doc));
    if (op->alone)
        put_option(doc, list, "bind", "rbind");
    if (op->access == ACCESS_RO)
        put_option(doc, list, "ro", "rw");
    for (size_t i = 0; op->rule && i < op->rule->options.count; i++) {
        const char *name = op->rule->options.items[i];
        put_option(doc, list, name, name + strlen("no"));
    }
}

void apply_binds(const struct plan *plan, struct json_doc *doc)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_op *op = &plan->ops[i];
        if (op->kind != PLAN_BIND)
            continue;
        if (op->verdict == PLAN_DOWNGRADED)
            restrict_options(op, doc);
        if (op->hold)
            json_set(doc, op->entry, "source", json_string(doc, op->hold));
    }
}

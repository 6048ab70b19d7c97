#include "shim/apply/apply_parts.h"

#include "shim/plan/mount_restriction.h"

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

/* Adds a restriction and removes the options that undo it, whatever their order was. */
static void put_restriction(struct json_doc *doc, struct json *list, const char *option)
{
    const struct mount_restriction *r = mount_restriction_find(option);

    remove_option(list, r->opposite);
    if (r->recursive_opposite)
        remove_option(list, r->recursive_opposite);
    if (!spec_has_option(list, option))
        json_append(doc, list, json_string(doc, option));
}

/* Leaves out what is mounted below the source after the launch. */
static void put_private(struct json_doc *doc, struct json *list)
{
    const char *option = spec_has_option(list, "rbind") ? "rprivate" : "private";

    for (size_t i = 0; i < MOUNT_PROPAGATIONS; i++) {
        remove_option(list, mount_propagations[i].recursive);
        remove_option(list, mount_propagations[i].alone);
    }
    json_append(doc, list, json_string(doc, option));
}

/* Leaves out what is mounted below the source. */
static void put_alone(struct json_doc *doc, struct json *list)
{
    for (size_t i = 0; i < MOUNT_PROPAGATIONS; i++) {
        const struct mount_propagation *p = &mount_propagations[i];
        if (!spec_has_option(list, p->recursive))
            continue;
        remove_option(list, p->recursive);
        if (!spec_has_option(list, p->alone))
            json_append(doc, list, json_string(doc, p->alone));
    }
    put_restriction(doc, list, "bind");
}

static void restrict_options(const struct plan_bind *b, struct json_doc *doc)
{
    struct json *list = json_get(b->entry, "options");

    if (!json_is(list, JSON_ARRAY))
        list = json_set(doc, b->entry, "options", json_array(doc));
    if (b->is_private)
        put_private(doc, list);
    if (b->alone)
        put_alone(doc, list);
    if (b->access == ACCESS_RO)
        put_restriction(doc, list, "ro");
    for (size_t i = 0; b->rule && i < b->rule->options.count; i++)
        put_restriction(doc, list, b->rule->options.items[i]);
}

void apply_binds(const struct decision *decision, struct json_doc *doc)
{
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        if (o->op->kind != PLAN_BIND)
            continue;
        if (o->verdict == PLAN_DOWNGRADED)
            restrict_options(&o->op->bind, doc);
        if (o->hold)
            json_set(doc, o->op->bind.entry, "source", json_string(doc, o->hold));
    }
}

#include "shim/apply.h"

#include "base/path.h"
#include "shim/mount_entry.h"

#include <string.h>

/* ---- one entry of `mounts` ---- */

static struct json *mount_options(const struct plan_op *op, struct json_doc *doc)
{
    struct json *list = json_array(doc);
    const char *option;

    for (size_t i = 0; (option = mount_entry_option(op, i)) && !json_failed(doc); i++)
        json_append(doc, list, json_string(doc, option));
    return list;
}

static struct json *mount_entry(const struct plan_op *op, struct json_doc *doc)
{
    struct json *entry = json_object(doc);

    json_set(doc, entry, "destination", json_string(doc, op->target));
    json_set(doc, entry, "type", json_string(doc, "bind"));
    json_set(doc, entry, "source", json_string(doc, op->source));
    json_set(doc, entry, "options", mount_options(op, doc));
    return entry;
}

/* ---- where it goes ---- */

/* Destinations of the growing array: the container's own ones, and those added. */
struct order {
    const char **list;
    size_t count;
};

static bool strictly_beneath(const char *path, const char *dir)
{
    return path_is_beneath(path, dir) && strcmp(path, dir) != 0;
}

static size_t place_for(const struct order *o, const char *target)
{
    size_t after = 0;

    for (size_t i = 0; i < o->count; i++)
        if (path_is_beneath(target, o->list[i]))
            after = i + 1;
    for (size_t i = after; i < o->count; i++)
        if (strictly_beneath(o->list[i], target))
            return i;
    return o->count;
}

static void order_insert(struct order *o, size_t at, const char *target)
{
    memmove(o->list + at + 1, o->list + at, (o->count - at) * sizeof(*o->list));
    o->list[at] = target;
    o->count++;
}

static int order_init(struct order *o, const struct plan *plan, const struct spec *spec,
                      struct err *err)
{
    o->list = calloc(spec->mount_count + plan->count + 1, sizeof(*o->list));
    if (!o->list)
        return err_nomem(err);
    for (size_t i = 0; i < spec->mount_count; i++)
        o->list[o->count++] = spec->list[i].destination;
    return 0;
}

/* ---- all of it ---- */

static struct json *list_of(struct json_doc *doc, struct json *object, const char *key)
{
    struct json *list = json_get(object, key);

    if (json_is(list, JSON_ARRAY))
        return list;
    return json_set(doc, object, key, json_array(doc));
}

static int add_mounts(const struct plan *plan, struct json_doc *doc, const struct spec *spec,
                      struct err *err)
{
    struct order order = {0};

    if (order_init(&order, plan, spec, err) < 0)
        return -1;
    _cleanup_free_ const char **destinations = order.list;
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_op *op = &plan->ops[i];
        if (op->kind != PLAN_MOUNT || op->verdict != PLAN_ADDED)
            continue;
        size_t at = place_for(&order, op->target);
        json_insert(doc, list_of(doc, spec->root, "mounts"), at, mount_entry(op, doc));
        order_insert(&order, at, op->target);
    }
    (void)destinations;
    return 0;
}

static int add_variables(const struct plan *plan, struct json_doc *doc, const struct spec *spec,
                         struct err *err)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_op *op = &plan->ops[i];
        if (op->kind != PLAN_ENV || op->verdict != PLAN_ADDED)
            continue;
        _cleanup_free_ char *text = strf("%s=%s", op->variable, op->value);
        if (!text)
            return err_nomem(err);
        json_append(doc, list_of(doc, spec->process, "env"), json_string(doc, text));
    }
    return 0;
}

int apply_plan(const struct plan *plan, struct json_doc *doc, const struct spec *spec,
               struct err *err)
{
    if (add_mounts(plan, doc, spec, err) < 0 || add_variables(plan, doc, spec, err) < 0)
        return -1;
    return json_failed(doc) ? err_nomem(err) : 0;
}

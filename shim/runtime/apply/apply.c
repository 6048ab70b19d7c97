#include "shim/runtime/apply/apply.h"

#include "base/path.h"
#include "shim/plan/mount_entry.h"
#include "shim/runtime/apply/apply_parts.h"

#include <string.h>

/* ---- the order of mounts ---- */

/* Destinations in the growing array of mounts: those of config.json, and those added. */
struct order {
    const char **list;
    size_t count;
};

static void order_free(struct order *o)
{
    free(o->list);
}

#define _cleanup_order_ _cleanup_(order_free)

static bool is_strictly_beneath(const char *path, const char *dir)
{
    return path_is_beneath(path, dir) && strcmp(path, dir) != 0;
}

static size_t order_place(const struct order *o, const char *target)
{
    size_t after = 0;

    for (size_t i = 0; i < o->count; i++)
        if (path_is_beneath(target, o->list[i]))
            after = i + 1;
    for (size_t i = after; i < o->count; i++)
        if (is_strictly_beneath(o->list[i], target))
            return i;
    return o->count;
}

static void order_insert(struct order *o, size_t at, const char *target)
{
    memmove(o->list + at + 1, o->list + at, (o->count - at) * sizeof(*o->list));
    o->list[at] = target;
    o->count++;
}

static int order_init(struct order *o, const struct decision *decision, const struct spec *spec,
                      struct err *err)
{
    const struct requests *requests = decision->plan->requests;
    size_t out = 0;

    o->list = calloc(spec->mount_count + decision->count + 1, sizeof(*o->list));
    if (!o->list)
        return err_nomem(err);
    for (size_t i = 0; i < spec->mount_count; i++)
        if (requests && out < requests->mount_count && requests->mounts[out] == i)
            out++;
        else
            o->list[o->count++] = spec->list[i].destination;
    return 0;
}

/* ---- the whole plan ---- */

static void remove_requests(const struct requests *requests, struct json_doc *doc,
                            const struct spec *spec)
{
    struct json *annotations = json_get(spec->root, "annotations");

    for (size_t i = requests->mount_count; i > 0; i--)
        json_remove_at(spec->mounts, requests->mounts[i - 1]);
    if (!requests->remembered)
        return;
    if (!json_is(annotations, JSON_OBJECT))
        annotations = json_set(doc, spec->root, "annotations", json_object(doc));
    json_set(doc, annotations, request_remembered, json_string(doc, requests->remembered));
}

static int add_mounts(const struct decision *decision, struct json_doc *doc,
                      const struct spec *spec, struct err *err)
{
    _cleanup_order_ struct order order = {0};

    if (order_init(&order, decision, spec, err) < 0)
        return -1;
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        const struct plan_mount *m = &o->op->mount;
        if (o->op->kind != PLAN_MOUNT || o->verdict != PLAN_ADDED)
            continue;
        size_t at = order_place(&order, m->target);
        json_insert(doc, json_list(doc, spec->root, "mounts"), at,
                    mount_entry_make(m, &o->mount, doc, spec));
        order_insert(&order, at, m->target);
    }
    return 0;
}

static int add_variables(const struct decision *decision, struct json_doc *doc,
                         const struct spec *spec, struct err *err)
{
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        const struct plan_variable *v = &o->op->variable;
        if (o->op->kind != PLAN_ENV || o->verdict != PLAN_ADDED)
            continue;
        _cleanup_free_ char *text = strf("%s=%s", v->name, v->value);
        if (!text)
            return err_nomem(err);
        json_append(doc, json_list(doc, spec->process, "env"), json_string(doc, text));
    }
    return 0;
}

int apply_decision(const struct decision *decision, struct json_doc *doc, const struct spec *spec,
                   struct err *err)
{
    apply_binds(decision, doc);
    apply_security(decision, doc, spec);
    apply_gpus(decision, doc, spec);
    apply_tuning(decision, doc, spec);
    if (decision->plan->requests)
        remove_requests(decision->plan->requests, doc, spec);
    if (add_mounts(decision, doc, spec, err) < 0 || add_variables(decision, doc, spec, err) < 0)
        return -1;
    return json_failed(doc) ? err_nomem(err) : 0;
}

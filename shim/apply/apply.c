#include "shim/apply/apply.h"

#include "base/path.h"
#include "shim/apply/apply_parts.h"
#include "shim/plan/mount_entry.h"

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

/* Returns true for a mount that is a request, or that an earlier edit made and this one does not
 * keep. */
static bool is_taken_out(const struct decision *decision, const struct spec_mount *mount,
                         size_t index)
{
    const struct requests *requests = decision->plan->requests;

    for (size_t i = 0; requests && i < requests->mount_count; i++)
        if (requests->mounts[i] == index)
            return true;
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        if (o->op->kind == PLAN_MOUNT && o->op->mount.earlier == mount && o->verdict != PLAN_KEPT)
            return true;
    }
    return false;
}

static int order_init(struct order *o, const struct decision *decision, const struct spec *spec,
                      struct err *err)
{
    o->list = calloc(spec->mount_count + decision->count + 1, sizeof(*o->list));
    if (!o->list)
        return err_nomem(err);
    for (size_t i = 0; i < spec->mount_count; i++)
        if (!is_taken_out(decision, &spec->list[i], i))
            o->list[o->count++] = spec->list[i].destination;
    return 0;
}

/* ---- the whole plan ---- */

static void remove_mounts(const struct decision *decision, const struct spec *spec)
{
    for (size_t i = spec->mount_count; i > 0; i--)
        if (is_taken_out(decision, &spec->list[i - 1], i - 1))
            json_remove_at(spec->mounts, i - 1);
}

static void remember_requests(const struct requests *requests, struct json_doc *doc,
                              const struct spec *spec)
{
    struct json *annotations = json_get(spec->root, "annotations");

    if (!requests->remembered)
        return;
    if (!json_is(annotations, JSON_OBJECT))
        annotations = json_set(doc, spec->root, "annotations", json_object(doc));
    json_set(doc, annotations, request_remembered, json_string(doc, requests->remembered));
}

/* Returns the target of a mount that is to be added; NULL for another operation. */
static const char *added_target(const struct outcome *o)
{
    if (o->verdict != PLAN_ADDED)
        return NULL;
    return o->op->kind == PLAN_MOUNT  ? o->op->mount.target
           : o->op->kind == PLAN_FILE ? o->op->file.target
                                      : NULL;
}

static struct json *make_entry(const struct outcome *o, struct json_doc *doc,
                               const struct spec *spec)
{
    return o->op->kind == PLAN_FILE ? mount_entry_make_file(&o->op->file, doc)
                                    : mount_entry_make(&o->op->mount, &o->mount, doc, spec);
}

static int add_mounts(const struct decision *decision, struct json_doc *doc,
                      const struct spec *spec, struct err *err)
{
    _cleanup_order_ struct order order = {0};

    if (order_init(&order, decision, spec, err) < 0)
        return -1;
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        const char *target = added_target(o);
        if (!target)
            continue;
        size_t at = order_place(&order, target);
        json_insert(doc, json_list(doc, spec->root, "mounts"), at, make_entry(o, doc, spec));
        order_insert(&order, at, target);
    }
    return 0;
}

/* Removes a variable that an earlier edit added. */
static void remove_variable(const struct spec *spec, const char *text)
{
    for (size_t i = json_count(spec->env); i > 0; i--) {
        const char *other = json_text(json_at(spec->env, i - 1));
        if (other && strcmp(other, text) == 0)
            json_remove_at(spec->env, i - 1);
    }
}

static int set_variables(const struct decision *decision, struct json_doc *doc,
                         const struct spec *spec, struct err *err)
{
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        const struct plan_variable *v = &o->op->variable;
        bool gone = o->op->kind == PLAN_ENV && o->verdict == PLAN_SKIPPED && v->same;
        if (o->op->kind != PLAN_ENV || (o->verdict != PLAN_ADDED && !gone))
            continue;
        _cleanup_free_ char *text = strf("%s=%s", v->name, v->value);
        if (!text)
            return err_nomem(err);
        if (gone)
            remove_variable(spec, text);
        else
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
    apply_groups(decision, doc, spec);
    remove_mounts(decision, spec);
    if (decision->plan->requests)
        remember_requests(decision->plan->requests, doc, spec);
    if (add_mounts(decision, doc, spec, err) < 0 || set_variables(decision, doc, spec, err) < 0)
        return -1;
    return json_failed(doc) ? err_nomem(err) : 0;
}

/* ---- the same, foreseen ---- */

/* Returns true if the mount becomes read-only. */
static bool is_restricted(const struct decision *decision, const struct spec_mount *mount)
{
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        if (o->op->kind == PLAN_BIND && o->verdict == PLAN_DOWNGRADED &&
            o->op->bind.entry == mount->entry && o->op->bind.access == ACCESS_RO)
            return true;
    }
    return false;
}

static struct spec_mount foresee_added(const struct outcome *o, struct json *entry)
{
    bool file = o->op->kind == PLAN_FILE;

    return (struct spec_mount){
        .entry = entry,
        .destination = added_target(o),
        .source = json_text(json_get(entry, "source")),
        .type = json_text(json_get(entry, "type")),
        .options = json_get(entry, "options"),
        .bind = file || !o->op->mount.pool,
        .read_only = file || o->op->mount.access == ACCESS_RO,
    };
}

static void foresee_kept(const struct decision *decision, const struct spec *spec, struct spec *out)
{
    for (size_t i = 0; i < spec->mount_count; i++) {
        struct spec_mount *mount = &out->list[out->mount_count];
        if (is_taken_out(decision, &spec->list[i], i))
            continue;
        *mount = spec->list[i];
        mount->read_only = mount->read_only || is_restricted(decision, &spec->list[i]);
        out->mount_count++;
    }
}

int apply_foresee(const struct decision *decision, struct json_doc *doc, const struct spec *spec,
                  struct arena *arena, struct spec *out, struct err *err)
{
    size_t room = spec->mount_count + decision->count + 1;
    _cleanup_order_ struct order order = {0};

    *out = *spec;
    out->mount_count = 0;
    out->list = arena_alloc(arena, room * sizeof(*out->list));
    if (!out->list)
        return err_nomem(err);
    if (order_init(&order, decision, spec, err) < 0)
        return -1;
    foresee_kept(decision, spec, out);
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        const char *target = added_target(o);
        if (!target)
            continue;
        size_t at = order_place(&order, target);
        memmove(out->list + at + 1, out->list + at, (out->mount_count - at) * sizeof(*out->list));
        out->list[at] = foresee_added(o, make_entry(o, doc, spec));
        out->mount_count++;
        order_insert(&order, at, target);
    }
    return json_failed(doc) ? err_nomem(err) : 0;
}

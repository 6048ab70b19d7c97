/* Plans the volumes: the paths of each for this container, collisions, and their order. */
#include "base/path.h"
#include "shim/mount/pin.h"
#include "shim/plan/mount_entry.h"
#include "shim/plan/plan_parts.h"
#include "shim/policy/registry_source.h"

#include <string.h>

/* ---- paths and names ---- */

static int expand_path(struct planner *p, struct plan_op *op, const struct policy_text *text,
                       const struct template_values *values, const char **out)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    struct err why = ERR_INIT;

    if (template_expand(text->text, values, &path, &why) < 0) {
        if (why.kind == ERR_SYSTEM)
            return err_nomem(p->err);
        return plan_decide(p, op, PLAN_DENIED, &text->place, "%s", why.msg);
    }
    bool registry = registry_source_is(text->text);
    if (registry && registry_source_check(path.data, &why) < 0)
        return plan_decide(p, op, PLAN_DENIED, &text->place, "%s", why.msg);
    if (!registry && (!path_is_clean_absolute(path.data) || strcmp(path.data, "/") == 0))
        return plan_decide(p, op, PLAN_DENIED, &text->place, "'%s' is not a clean absolute path",
                           path.data);
    *out = arena_strndup(p->arena, path.data, path.len);
    return *out ? 0 : err_nomem(p->err);
}

static int deny_name(struct planner *p, struct plan_op *op)
{
    const struct policy_list *list = policy_offered_names(op->mount.volume);
    _cleanup_buf_ struct buf offered = BUF_INIT;

    buf_puts(&offered, "there are: ");
    policy_list_print(list, &offered);
    if (plan_set_hint(p, op, &offered) < 0)
        return -1;
    return plan_decide(p, op, PLAN_DENIED, &list->place, "'%s' is not offered", op->mount.name);
}

/* ---- collisions ---- */

/* Returns a volume that is planned on that target already, or NULL. */
static struct plan_op *volume_planned_on(const struct planner *p, const struct plan_op *op)
{
    for (size_t i = 0; i < p->count; i++) {
        struct plan_op *other = &p->ops[i];
        if (other != op && other->kind == PLAN_MOUNT && other->verdict != PLAN_DENIED &&
            other->mount.target && strcmp(other->mount.target, op->mount.target) == 0)
            return other;
    }
    return NULL;
}

/* Finds out whether the mount is this very volume, from an earlier edit. */
static int recognise_volume(struct planner *p, struct plan_op *op, const struct spec_mount *mount)
{
    struct mount_form form = {.source = mount_entry_pin_path(&op->mount, p->arena),
                              .idmap = op->mount.idmap};

    if (!form.source)
        return err_nomem(p->err);
    int pinned = mount_entry_is(mount, &op->mount, &form, p->in->spec, p->err);
    form.source = op->mount.source;
    /* A volume from a registry is always pinned. */
    int plain = pinned || registry_source_is(op->mount.source)
                    ? 0
                    : mount_entry_is(mount, &op->mount, &form, p->in->spec, p->err);
    if (pinned < 0 || plain < 0)
        return -1;
    op->mount.pinned = pinned;
    op->mount.ours = pinned || plain;
    return 0;
}

static int compare_with_spec(struct planner *p, struct plan_op *op)
{
    const struct spec_mount *mount = plan_mounted_on(p->in->spec, op->mount.target);

    op->mount.ours = true;
    if (!mount)
        return plan_decide(p, op, PLAN_ADDED, NULL, "%s",
                           op->asked_by ? "asked for" : "always mounted");
    if (recognise_volume(p, op, mount) < 0)
        return -1;
    if (op->mount.ours || mount_entry_is_pool(mount, &op->mount))
        op->mount.earlier = mount;
    if (op->mount.ours)
        return plan_decide(p, op, PLAN_KEPT, NULL, "mounted already");
    if (op->mount.earlier) {
        op->mount.ours = true;
        return plan_decide(p, op, PLAN_ADDED, NULL,
                           "in place of the private side of an earlier launch");
    }
    if (!op->asked_by)
        return plan_decide(p, op, PLAN_KEPT, NULL, "the container brings its own mount");
    return plan_decide(p, op, PLAN_DENIED, NULL, "something else is mounted on %s already",
                       op->mount.target);
}

/* Merges a request for a volume that is planned: only the access changes. False if it is another
 * source. */
static bool merge_request(struct plan_op *planned, const struct plan_op *op)
{
    if (strcmp(planned->mount.source, op->mount.source) != 0)
        return false;
    if (!planned->asked_by || op->mount.access == ACCESS_RO)
        planned->mount.access = op->mount.access;
    planned->asked_by = op->asked_by;
    return true;
}

static int place_mount(struct planner *p, struct plan_op *op)
{
    struct plan_op *planned = volume_planned_on(p, op);

    if (!planned)
        return 0; /* compare_all_with_spec decides */
    if (merge_request(planned, op)) {
        p->count--; /* op is the last one */
        return 0;
    }
    return plan_decide(p, op, PLAN_DENIED, NULL, "%s has the target %s already",
                       planned->mount.volume->name, op->mount.target);
}

/* Runs once all requests are known: only then is it known how a volume would be mounted. */
static int compare_all_with_spec(struct planner *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->ops[i].verdict != PLAN_DENIED && compare_with_spec(p, &p->ops[i]) < 0)
            return -1;
    return 0;
}

static bool is_pin_of_ours(const struct planner *p, const struct spec_mount *mount)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct plan_op *op = &p->ops[i];
        if (op->mount.pinned && plan_mounted_on(p->in->spec, op->mount.target) == mount)
            return true;
    }
    return false;
}

/* Denies other mounts of pinned sources: only this program makes them. Those that "binds" held are
 * judged anew. */
static int deny_foreign_pins(struct planner *p)
{
    for (size_t i = 0; i < p->in->spec->mount_count; i++) {
        const struct spec_mount *mount = &p->in->spec->list[i];
        bool judged = p->in->binds && mount_entry_is_held(mount);
        if (!mount_entry_names_pin(mount) || is_pin_of_ours(p, mount) || judged ||
            plan_is_user_file(p, mount))
            continue;
        struct plan_op *op = plan_push(p, PLAN_MOUNT);
        if (!op)
            return -1;
        op->asked_by = "mounts";
        if (plan_decide(p, op, PLAN_DENIED, NULL,
                        "the container's own mount on %s has a source in %s", mount->destination,
                        PIN_DIRECTORY) < 0)
            return -1;
    }
    return 0;
}

/* ---- volumes ---- */

static int decide_pool(struct planner *p, struct plan_op *op, const struct template_values *values)
{
    const struct policy_text *pool = &op->mount.volume->pool;
    const struct spec *spec = p->in->spec;

    if (!pool->text)
        return 0;
    if (spec->uid_map.count || spec->joins_user_namespace)
        return plan_decide(p, op, PLAN_DENIED, &pool->place,
                           "a volume with a pool needs a container without a user namespace");
    return expand_path(p, op, pool, values, &op->mount.pool);
}

/* Decides on idmapping: only a container with a user namespace of its own has ids to map. */
static int decide_idmap(struct planner *p, struct plan_op *op)
{
    const struct policy_volume *v = op->mount.volume;
    const struct spec *spec = p->in->spec;

    if (v->idmap == IDMAP_NEVER || (v->idmap == IDMAP_ASK && !p->in->requests->idmap))
        return 0;
    if (p->in->no_idmap)
        return plan_decide(p, op, PLAN_DENIED, &v->place,
                           "it cannot be idmapped: only the host's root may map ids, and this "
                           "engine is rootless");
    op->mount.idmap = spec->uid_map.count && spec->gid_map.count;
    if (!op->mount.idmap && spec->joins_user_namespace)
        return plan_decide(p, op, PLAN_DENIED, &v->place,
                           "it cannot be idmapped: the container joins a user namespace whose "
                           "mapping is not known here");
    return 0;
}

static int add_volume(struct planner *p, const struct policy_volume *v, const char *name,
                      const struct request *request)
{
    struct template_values values = p->in->values;
    struct plan_op *op = plan_push(p, PLAN_MOUNT);

    if (!op)
        return -1;
    op->mount.volume = v;
    op->mount.name = name;
    op->asked_by = request ? request->key : NULL;
    op->place = request ? v->place : v->always_place;
    op->mount.access = request && request->says_access ? request->access : v->access;
    values.value[VAR_NAME] = *name ? name : NULL;
    if (request && !policy_offers_name(v, name))
        return deny_name(p, op);
    if (op->mount.access > v->access)
        return plan_decide(p, op, PLAN_DENIED, v->access_place.file ? &v->access_place : &v->place,
                           "'%s' may be mounted read-only, not read-write: ask for %s:ro", name,
                           name);
    if (expand_path(p, op, &v->source, &values, &op->mount.source) < 0 || decide_idmap(p, op) < 0 ||
        decide_pool(p, op, &values) < 0)
        return -1;
    if (request && request->target)
        op->mount.target = request->target;
    else if (op->verdict != PLAN_DENIED &&
             expand_path(p, op, &v->target, &values, &op->mount.target) < 0)
        return -1;
    return op->mount.target && op->verdict != PLAN_DENIED ? place_mount(p, op) : 0;
}

static int add_always(struct planner *p)
{
    if (p->in->requests->off & 1u << OPT_OUT_MOUNTS)
        return 0;
    for (size_t i = 0; i < p->in->policy->volume_count; i++) {
        const struct policy_volume *v = &p->in->policy->volumes[i];
        if (!v->always)
            continue;
        if (!v->always_names.count && add_volume(p, v, "", NULL) < 0)
            return -1;
        for (size_t n = 0; n < v->always_names.count; n++)
            if (add_volume(p, v, v->always_names.items[n], NULL) < 0)
                return -1;
    }
    return 0;
}

static int add_requests(struct planner *p)
{
    for (size_t i = 0; i < p->in->requests->count; i++) {
        const struct request *r = &p->in->requests->list[i];
        if (!r->problem) {
            if (add_volume(p, r->volume, r->name, r) < 0)
                return -1;
            continue;
        }
        struct plan_op *op = plan_push(p, PLAN_MOUNT);
        if (!op)
            return -1;
        op->verdict = PLAN_DENIED;
        op->asked_by = r->key;
        op->reason = r->problem;
        op->hint = r->hint;
    }
    return 0;
}

/* ---- order ---- */

static size_t target_depth(const struct plan_op *op)
{
    return op->mount.target ? path_depth(op->mount.target) : 0;
}

/* Sorts stably; the lists have a few dozen entries at most. */
static void sort_by_depth(struct planner *p)
{
    for (size_t i = 1; i < p->count; i++) {
        struct plan_op op = p->ops[i];
        size_t at = i;
        for (; at > 0 && target_depth(&p->ops[at - 1]) > target_depth(&op); at--)
            p->ops[at] = p->ops[at - 1];
        p->ops[at] = op;
    }
}

int plan_add_volumes(struct planner *p)
{
    if (!p->in->no_volumes &&
        (add_always(p) < 0 || add_requests(p) < 0 || compare_all_with_spec(p) < 0))
        return -1;
    if (deny_foreign_pins(p) < 0)
        return -1;
    sort_by_depth(p);
    return 0;
}

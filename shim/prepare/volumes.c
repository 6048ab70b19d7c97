#include "shim/prepare/volumes.h"

#include "shim/mount/pin.h"
#include "shim/mount/source.h"
#include "shim/mount/source_wait.h"
#include "shim/mount/submounts.h"
#include "shim/plan/mount_entry.h"
#include "shim/prepare/pool.h"

#include <string.h>

/* What all volumes of a plan share while they are looked up. */
struct preparing {
    struct plan *plan;
    const struct facts *facts;
    struct arena *arena;
    struct submounts submounts;
    struct source_folder folder; /* of the last source; the first pass alone */
    bool exposed;                /* something must be pinned */
    struct err *err;
};

/* An idmapped mount shows the ids that are on disk: they must be the container's. */
static int owner_of(const struct plan_op *op, const struct facts *facts, struct source_make *out,
                    struct err *err)
{
    const struct policy_create *create = &op->volume->create;
    const struct id_pair *id = create->owner == OWNER_IDENTITY ? &facts->identity
                               : op->idmap                     ? &facts->inside
                                                               : &facts->process;

    out->mode = create->wanted ? create->mode : 0700;
    out->who = (struct user_ids){.uid = create->uid, .gid = create->gid};
    if (create->owner != OWNER_FIXED && !id->known)
        return err_set(err, ERR_POLICY, "it cannot be made, nobody knows for whom: %s", id->why);
    if (create->owner != OWNER_FIXED)
        out->who = (struct user_ids){.uid = id->uid, .gid = id->gid};
    /* Nobody told the groups of anybody else. */
    if (facts->process.known && out->who.uid == facts->process.uid) {
        out->who.groups = facts->groups;
        out->who.group_count = facts->group_count;
    }
    return 0;
}

/* Who may look at the source where root may not: its owner to be. NULL where nobody knows him. */
const struct user_ids *volumes_user(const struct plan_op *op, const struct facts *facts,
                                    struct source_make *make)
{
    struct err ignored;

    return owner_of(op, facts, make, &ignored) < 0 ? NULL : &make->who;
}

static int find(const struct plan_op *op, const struct facts *facts, struct source_folder *folder,
                struct source *out, struct err *err)
{
    static const mode_t folder_mode = 0755;
    struct source_make make;

    if (source_find_in(folder, op->source, volumes_user(op, facts, &make), out, err) < 0)
        return -1;
    if (!out->missing || !op->volume->create.wanted)
        return 0;
    source_close(out);
    if (op->pool) /* the private side: what is in it is the user's */
        make =
            (struct source_make){.who = {.uid = geteuid(), .gid = getegid()}, .mode = folder_mode};
    else if (owner_of(op, facts, &make, err) < 0)
        return err_wrap(err, "%s", op->source);
    return source_find_or_make(op->source, &make, out, err);
}

static int prepare_pool(const struct plan_op *op, const struct facts *facts,
                        const struct source *source, struct err *err)
{
    struct source_make make;

    if (!op->pool)
        return 0;
    if (owner_of(op, facts, &make, err) < 0 || pool_prepare(op->pool, source, &make, err) < 0)
        return err_wrap(err, "%s", op->source);
    return 0;
}

static int fail(const struct plan_op *op, struct err *err)
{
    return *op->name ? err_wrap(err, "volumes.%s '%s'", op->volume->name, op->name)
                     : err_wrap(err, "volumes.%s", op->volume->name);
}

static bool concerns_us(const struct plan_op *op)
{
    return op->kind == PLAN_MOUNT && op->ours &&
           (op->verdict == PLAN_ADDED || op->verdict == PLAN_KEPT);
}

/* 0, or 1 when the mount is to be skipped. */
static int wait_for(const struct plan_op *op, const struct facts *facts, struct err *err)
{
    struct source_make make;
    unsigned seconds = op->volume->wait;
    int rc =
        seconds ? source_wait(op->source, volumes_user(op, facts, &make), seconds * 1000, err) : 0;

    if (rc <= 0 || op->volume->optional)
        return rc;
    return err_set(err, ERR_POLICY, "%s does not answer within %u s", op->source, seconds);
}

/* True if the runtime behind us cannot be left to mount the source as it is. */
static int needs_pin(struct preparing *p, const struct plan_op *op, const struct source *source,
                     bool *out)
{
    *out = source->exposed || source->searched_as_user || op->pinned;
    return *out || op->pool ? 0 : submounts_find(&p->submounts, source, op->source, out, p->err);
}

/* The private side of a pool is one container's at a time. */
static int find_busy(struct preparing *p, size_t i)
{
    const struct plan_op *op = &p->plan->ops[i];

    if (op->volume->optional) {
        plan_skip(p->plan, i, "another container has its private side");
        return 0;
    }
    err_set(p->err, ERR_POLICY,
            "%s is mounted in another container, and one at a time can have the private side of a "
            "pool: wait for it, or have the policy name {container} in \"source\"",
            op->source);
    return fail(op, p->err);
}

/* One source of the first pass: there, or to be skipped, or an error. */
static int find_one(struct preparing *p, size_t i)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    const struct plan_op *op = &p->plan->ops[i];
    bool pin = false;

    int hangs = wait_for(op, p->facts, p->err);
    if (hangs > 0) {
        plan_skip(p->plan, i, "its source does not answer");
        return 0;
    }
    if (hangs < 0 || find(op, p->facts, &p->folder, &source, p->err) < 0)
        return fail(op, p->err);
    if (source.missing && !op->volume->optional) {
        err_set(p->err, ERR_POLICY, "%s does not exist", op->source);
        return fail(op, p->err);
    }
    if (source.missing)
        plan_skip(p->plan, i, "there is no such source");
    else if (prepare_pool(op, p->facts, &source, p->err) < 0 || needs_pin(p, op, &source, &pin) < 0)
        return fail(op, p->err);
    else if (op->pool && pool_busy(op->pool, &source))
        return find_busy(p, i);
    p->exposed = p->exposed || pin;
    return 0;
}

/* The first pass: everything is there. */
static int find_all(struct preparing *p, bool enforce)
{
    for (size_t i = 0; i < p->plan->count; i++) {
        if (!concerns_us(&p->plan->ops[i]) || find_one(p, i) == 0)
            continue;
        const char *why = p->err->msg;
        const char *reason = enforce ? NULL : arena_strndup(p->arena, why, strlen(why));
        if (!reason)
            return -1;
        plan_skip(p->plan, i, reason);
    }
    return 0;
}

/* What is to hold for all mounts of the pin. */
static struct pin_options pin_options(const struct plan_op *op)
{
    return (struct pin_options){
        .read_only = op->access == ACCESS_RO,
        .nosuid = mount_entry_has(op, "nosuid"),
        .nodev = mount_entry_has(op, "nodev"),
        .noexec = mount_entry_has(op, "noexec"),
    };
}

/* The second one, in the private namespace: looked up afresh, checked again, and held. */
static int pin_one(struct preparing *p, struct plan_op *op)
{
    struct source_make make;
    _cleanup_source_ struct source source = SOURCE_INIT;

    if (source_find_for(op->source, volumes_user(op, p->facts, &make), &source, p->err) < 0)
        return -1;
    if (source.missing)
        return err_set(p->err, ERR_POLICY, "%s vanished", op->source);
    bool pin = false;
    if (needs_pin(p, op, &source, &pin) < 0)
        return -1;
    if (!pin)
        return 0;
    const char *path = plan_pin_path(op, p->arena);
    if (!path)
        return err_nomem(p->err);
    struct pin_options options = pin_options(op);
    if (pin_add(&source, path, &options, p->err) < 0)
        return -1;
    op->source = path;
    return 0;
}

static int pin_all(struct preparing *p)
{
    if (pin_begin(p->err) < 0)
        return -1;
    p->submounts.read = false;
    for (size_t i = 0; i < p->plan->count; i++) {
        struct plan_op *op = &p->plan->ops[i];
        if (concerns_us(op) && pin_one(p, op) < 0)
            return fail(op, p->err);
    }
    return binds_hold(p->plan, p->arena, p->err);
}

int volumes_prepare(struct plan *plan, const struct facts *facts, bool enforce, struct arena *arena,
                    struct err *err)
{
    struct preparing p = {.plan = plan,
                          .facts = facts,
                          .arena = arena,
                          .submounts = {.arena = arena},
                          .folder = SOURCE_FOLDER_INIT,
                          .err = err};
    int rc = find_all(&p, enforce);

    source_folder_close(&p.folder);
    if (rc < 0)
        return -1;
    return p.exposed || binds_exposed(plan) ? pin_all(&p) : 0;
}

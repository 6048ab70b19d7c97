#include "shim/prepare/volumes.h"

#include "shim/account/account_files.h"
#include "shim/mount/pin.h"
#include "shim/mount/source.h"
#include "shim/mount/source_wait.h"
#include "shim/mount/submounts.h"
#include "shim/policy/registry_source.h"
#include "shim/prepare/binds_hold.h"
#include "shim/prepare/namespaces_hold.h"
#include "shim/prepare/pool.h"
#include "shim/prepare/stage_volumes.h"

#include <string.h>

/* Shared by all volumes of a decision while their sources are looked up. */
struct preparing {
    const struct call *call;
    struct decision *decision;
    const struct facts *facts;
    struct arena *arena;
    struct submounts submounts;
    struct stage_volumes stage;
    struct source_directory directory; /* of the last source; in the first pass only */
    bool exposed;                      /* something must be pinned */
    struct err *err;
};

/* An idmapped mount shows the ids that are on disk, so they must be those inside the container. */
static int find_owner(const struct outcome *o, const struct facts *facts, struct source_make *out,
                      struct err *err)
{
    const struct policy_create *create = &o->op->mount.volume->create;
    const struct id_pair *id = create->owner == OWNER_IDENTITY ? &facts->identity
                               : o->mount.idmap                ? &facts->inside
                                                               : &facts->process;

    out->mode = create->wanted ? create->mode : 0700;
    out->who = (struct user_ids){.uid = create->uid, .gid = create->gid};
    if (create->owner != OWNER_FIXED && !id->known)
        return err_set(err, ERR_POLICY, "it cannot be made, its owner is not known: %s", id->why);
    if (create->owner != OWNER_FIXED)
        out->who = (struct user_ids){.uid = id->uid, .gid = id->gid};
    /* Groups are known of the process only. */
    if (facts->process.known && out->who.uid == facts->process.uid) {
        out->who.groups = facts->groups;
        out->who.group_count = facts->group_count;
    }
    return 0;
}

const struct user_ids *volumes_user(const struct outcome *o, const struct facts *facts,
                                    struct source_make *make)
{
    struct err ignored;

    return find_owner(o, facts, make, &ignored) < 0 ? NULL : &make->who;
}

static int find_source(const struct outcome *o, const struct facts *facts,
                       struct source_directory *directory, struct source *out, struct err *err)
{
    static const mode_t directory_mode = 0755;
    const struct plan_mount *m = &o->op->mount;
    struct source_make make;

    if (source_find_in(directory, m->source, volumes_user(o, facts, &make), out, err) < 0)
        return -1;
    if (!out->missing || !m->volume->create.wanted)
        return 0;
    source_close(out);
    if (m->pool) /* the private side: root owns it, and the user what is in it */
        make = (struct source_make){.who = {.uid = geteuid(), .gid = getegid()},
                                    .mode = directory_mode};
    else if (find_owner(o, facts, &make, err) < 0)
        return err_wrap(err, "%s", m->source);
    return source_find_or_make(m->source, &make, out, err);
}

static int prepare_pool(const struct outcome *o, const struct facts *facts,
                        const struct source *source, struct err *err)
{
    const struct plan_mount *m = &o->op->mount;
    struct source_make make;

    if (!m->pool)
        return 0;
    if (find_owner(o, facts, &make, err) < 0 || pool_prepare(m->pool, source, &make, err) < 0)
        return err_wrap(err, "%s", m->source);
    return 0;
}

static int name_volume(const struct plan_mount *m, struct err *err)
{
    return *m->name ? err_wrap(err, "volumes.%s '%s'", m->volume->name, m->name)
                    : err_wrap(err, "volumes.%s", m->volume->name);
}

bool volumes_concern(const struct outcome *o)
{
    return o->op->kind == PLAN_MOUNT && o->op->mount.ours &&
           (o->verdict == PLAN_ADDED || o->verdict == PLAN_KEPT);
}

/* Waits for the source. Returns 1 if the mount is to be skipped. */
static int wait_for_source(const struct outcome *o, const struct facts *facts, struct err *err)
{
    const struct plan_mount *m = &o->op->mount;
    struct source_make make;
    unsigned seconds = m->volume->wait;
    int rc =
        seconds ? source_wait(m->source, volumes_user(o, facts, &make), seconds * 1000, err) : 0;

    if (rc <= 0 || m->volume->optional)
        return rc;
    return err_set(err, ERR_POLICY, "%s does not answer within %u s", m->source, seconds);
}

/* Sets *out if the low-level runtime must not mount the source by its path. */
static int needs_pin(struct preparing *p, const struct plan_mount *m, const struct source *source,
                     bool *out)
{
    *out = source->exposed || source->searched_as_user || m->pinned ||
           (p->decision->plan->loose && m->access == ACCESS_RO);
    return *out || m->pool ? 0 : submounts_find(&p->submounts, source, m->source, out, p->err);
}

/* Only one container at a time can have the private side of a pool. Returns 1 if it is taken. */
static int take_pool(struct preparing *p, const struct outcome *o, const struct source *source,
                     bool pinned)
{
    const struct plan_mount *m = &o->op->mount;
    struct pool_claim claim = {
        .source = source, .path = m->source, .pinned = pinned, .call = p->call};

    if (!m->pool)
        return 0;
    if (pinned)
        claim.path = mount_entry_pin_path(m, p->arena);
    return claim.path ? pool_take(&claim, p->err) : err_nomem(p->err);
}

/* Says if mounts below an idmapped source are not idmapped as well. */
static int look_below(struct preparing *p, struct outcome *o, const struct source *source)
{
    bool below = false;

    if (!o->mount.idmap || o->mount.ridmap)
        return 0;
    if (submounts_find(&p->submounts, source, o->op->mount.source, &below, p->err) < 0)
        return -1;
    if (below)
        o->reason = "what is mounted below it is not idmapped: the low-level runtime has no ridmap";
    return 0;
}

static int refuse_busy(struct preparing *p, size_t i)
{
    const struct plan_mount *m = &p->decision->list[i].op->mount;

    if (m->volume->optional) {
        decision_skip(p->decision, i, "another container has its private side");
        return 0;
    }
    err_set(p->err, ERR_POLICY,
            "%s is mounted in another container, and one at a time can have the private side of a "
            "pool: wait for it, or have the policy name {container} in \"source\"",
            m->source);
    return name_volume(m, p->err);
}

/* Finds or makes one source, or skips its volume, or fails. */
static int find_volume(struct preparing *p, size_t i)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    const struct outcome *o = &p->decision->list[i];
    const struct plan_mount *m = &o->op->mount;
    bool pin = false;

    if (find_source(o, p->facts, &p->directory, &source, p->err) < 0)
        return name_volume(m, p->err);
    if (source.missing && !m->volume->optional) {
        err_set(p->err, ERR_POLICY, "%s does not exist on this host: %s", m->source,
                *m->name ? "check the name" : "ask the administrator to make it");
        return name_volume(m, p->err);
    }
    if (source.missing) {
        decision_skip(p->decision, i, "there is no such source");
        return 0;
    }
    if (prepare_pool(o, p->facts, &source, p->err) < 0 || needs_pin(p, m, &source, &pin) < 0)
        return name_volume(m, p->err);
    if (look_below(p, &p->decision->list[i], &source) < 0)
        return name_volume(m, p->err);
    int taken = take_pool(p, o, &source, pin);
    if (taken)
        return taken < 0 ? name_volume(m, p->err) : refuse_busy(p, i);
    p->exposed = p->exposed || pin;
    return stage_volumes_add(&p->stage, &p->decision->list[i], &source, p->err) < 0
               ? name_volume(m, p->err)
               : 0;
}

/* True for a volume of which something may have to be made on the host. */
static bool is_made(const struct outcome *o)
{
    return o->op->mount.volume->create.wanted || o->op->mount.pool;
}

/*
 * Waits for the source, or skips its volume, or fails; finds it unless it may have to be made, and
 * what there is of one in a registry.
 */
static int look_at_volume(struct preparing *p, size_t i)
{
    struct outcome *o = &p->decision->list[i];
    bool registry = registry_source_is(o->op->mount.source);
    int hangs = registry ? 0 : wait_for_source(o, p->facts, p->err);

    if (registry && stage_volumes_add(&p->stage, o, NULL, p->err) < 0)
        return name_volume(&o->op->mount, p->err);
    if (registry)
        return 0;
    if (hangs < 0)
        return name_volume(&o->op->mount, p->err);
    if (hangs > 0) {
        decision_skip(p->decision, i, "its source does not answer");
        return 0;
    }
    return is_made(o) ? 0 : find_volume(p, i);
}

/* Finds all sources, and makes none; or finds or makes those that may have to be made. */
static int find_volumes(struct preparing *p, bool make, bool enforce)
{
    for (size_t i = 0; i < p->decision->count; i++) {
        const struct outcome *o = &p->decision->list[i];
        if (!volumes_concern(o) || (make && !is_made(o)))
            continue;
        if ((make ? find_volume(p, i) : look_at_volume(p, i)) == 0)
            continue;
        const char *why = p->err->msg;
        const char *reason = enforce ? NULL : arena_strndup(p->arena, why, strlen(why));
        if (!reason)
            return -1;
        decision_skip(p->decision, i, reason);
    }
    return 0;
}

static bool makes_volumes(const struct decision *decision)
{
    for (size_t i = 0; i < decision->count; i++)
        if (volumes_concern(&decision->list[i]) && is_made(&decision->list[i]))
            return true;
    return false;
}

/* The first pass: nothing is made for a container that is refused. */
static int find_and_make(struct preparing *p, const struct volumes_check *check, bool enforce)
{
    if (find_volumes(p, false, enforce) < 0)
        return -1;
    if (!makes_volumes(p->decision))
        return 0;
    return check->run(check->subject, p->err) < 0 ? -1 : find_volumes(p, true, enforce);
}

/* The options that all mounts of the pin get. */
static struct pin_options pin_options(const struct plan_mount *m)
{
    return (struct pin_options){
        .read_only = m->access == ACCESS_RO,
        .nosuid = mount_entry_has(m, "nosuid"),
        .nodev = mount_entry_has(m, "nodev"),
        .noexec = mount_entry_has(m, "noexec"),
    };
}

/* The second pass, in the private namespace: looks a source up again, checks it, and pins it. */
static int pin_volume(struct preparing *p, struct outcome *o)
{
    const struct plan_mount *m = &o->op->mount;
    struct source_make make;
    _cleanup_source_ struct source source = SOURCE_INIT;

    int rc = o->staged
                 ? stage_volumes_find(&p->stage, o, &source, p->err)
                 : source_find_for(m->source, volumes_user(o, p->facts, &make), &source, p->err);
    if (rc < 0)
        return -1;
    if (source.missing)
        return err_set(p->err, ERR_POLICY, "%s vanished", m->source);
    bool pin = o->staged != NULL; /* it is never evicted once it shows in a mount table */
    if (!pin && needs_pin(p, m, &source, &pin) < 0)
        return -1;
    if (!pin)
        return 0;
    const char *path = mount_entry_pin_path(m, p->arena);
    if (!path)
        return err_nomem(p->err);
    struct pin_options options = pin_options(m);
    if (pin_add(&source, path, &options, p->err) < 0)
        return -1;
    o->mount.source = path;
    return 0;
}

/* True for a file that is generated, also where an earlier edit mounts it already. */
static bool is_generated(const struct outcome *o)
{
    return o->op->kind == PLAN_FILE && o->op->file.text &&
           (o->verdict == PLAN_ADDED || o->verdict == PLAN_KEPT);
}

static bool generates_files(const struct decision *decision)
{
    for (size_t i = 0; i < decision->count; i++)
        if (is_generated(&decision->list[i]))
            return true;
    return false;
}

static int write_files(struct preparing *p)
{
    for (size_t i = 0; i < p->decision->count; i++) {
        const struct outcome *o = &p->decision->list[i];
        if (is_generated(o) && account_file_write(o->op->file.source, o->op->file.text, p->err) < 0)
            return err_wrap(p->err, "user.passwd");
    }
    return 0;
}

static int pin_volumes(struct preparing *p)
{
    if (pin_begin(p->err) < 0)
        return -1;
    p->submounts.read = false;
    for (size_t i = 0; i < p->decision->count; i++) {
        struct outcome *o = &p->decision->list[i];
        if (volumes_concern(o) && pin_volume(p, o) < 0)
            return name_volume(&o->op->mount, p->err);
    }
    if (write_files(p) < 0 || namespaces_hold(p->decision, p->err) < 0)
        return -1;
    return binds_hold(p->decision, p->arena, p->err);
}

/* Waits for copies. Those that there are will be pinned. */
static int end_staging(struct preparing *p)
{
    if (stage_volumes_end(&p->stage, p->err) < 0)
        return -1;
    for (size_t i = 0; i < p->decision->count; i++)
        p->exposed = p->exposed || p->decision->list[i].staged;
    return 0;
}

int volumes_prepare(const struct call *call, const struct facts *facts, bool enforce,
                    const struct volumes_check *check, struct arena *arena,
                    struct decision *decision, struct err *err)
{
    struct preparing p = {.call = call,
                          .decision = decision,
                          .facts = facts,
                          .arena = arena,
                          .submounts = {.arena = arena},
                          .directory = SOURCE_DIRECTORY_INIT,
                          .err = err};
    p.stage = (struct stage_volumes){
        .facts = facts,
        .decision = decision,
        .submounts = &p.submounts,
        .arena = arena,
        .lenient = !enforce,
    };
    int rc = find_and_make(&p, check, enforce);

    source_directory_close(&p.directory);
    if (rc == 0)
        rc = end_staging(&p);
    bool pins = p.exposed || binds_exposed(decision) || generates_files(decision) ||
                decision->plan->joined_count;
    if (rc == 0 && pins)
        rc = pin_volumes(&p);
    stage_volumes_close(&p.stage);
    return rc;
}

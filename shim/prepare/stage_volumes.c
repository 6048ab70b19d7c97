#include "shim/prepare/stage_volumes.h"

#include "base/glob.h"
#include "shim/host/fd_path.h"
#include "shim/host/trust.h"
#include "shim/policy/registry_source.h"
#include "shim/prepare/volumes.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* Appends how a copy stands to the reason of the outcome. */
static int say(struct stage_volumes *v, struct outcome *o, const char *note, struct err *err)
{
    const char *reason = arena_printf(v->arena, "%s; %s", o->reason, note);

    if (!reason)
        return err_nomem(err);
    o->reason = reason;
    return 0;
}

static bool is_included(const struct policy_stage *rules, const char *name)
{
    for (size_t i = 0; i < rules->include.count; i++)
        if (glob_matches(rules->include.items[i], name))
            return true;
    return !rules->include.given;
}

/* Sets *why to the reason why this source is never staged, or to NULL. */
static int find_obstacle(struct stage_volumes *v, const struct plan_mount *m,
                         const struct source *source, const char **why, struct err *err)
{
    bool below = false;

    *why = NULL;
    if (trust_rootless())
        *why = "not staged by a rootless runtime";
    else if (!is_included(&m->volume->stage, m->name))
        *why = "not staged, as \"include\" leaves it out";
    else if (!source->directory)
        *why = "not staged, as it is a file";
    else if (submounts_find(v->submounts, source, m->source, &below, err) < 0)
        return -1;
    else if (below)
        *why = "not staged, as something is mounted below it";
    return 0;
}

static int describe_registry(struct stage_volumes *v, struct staged_volume *staged, struct err *err)
{
    const struct plan_mount *m = &staged->outcome->op->mount;

    if (trust_rootless())
        return err_set(err, ERR_POLICY, "%s: only a runtime that root runs fetches from a registry",
                       m->source);
    staged->wanted = (struct stage_wanted){.rules = &m->volume->stage,
                                           .path = m->source,
                                           .wish = v->facts->stage_wish & m->volume->stage.ask,
                                           .metrics = v->facts->metrics};
    return 0;
}

/* Describes the source by its real path and its state. */
static int describe_source(struct stage_volumes *v, struct staged_volume *staged,
                           const struct source *source, struct err *err)
{
    struct stage_wanted *w = &staged->wanted;
    const struct policy_volume *volume = staged->outcome->op->mount.volume;
    struct source_make *make = arena_alloc(v->arena, sizeof(*make));
    char path[PATH_MAX];
    struct stat st;

    if (!make)
        return err_nomem(err);
    if (fd_path(source->fd, path) < 0 || fstat(source->fd, &st) < 0)
        return err_sys(err, "%s", staged->outcome->op->mount.source);
    *w = (struct stage_wanted){
        .rules = &volume->stage,
        .path = arena_strndup(v->arena, path, strlen(path)),
        .root = stage_root_of(&st),
        .user = volumes_user(staged->outcome, v->facts, make),
        .wish = v->facts->stage_wish & volume->stage.ask,
        .metrics = v->facts->metrics,
    };
    return w->path ? 0 : err_nomem(err);
}

int stage_volumes_add(struct stage_volumes *v, struct outcome *o, const struct source *source,
                      struct err *err)
{
    const struct plan_mount *m = &o->op->mount;
    const char *obstacle = NULL;

    if (!m->volume->stage.cache.text)
        return 0;
    if (source && find_obstacle(v, m, source, &obstacle, err) < 0)
        return -1;
    if (obstacle)
        return say(v, o, obstacle, err);
    struct staged_volume *staged = arena_alloc(v->arena, sizeof(*staged));
    if (!staged)
        return err_nomem(err);
    *staged = (struct staged_volume){
        .outcome = o, .source = -1, .offer.entry = STAGE_ENTRY_INIT, .next = v->list};
    if ((source ? describe_source(v, staged, source, err) : describe_registry(v, staged, err)) < 0)
        return -1;
    staged->source = source ? fcntl(source->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (source && staged->source < 0)
        return err_sys(err, "%s", m->source);
    v->list = staged;
    return v->look ? stage_look(&staged->wanted, v->arena, &staged->offer, err)
                   : stage_begin(&staged->wanted, staged->source, v->arena, &staged->offer, err);
}

/* ---- what became of them ---- */

static void leave_out(struct stage_volumes *v, const struct outcome *o)
{
    decision_skip(v->decision, (size_t)(o - v->decision->list), o->reason);
}

/* Says in a look whether a launch would be refused, or would leave out a volume from a registry. */
static int foresee(struct stage_volumes *v, struct staged_volume *s, struct err *err)
{
    bool registry = registry_source_is(s->wanted.path);
    bool optional = registry && s->outcome->op->mount.volume->optional;

    if (!stage_denies(&s->wanted, &s->offer))
        return 0;
    if (registry)
        leave_out(v, s->outcome);
    if (optional || (v->lenient && !s->offer.closed))
        return 0;
    s->outcome->verdict = PLAN_DENIED;
    return registry ? 0 : say(v, s->outcome, "the policy wants the copy", err);
}

static int end_volume(struct stage_volumes *v, struct staged_volume *s, struct err *err)
{
    const struct plan_mount *m = &s->outcome->op->mount;
    bool registry = registry_source_is(s->wanted.path);
    bool spared = v->lenient || (registry && m->volume->optional);

    if (!v->look && stage_end(&s->wanted, s->source, v->arena, &s->offer, err) < 0 &&
        (s->offer.closed || !spared || err->kind != ERR_POLICY))
        return *m->name ? err_wrap(err, "volumes.%s '%s'", m->volume->name, m->name)
                        : err_wrap(err, "volumes.%s", m->volume->name);
    bool hit = s->offer.entry.state == STAGE_READY;
    s->outcome->staged = s->offer.tree;
    s->outcome->stage = (struct stage_outcome){
        .word = stage_word(&s->offer),
        .bytes = hit ? s->offer.entry.record.totals.bytes : 0,
        .waited = s->offer.waited,
    };
    if (say(v, s->outcome, s->offer.note, err) < 0)
        return -1;
    if (v->look)
        return foresee(v, s, err);
    if (registry && !hit)
        leave_out(v, s->outcome);
    return 0;
}

int stage_volumes_end(struct stage_volumes *v, struct err *err)
{
    for (struct staged_volume *s = v->list; s; s = s->next)
        if (end_volume(v, s, err) < 0)
            return -1;
    return 0;
}

/* ---- the copy itself ---- */

/* Looks the copy up once. Returns 1 if it was renamed meanwhile. */
static int find_held(int entry, struct source *out, struct err *err)
{
    char path[PATH_MAX];
    struct stat held;

    if (fd_path(entry, path) < 0 || fstatat(entry, "tree", &held, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "a copy");
    _cleanup_free_ char *tree = strf("%s/tree", path);
    if (!tree)
        return err_nomem(err);
    if (source_find(tree, out, err) < 0)
        return -1;
    if (!out->missing && out->dev == held.st_dev && out->ino == held.st_ino)
        return 0;
    source_close(out);
    *out = (struct source)SOURCE_INIT;
    return 1;
}

int stage_volumes_find(const struct stage_volumes *v, const struct outcome *o, struct source *out,
                       struct err *err)
{
    enum { TRIES = 5 };
    int renamed = 1;

    for (const struct staged_volume *s = v->list; s; s = s->next)
        for (int try = 0; s->outcome == o && renamed == 1 && try < TRIES; try++)
            renamed = find_held(s->offer.entry.fd, out, err);
    return renamed > 0 ? err_set(err, ERR_POLICY, "%s vanished", o->staged) : renamed;
}

void stage_volumes_close(struct stage_volumes *v)
{
    for (struct staged_volume *s = v->list; s; s = s->next) {
        stage_offer_close(&s->offer);
        cleanup_fd(&s->source);
    }
    v->list = NULL;
}

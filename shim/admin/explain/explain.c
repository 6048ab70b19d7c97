#include "shim/admin/explain/explain.h"

#include "shim/admin/explain/checks.h"
#include "shim/admin/explain/gpus.h"
#include "shim/admin/explain/origin.h"
#include "shim/host/process/patience.h"
#include "shim/host/users/user.h"
#include "shim/mount/source.h"
#include "shim/mount/source_wait.h"
#include "shim/oci/lowlevel.h"
#include "shim/policy/registry_source.h"
#include "shim/prepare/pool.h"
#include "shim/prepare/stage_volumes.h"
#include "shim/prepare/volumes.h"
#include "shim/restack/restack.h"
#include "shim/warm/warm.h"

#include <string.h>

enum { WAIT = 5 }; /* seconds, where the policy sets no bound itself */

/* ---- sources: as volumes_prepare (prepare/volumes.c), but nothing is made ---- */

/* Finds the source as the runtime does. Returns -1 if even an optional volume would fail. */
static int find_source(const struct plan_mount *m, const struct user_ids *user,
                       struct source *source, struct err *why)
{
    bool made = m->volume->create.wanted;

    if (source_find_for(m->source, user, source, why) < 0)
        return -1;
    if (source->missing && made && !m->pool && !user)
        return err_set(why, ERR_POLICY, "%s cannot be made, its owner is not known", m->source);
    return m->pool && (made || !source->missing) ? pool_check(m->pool, source, why) : 0;
}

/* Sets *out to the reason why a rootless runtime refuses what a registry has, or to NULL. */
static int registry_problem(struct outcome *o, struct stage_volumes *stage, const char **out,
                            struct err *err)
{
    struct err why = ERR_INIT;

    *out = NULL;
    if (stage_volumes_add(stage, o, NULL, &why) == 0)
        return 0;
    *out = arena_strndup(stage->arena, why.msg, strlen(why.msg));
    return *out ? 0 : err_nomem(err);
}

/*
 * Sets *out to the reason why the mount would fail, in the arena, or to NULL. *absent: the source
 * is missing or does not answer, and an optional volume is left out. Returns -1 without memory.
 */
static int source_problem(struct outcome *o, struct stage_volumes *stage, const char **out,
                          bool *absent, struct err *err)
{
    const struct facts *facts = stage->facts;
    struct arena *arena = stage->arena;
    const struct plan_mount *m = &o->op->mount;
    _cleanup_source_ struct source source = SOURCE_INIT;
    _cleanup_free_ char *text = NULL;
    struct err why = ERR_INIT;
    unsigned seconds = m->volume->wait ? m->volume->wait : WAIT;
    struct source_make make;
    const struct user_ids *user = volumes_user(o, facts, &make);

    patience_step(m->source);
    bool hangs = source_wait(m->source, user, seconds * 1000, err) > 0;

    *out = NULL;
    if (hangs)
        text = strf("%s does not answer", m->source);
    else if (find_source(m, user, &source, &why) < 0)
        text = strdup(why.msg);
    else if (!source.missing)
        return stage_volumes_add(stage, o, &source, err);
    else if (m->volume->create.wanted)
        return 0;
    else
        text = strf("%s does not exist", m->source);
    *absent = why.kind == ERR_NONE;
    *out = text ? arena_strndup(arena, text, strlen(text)) : NULL;
    return *out ? 0 : err_nomem(err);
}

static int check_sources(const struct judgement *j, struct arena *arena, struct decision *decision,
                         struct err *err)
{
    struct submounts submounts = {.arena = arena};
    struct stage_volumes stage = {
        .facts = &j->facts,
        .decision = decision,
        .submounts = &submounts,
        .arena = arena,
        .look = true,
        .lenient = j->policy->mode != POLICY_ENFORCE,
    };

    for (size_t i = 0; i < decision->count; i++) {
        struct outcome *o = &decision->list[i];
        const char *problem;
        bool absent = false;

        if (!volumes_concern(o))
            continue;
        int rc = registry_source_is(o->op->mount.source)
                     ? registry_problem(o, &stage, &problem, err)
                     : source_problem(o, &stage, &problem, &absent, err);
        if (rc < 0)
            return -1;
        if (!problem)
            continue;
        decision_skip(decision, i, problem);
        if (!(absent && o->op->mount.volume->optional) && j->policy->mode == POLICY_ENFORCE)
            o->verdict = PLAN_DENIED;
    }
    int rc = stage_volumes_end(&stage, err);
    stage_volumes_close(&stage);
    return rc;
}

/* ---- the low-level runtime ---- */

/* Returns the path of the runtime that the policy names, in the arena; NULL if there is none. */
static const char *find_lowlevel(const struct policy *policy, struct arena *arena)
{
    const struct policy_list *paths = &policy->runtime_paths;
    struct lowlevel low;
    struct err ignored;

    if (lowlevel_find(paths->given ? paths->items : lowlevel_defaults,
                      paths->given ? paths->count : LOWLEVEL_DEFAULTS, &low, &ignored) < 0)
        return NULL;
    return arena_strndup(arena, low.path, strlen(low.path));
}

/* ---- the owner ---- */

static int find_owner(struct explanation *e, struct arena *arena, struct err *err)
{
    struct user user;

    e->owner = e->judgement.facts.identity;
    if (!e->owner.known && identity_find(e->policy, &e->spec, &e->owner, err) < 0) {
        e->owner = (struct id_pair){.why = arena_strndup(arena, err->msg, strlen(err->msg))};
        if (!e->owner.why)
            return err_nomem(err);
    }
    if (e->owner.known && user_by_uid(e->owner.uid, &user) == USER_FOUND) {
        e->owner_name = arena_strndup(arena, user.name, strlen(user.name));
        if (!e->owner_name)
            return err_nomem(err);
    }
    return 0;
}

static int describe_all(struct explanation *e, struct arena *arena, struct err *err)
{
    const struct decision *d = &e->decision;

    e->ops = arena_alloc(arena, (d->count + 1) * sizeof(*e->ops));
    if (!e->ops)
        return err_nomem(err);
    for (size_t i = 0; i < d->count; i++)
        if (describe_outcome(&d->list[i], arena, &e->ops[e->op_count++], err) < 0)
            return -1;
    return 0;
}

/* Says who is behind each operation, and which GPUs there are. */
static int find_origins(struct explanation *e, const struct explain_subject *subject,
                        struct arena *arena, struct err *err)
{
    _cleanup_json_ struct json_doc *state =
        subject->created ? origin_load(subject->id, subject->config) : NULL;

    return origin_apply(e, state, arena, err);
}

static int judge(const struct policy *policy, const struct explain_subject *subject,
                 struct arena *arena, struct explanation *out, struct err *err)
{
    struct judgement *j = &out->judgement;
    struct decision *d = &out->decision;
    struct err denials = ERR_INIT;

    if (judge_container(policy, &out->spec, subject->doc, subject->bundle, subject->id,
                        subject->created, find_lowlevel(policy, arena), arena, j, err) < 0)
        return -1;
    out->policy = j->policy;
    out->judged = j->policy->mode != POLICY_OFF;
    if (decision_begin(&j->plan, arena, d, err) < 0 || restack_root(j, true, arena, d, err) < 0 ||
        check_sources(j, arena, d, err) < 0 || find_owner(out, arena, err) < 0 ||
        describe_all(out, arena, err) < 0 || find_origins(out, subject, arena, err) < 0 ||
        warm_look(j, arena, &out->warm, err) < 0)
        return -1;
    if (decision_check(d, &denials) < 0) {
        if (denials.kind != ERR_POLICY)
            return err_nomem(err);
        out->refused = out->policy->mode == POLICY_ENFORCE;
    }
    return checks_add(out, subject, arena, err);
}

int explain_container(const struct policy *policy, const struct explain_subject *subject,
                      struct arena *arena, struct explanation *out, struct err *err)
{
    struct gpus gpus;

    *out = (struct explanation){.policy = policy, .id = subject->id, .config = subject->config};
    if (spec_read(subject->doc, arena, &out->spec, err) < 0)
        return err_wrap(err, "%s", subject->config);
    if (gpus_find(&out->spec, GPUS_DRIVER, arena, &gpus, err) < 0)
        return -1;
    out->gpus = gpus.list;
    out->gpu_count = gpus.count;
    out->judged = policy->mode != POLICY_OFF && policy->file_count > 0;
    return out->judged ? judge(policy, subject, arena, out, err) : find_owner(out, arena, err);
}

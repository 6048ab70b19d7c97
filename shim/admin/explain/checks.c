#include "shim/admin/explain/checks.h"

#include "shim/apply/apply.h"
#include "shim/apply/named_groups.h"
#include "shim/apply/nested.h"

#include <string.h>

/* Returns FILE:LINE of the rule for targets, or NULL if there is none. */
static const char *place_of(const struct policy *policy, struct arena *arena)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    policy_place_print(&policy->binds.targets_deny.place, &text);
    return text.len && !text.failed ? arena_strndup(arena, text.data, text.len) : NULL;
}

static struct description describe_check(const struct nested_mount *m, const struct spec *spec,
                                         const char *place, struct arena *arena)
{
    const struct spec_mount *mount = &spec->list[m->index];
    bool by_type = m->by && strcmp(m->by, NESTED_BY_TYPE) == 0;

    return (struct description){
        .kind = "place",
        .verdict = m->problem ? "denied" : "checked",
        .subject = mount->destination,
        .source = mount->source,
        .target = m->target,
        .value = m->by && !by_type ? arena_printf(arena, "%s:%s", m->by, m->root) : m->root,
        .reason = m->problem ? m->problem
                             : "users can change what is above it: a hook compares the mounts "
                               "before the container's process starts",
        .policy = place,
    };
}

static struct description describe_groups(const struct explanation *e, const char *problem,
                                          struct arena *arena)
{
    _cleanup_buf_ struct buf place = BUF_INIT;

    policy_place_print(&e->policy->security.groups.place, &place);
    return (struct description){
        .kind = "security",
        .verdict = "denied",
        .subject = "security.user",
        .reason = problem,
        .policy = place.failed ? NULL : arena_strndup(arena, place.data, place.len),
    };
}

static struct description describe_problem(const struct explanation *e,
                                           const struct nested_mounts *nested, struct arena *arena)
{
    _cleanup_buf_ struct buf place = BUF_INIT;

    policy_place_print(&e->policy->binds.place, &place);
    return (struct description){
        .kind = "place",
        .verdict = "denied",
        .subject = nested->subject,
        .reason = nested->problem,
        .policy = place.failed ? NULL : arena_strndup(arena, place.data, place.len),
    };
}

static void append_one(struct explanation *e, struct description *ops, const char **by,
                       struct description op)
{
    e->refused = e->refused || strcmp(op.verdict, "denied") == 0;
    by[e->op_count] = "policy";
    ops[e->op_count++] = op;
}

static int append(struct explanation *e, const struct nested_mounts *nested, const char *groups,
                  const struct spec *after, struct arena *arena, struct err *err)
{
    size_t room = e->op_count + nested->count + 3;
    struct description *ops = arena_alloc(arena, room * sizeof(*ops));
    const char **by = arena_alloc(arena, room * sizeof(*by));
    const char *place = place_of(e->policy, arena);

    if (!ops || !by)
        return err_nomem(err);
    for (size_t i = 0; i < e->op_count; i++) {
        ops[i] = e->ops[i];
        by[i] = e->by[i];
    }
    if (groups)
        append_one(e, ops, by, describe_groups(e, groups, arena));
    for (size_t i = 0; i < nested->count; i++)
        append_one(e, ops, by, describe_check(&nested->list[i], after, place, arena));
    if (nested->problem)
        append_one(e, ops, by, describe_problem(e, nested, arena));
    e->ops = ops;
    e->by = by;
    return 0;
}

int checks_add(struct explanation *e, const struct explain_subject *subject, struct arena *arena,
               struct err *err)
{
    struct user_ids ids;
    struct nested_options options = {.bundle = subject->bundle,
                                     .user = nested_user(e->policy, &e->judgement.facts, &ids),
                                     .require_access = e->policy->binds.require_access,
                                     .judged = e->policy->binds.given || e->policy->security.given,
                                     .targets_deny = &e->policy->binds.targets_deny,
                                     .decision = &e->decision,
                                     .open_root = e->judgement.binds.root != NULL,
                                     .ahead = true};
    struct spec *after = arena_alloc(arena, sizeof(*after));
    struct nested_mounts nested = {0};
    struct named_groups groups;

    if (!after)
        return err_nomem(err);
    if (!nested_concerns(e->policy) && !e->judgement.security.groups_judged)
        return 0;
    if (apply_decision(&e->decision, subject->doc, &e->spec, err) < 0 ||
        spec_read(subject->doc, arena, after, err) < 0 ||
        named_groups_judge(&e->judgement, &e->decision, &e->spec, after, subject->bundle, arena,
                           &groups, err) < 0)
        return -1;
    options.compare = groups.compare;
    if ((nested_concerns(e->policy) || groups.compare) &&
        nested_find(after, &options, arena, &nested, err) < 0)
        return -1;
    return append(e, &nested, groups.problem, after, arena, err);
}

#include "shim/admin/explain/checks.h"

#include "shim/apply/apply.h"
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

static int append(struct explanation *e, const struct nested_mounts *nested,
                  const struct spec *after, struct arena *arena, struct err *err)
{
    size_t room = e->op_count + nested->count + 1;
    struct description *ops = arena_alloc(arena, room * sizeof(*ops));
    const char **by = arena_alloc(arena, room * sizeof(*by));
    const char *place = place_of(e->policy, arena);

    if (!ops || !by)
        return err_nomem(err);
    for (size_t i = 0; i < e->op_count; i++) {
        ops[i] = e->ops[i];
        by[i] = e->by[i];
    }
    for (size_t i = 0; i < nested->count; i++) {
        e->refused = e->refused || nested->list[i].problem;
        by[e->op_count] = "policy";
        ops[e->op_count++] = describe_check(&nested->list[i], after, place, arena);
    }
    e->ops = ops;
    e->by = by;
    return 0;
}

int checks_add(struct explanation *e, const struct explain_subject *subject, struct arena *arena,
               struct err *err)
{
    struct user_ids ids;
    const struct nested_options options = {.bundle = subject->bundle,
                                           .user =
                                               nested_user(e->policy, &e->judgement.facts, &ids),
                                           .targets_deny = &e->policy->binds.targets_deny,
                                           .decision = &e->decision,
                                           .open_root = e->judgement.binds.root != NULL,
                                           .ahead = true};
    struct spec *after = arena_alloc(arena, sizeof(*after));
    struct nested_mounts nested;

    if (!nested_concerns(e->policy))
        return 0;
    if (!after)
        return err_nomem(err);
    if (apply_decision(&e->decision, subject->doc, &e->spec, err) < 0 ||
        spec_read(subject->doc, arena, after, err) < 0 ||
        nested_find(after, &options, arena, &nested, err) < 0)
        return -1;
    return append(e, &nested, after, arena, err);
}

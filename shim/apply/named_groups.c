#include "shim/apply/named_groups.h"

/* ---- the groups that are left ---- */

static bool is_taken(const struct security_facts *facts, uint32_t gid)
{
    for (size_t i = 0; i < facts->groups_other_count; i++)
        if (facts->groups_other[i] == gid)
            return true;
    return false;
}

/* Notes the first group that may become another. */
static int judge_group(uint32_t gid, const struct spec *spec, struct arena *arena,
                       struct named_groups *out, struct err *err)
{
    _cleanup_buf_ struct buf why = BUF_INIT;

    if (gid == spec->gid || out->problem)
        return 0;
    out->compare = out->file.movable;
    if (group_file_allows(&out->file, gid, &why))
        return 0;
    out->problem = why.failed ? NULL : arena_printf(arena, "security.user: %s", why.data);
    return out->problem ? 0 : err_nomem(err);
}

static int judge_added(const struct plan_groups *groups, const struct spec *spec,
                       struct arena *arena, struct named_groups *out, struct err *err)
{
    for (size_t i = 0; i < groups->count; i++)
        if (judge_group(groups->list[i], spec, arena, out, err) < 0)
            return -1;
    return 0;
}

int named_groups_judge(const struct judgement *judgement, const struct decision *decision,
                       const struct spec *spec, const struct spec *after, int bundle,
                       struct arena *arena, struct named_groups *out, struct err *err)
{
    *out = (struct named_groups){.judged = judgement->policy->mode == POLICY_ENFORCE &&
                                           judgement->security.groups_judged};
    if (!out->judged)
        return 0;
    if (group_file_gather(after, bundle, arena, &out->file, err) < 0)
        return -1;
    for (size_t i = 0; i < spec->group_count; i++)
        if (!is_taken(&judgement->security, spec->groups[i]) &&
            judge_group(spec->groups[i], spec, arena, out, err) < 0)
            return -1;
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        if (o->op->kind == PLAN_GROUPS && o->verdict == PLAN_ADDED &&
            judge_added(&o->op->groups, spec, arena, out, err) < 0)
            return -1;
    }
    return 0;
}

void named_groups_apply(const struct judgement *judgement, const struct spec *spec,
                        struct json_doc *doc, bool *changed)
{
    if (judgement->security.groups_judged &&
        spec_take_group(json_get(json_root(doc), "process"), spec->gid))
        *changed = true;
}

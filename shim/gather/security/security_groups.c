#include "shim/gather/bind_ids.h"
#include "shim/gather/security/security_user.h"
#include "shim/host/trust.h"
#include "shim/host/users/groups.h"

static bool judges_groups(const struct policy_security *s, const struct spec *spec)
{
    return s->groups.deny && spec->process && !trust_in_user_namespace();
}

/* ---- supplementary groups ---- */

static int find_others(struct own_groups *own, const struct spec *spec, struct arena *arena,
                       struct security_facts *out, struct err *err)
{
    uint32_t *others = arena_alloc(arena, (spec->group_count + 1) * sizeof(*others));
    _cleanup_buf_ struct buf words = BUF_INIT;

    if (!others)
        return err_nomem(err);
    out->groups_other = others;
    for (size_t i = 0; i < spec->group_count; i++) {
        uint32_t gid = spec->groups[i];
        if ((spec->gid_map.count && !id_map_outside(&spec->gid_map, gid, &gid)) ||
            !own_groups_problem(own, gid))
            continue;
        if (out->groups_other_count)
            buf_puts(&words, ", ");
        group_print(gid, &words);
        others[out->groups_other_count++] = spec->groups[i];
    }
    if (!out->groups_other_count)
        return 0;
    out->groups_words = words.failed ? NULL : arena_strndup(arena, words.data, words.len);
    return out->groups_words ? 0 : err_nomem(err);
}

int security_settle_groups(const struct policy_security *s, const struct spec *spec,
                           struct facts *facts, struct arena *arena, struct err *err)
{
    _cleanup_own_groups_ struct own_groups own = {.uid = facts->process.uid};

    if (!judges_groups(s, spec) || !facts->process.known || facts->process.uid == 0)
        return 0;
    gid_t *left = arena_alloc(arena, (facts->group_count + 1) * sizeof(*left));
    size_t count = 0;
    if (!left)
        return err_nomem(err);
    for (size_t i = 0; i < facts->group_count; i++)
        if (!own_groups_problem(&own, facts->groups[i]))
            left[count++] = facts->groups[i];
    facts->groups = left;
    facts->group_count = count;
    return 0;
}

/* ---- the group ---- */

static int find_group(struct own_groups *own, gid_t gid, struct arena *arena,
                      struct security_facts *out, struct err *err)
{
    const char *problem = own_groups_problem(own, gid);
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (!problem)
        return 0;
    buf_puts(&text, "the container's process would have the group ");
    group_print(gid, &text);
    buf_printf(&text, ", %s", problem);
    out->group_problem = text.failed ? NULL : arena_strndup(arena, text.data, text.len);
    return out->group_problem ? 0 : err_nomem(err);
}

/* Notes a map with the ids of others: root of its namespace takes on any group that it has. */
static int judge_map(const struct spec *spec, const struct facts *facts, struct arena *arena,
                     struct security_facts *out, struct err *err)
{
    if (!spec->uid_map.count && !spec->gid_map.count)
        return 0;
    return bind_ids_judge(spec, facts, arena, &out->group_problem, err);
}

int security_find_groups(const struct policy_security *s, const struct spec *spec,
                         const struct facts *facts, struct arena *arena, struct security_facts *out,
                         struct err *err)
{
    _cleanup_own_groups_ struct own_groups own = {.uid = facts->process.uid};

    if (!judges_groups(s, spec))
        return 0;
    out->groups_judged = !spec->uid_map.count && !spec->gid_map.count;
    if (!facts->process.known) {
        out->group_problem = facts->process.why;
        out->group_mapped = true;
        return 0;
    }
    if (facts->process.uid == 0) /* root needs no group */
        return 0;
    if (judge_map(spec, facts, arena, out, err) < 0)
        return -1;
    out->group_mapped = out->group_problem != NULL;
    if (!out->group_problem && find_group(&own, facts->process.gid, arena, out, err) < 0)
        return -1;
    return find_others(&own, spec, arena, out, err);
}

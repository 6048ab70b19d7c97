/* Groups: those that the host does not give the container's user are refused or taken away. */
#include "shim/plan/security/security_deny.h"

int security_judge_groups(struct planner *p)
{
    const struct policy_security *s = &p->in->policy->security;
    const struct security_facts *facts = p->in->security;

    if (!s->groups.deny)
        return 0;
    if (facts->group_mapped &&
        deny_advising(p, "security.user", &s->groups.place, "%s", facts->group_problem) < 0)
        return -1;
    if (facts->group_problem && !facts->group_mapped &&
        deny_advising(p, "security.user", &s->groups.place, "%s: %s", facts->group_problem,
                      s->root_say ? s->root_say
                                  : "run it with a group of its user, as with --user "
                                    "$(id -u):$(id -g)") < 0)
        return -1;
    if (!facts->groups_other_count)
        return 0;
    struct plan_op *op = security_push(p, PLAN_OWN_GROUPS, "security.user");
    if (!op)
        return -1;
    op->own_groups = (struct plan_own_groups){facts->groups_other, facts->groups_other_count};
    return plan_decide(p, op, PLAN_DOWNGRADED, &s->groups.place,
                       "taken away, as its user does not have them on this host: the groups %s",
                       facts->groups_words);
}

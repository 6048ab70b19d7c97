/*
 * Judges the supplementary groups that a container's process is left with by name as well
 * (group_file.h): those of config.json that are its user's own, and those that the plan adds. Not
 * in a user namespace of the container's, where names only lead to ids that it has.
 */
#ifndef SHIM_NAMED_GROUPS_H
#define SHIM_NAMED_GROUPS_H

#include "shim/gather/security/group_file.h"
#include "shim/plan/decision/decision.h"
#include "shim/plan/judge.h"

struct named_groups {
    bool judged; /* the policy is enforced, and judges groups: `file` is filled in */
    struct group_file file;
    bool compare;        /* the mounts must be compared (nested.h): there is such a group */
    const char *problem; /* why the container is refused: a message; or NULL */
};

/*
 * Judges them, in a container `spec` that will have the mounts of `after`. `bundle` is the open
 * directory that relative paths start from. The problem is in the arena. Fails as
 * group_file_gather does.
 */
int named_groups_judge(const struct judgement *judgement, const struct decision *decision,
                       const struct spec *spec, const struct spec *after, int bundle,
                       struct arena *arena, struct named_groups *out, struct err *err) must_check;

/*
 * Takes the primary group out of the supplementary ones of config.json, where it is only looked up
 * by name. Sets *changed if it was there.
 */
void named_groups_apply(const struct judgement *judgement, const struct spec *spec,
                        struct json_doc *doc, bool *changed);

#endif

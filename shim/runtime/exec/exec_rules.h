/*
 * What the policy's "security" holds every exec of a container to. An exec brings a process of its
 * own (`docker exec --privileged`, `-u 0`), and at that time nobody knows any more which profile
 * counted: so create writes down what follows, as the member "rules" of the container's state.
 *
 *   root {uid, why}              that user of the container is root on the host, and is denied
 *   privileged {bounding, why}   no capability beyond those bits, the container's own
 *   capabilities                 bits: others are taken away
 *   no_new_privileges            is set
 *
 * Pure.
 */
#ifndef SHIM_EXEC_RULES_H
#define SHIM_EXEC_RULES_H

#include "shim/plan/judge.h"

/*
 * Adds the rules to a state, if there are any; what rules it has already (of a flatbed-runtime
 * before this one) stay, or become stricter. `spec` is of the container as it will be created.
 * Returns how many rules there are.
 */
int exec_rules_keep(const struct judgement *judgement, const struct spec *spec,
                    struct json_doc *state, struct err *err) must_check;

/* Holds a process to the rules (NULL: none). ERR_POLICY says what is denied, and why. */
int exec_rules_apply(const struct json *rules, const struct spec *process, struct json_doc *doc,
                     struct err *err) must_check;

#endif

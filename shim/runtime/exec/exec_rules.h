/*
 * The rules for exec and update, from the policy's "security" and "binds". An exec has a process of
 * its own (`docker exec --privileged`, `-u 0`), and the profile that counted at create is not known
 * then: so create keeps the rules, as the member "rules" of the container's state.
 *
 *   root {uid, why}              that user of the container is root on the host, and is denied
 *   privileged {bounding, why}   no capability beyond those bits, the container's, is allowed
 *   capabilities                 bits: others are removed
 *   own_groups                   supplementary groups that are not the user's own are removed
 *   group {why}                  a primary group that is not the user's own is denied
 *   names {why, numbers, problem, copied}
 *                                so is a group that group_file.h does not allow: of those numbers,
 *                                or, with a problem, any. `copied`: users can replace the file
 *                                since, or have another, and all are removed for a runtime that
 *                                reads it. Without
 *                                this rule beside `group`, which an older version kept, all are
 *                                removed
 *   realtime {why}               no priority before all others of the host is allowed
 *   cgroup {why}                 an update names no file of processes, or of another cgroup
 *                                (cgroup_files.h); nor does it under other rules without this one
 *   no_new_privileges            is set
 *   cwd                          of cwd_rule.h, also for a start
 *   namespaces                   of pinned_namespaces.h
 *   permissive                   a process that cannot be read is not refused
 *
 * Pure, but for the groups of the host.
 */
#ifndef SHIM_EXEC_RULES_H
#define SHIM_EXEC_RULES_H

#include "shim/gather/security/group_file.h"
#include "shim/plan/judge.h"

/*
 * Adds the rules to a state, if there are any; rules that it has already (from another
 * flatbed-runtime just before) stay, or become stricter. `spec` is the container as it will be
 * created, `names` its groups' names (NULL: not judged), `loose` whether users can have an exec
 * look names up in another file. Returns how many rules there are.
 */
int exec_rules_keep(const struct judgement *judgement, const struct spec *spec,
                    const struct group_file *names, bool loose, struct json_doc *state,
                    struct err *err) must_check;

/* Returns ERR_POLICY if the file of an update asks for what the rules (NULL: none) deny. Pure. */
int exec_rules_update(const struct json *rules, const struct json *resources,
                      struct err *err) must_check;

/* Returns true if a policy that is enforced kept some of the rules (NULL: none). */
bool exec_rules_enforced(const struct json *rules);

/* Returns true if users can have replaced the container's /etc/group since it was judged. Pure. */
bool exec_rules_copied(const struct json *rules);

/*
 * Applies the rules (NULL: none) to a process, but for names. ERR_POLICY says what is denied, and
 * why.
 */
int exec_rules_apply(const struct json *rules, const struct spec *process, struct json_doc *doc,
                     struct err *err) must_check;

/*
 * Then applies the rule for the names of groups. `nameless`: supplementary groups are removed, as
 * the runtime would look them up in a file that users can have replaced. ERR_POLICY as above.
 */
int exec_rules_apply_names(const struct json *rules, const struct spec *process, bool nameless,
                           struct err *err) must_check;

#endif

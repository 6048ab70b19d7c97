/*
 * The working directory. The low-level runtimes enter it as root, before they become the
 * container's user: below a closed directory of a mount he could start where he may not go. Where
 * the policy requires that he can reach what is mounted, create refuses such a directory
 * (nested.h), and keeps the member "cwd" of the rules, as links can lead elsewhere by then:
 *
 *   user         {uid, gid, groups} on the host, of the first process; none if that is root
 *   open_root    the root is not an engine's, and has closed directories of its own
 *   own_ids      the container has a user namespace: the root of that, as whom the runtimes enter
 *                the directory of an exec, has no rights over what others own
 *
 * start, for which the first process waits in its directory, compares it with what the user can
 * reach. An exec does not wait: it gets a descriptor of the directory, as which he opened it, by a
 * path in /proc of the mount namespace that was judged (pinned_namespaces.h).
 */
#ifndef SHIM_CWD_RULE_H
#define SHIM_CWD_RULE_H

#include "base/json/json.h"
#include "shim/host/users/as_user.h"
#include "shim/oci/call.h"
#include "shim/oci/spec.h"

/*
 * Adds the rule to a state. `spec` is the container as it will be created, `user` its first
 * process's, or NULL.
 */
int cwd_rule_keep(const struct spec *spec, const struct user_ids *user, bool open_root,
                  struct json_doc *state, struct err *err) must_check;

/*
 * Opens the working directory of an exec under the rules (NULL: none). *fd is the descriptor, which
 * the caller closes, or -1 if the process needs none: without the rule, for root of the container,
 * and for "/". ERR_POLICY: the user may not enter it.
 */
int cwd_rule_open(const struct json *rules, const struct call *call, const struct spec *process,
                  int *fd, struct err *err) must_check;

/* Returns ERR_POLICY if the first process of a created container waits where it may not be. */
int cwd_rule_check(const struct json *rules, const struct call *call, struct err *err) must_check;

#endif

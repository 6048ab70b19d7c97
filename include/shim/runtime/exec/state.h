/*
 * What `create` knows and `exec` needs: the variables and resource limits that it added (engines
 * build both anew from the image and from their own defaults, and TORCH_HOME would be lost), and
 * what the policy holds an exec to (exec_rules.h).
 *
 * One file for each container: /run/flatbed/state/ROOT/ID.json, an object with `env`, `rlimits`
 * (entries as in config.json, with `was`, the engine's own that it replaced, if there was one) and
 * `rules`. It goes with `delete`; a container of the same name that comes later replaces it.
 */
#ifndef SHIM_STATE_H
#define SHIM_STATE_H

#include "shim/plan/decision.h"
#include "shim/plan/judge.h"

/*
 * Keeps the variables and limits that the decision adds, and those that an edit before this one
 * added; and the rules for `held`, the container as it will be created (NULL: none are kept).
 * `root` is the runtime's --root or NULL. `again`: another flatbed-runtime has edited just before;
 * what it kept stays. Otherwise what is there is an older container's, and goes.
 */
int state_save(const char *root, const char *id, const struct judgement *judgement,
               const struct decision *decision, const struct spec *held, bool again,
               struct err *err) must_check;

/*
 * The document that was kept. Its file missing is ERR_SYSTEM with ENOENT; ERR_UNSUPPORTED: nothing
 * can be kept (a rootless runtime, a relative root, a name too long).
 */
struct json_doc *state_load(const char *root, const char *id, struct err *err) must_check;

/* Forgets a container; that there is none is no error. */
int state_forget(const char *root, const char *id, struct err *err) must_check;

#endif

/*
 * The state that `create` keeps for `exec`: the variables and resource limits that it added
 * (engines build both anew from the image and from their own defaults, and TORCH_HOME would be
 * lost), and the policy's rules for exec (exec_rules.h).
 *
 * One file for each container: /run/flatbed/state/ROOT/ID.json, an object with `env`, `rlimits`
 * (entries as in config.json, with `was`, the engine's own value that was replaced, if there was
 * one), `rules`, and `launch` (launch_mark.h). It goes when the container is gone: with a `delete`
 * that the low-level runtime did not refuse, or with the next sweep (state_sweep.h). A later
 * container of the same name replaces it.
 */
#ifndef SHIM_STATE_H
#define SHIM_STATE_H

#include "shim/plan/decision/decision.h"
#include "shim/plan/judge.h"

/*
 * Keeps the variables and limits that the decision adds, and the rules for `held`, the container as
 * it will be created (NULL: none are kept). `root` is the runtime's --root or NULL. `again`:
 * another flatbed-runtime has edited just before, and what it kept stays; otherwise an existing
 * file is an older container's, and is replaced. ERR_POLICY if the low-level runtime has a
 * container of that name: it refuses another, and the file is that container's.
 */
int state_save(const char *root, const char *id, const struct judgement *judgement,
               const struct decision *decision, const struct spec *held, bool again,
               struct err *err) must_check;

/*
 * Returns the document that was kept, for json_free. ERR_SYSTEM with ENOENT if there is no file;
 * ERR_UNSUPPORTED if none can be kept (a rootless runtime, a relative root, a name too long).
 */
struct json_doc *state_load(const char *root, const char *id, struct err *err) must_check;

/* Removes the file of a container. No error if there is none. */
int state_forget(const char *root, const char *id, struct err *err) must_check;

/* Returns true if there may be a file of a container. */
bool state_is_kept(const char *root, const char *id);

/* Removes the file of a container that the low-level runtime does not have any more. */
void state_forget_gone(const char *root, const char *id);

#endif

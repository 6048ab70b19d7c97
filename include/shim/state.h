/*
 * What `create` gave to a container's environment and resource limits, kept for its `exec`: engines
 * build both anew from the image and from their own defaults, and TORCH_HOME would be lost.
 *
 * One file for each container: /run/flatbed/state/ROOT/ID.json, an object with `env` and `rlimits`
 * (entries as in config.json, with `was`, the engine's own that it replaced, if there was one). It
 * is a convenience: nothing fails because it is missing or cannot be read. It goes with `delete`; a
 * container of the same name that comes later replaces it.
 */
#ifndef SHIM_STATE_H
#define SHIM_STATE_H

#include "shim/plan.h"

/*
 * Keeps the variables and limits that the plan adds, and those that an edit before this one added.
 * `root` is the runtime's --root or NULL. `again`: another flatbed-runtime has edited just before;
 * what it kept stays. Otherwise what is there is an older container's, and goes.
 */
int state_save(const char *root, const char *id, const struct plan *plan, bool again,
               struct err *err) must_check;

/* The document that was kept; NULL if there is none. */
struct json_doc *state_load(const char *root, const char *id, struct err *err) must_check;

/* Forgets a container; that there is none is no error. */
int state_forget(const char *root, const char *id, struct err *err) must_check;

#endif

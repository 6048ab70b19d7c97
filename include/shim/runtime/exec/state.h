/*
 * The state that `create` keeps for `exec`, `start` and `update`: the variables and resource limits
 * that it added (engines build both anew from the image and from their own defaults, and TORCH_HOME
 * would be lost), and the policy's rules for exec (exec_rules.h).
 *
 * One file for each container: /run/flatbed/state/ROOT/ID.json, an object with `env`, `rlimits`
 * (entries as in config.json, with `was`, the engine's own value that was replaced, if there was
 * one), `rules`, `user` (`env` and `groups` for processes of that `uid` only), and `launch`
 * (launch_mark.h); and for `flatbed explain`, `made` (the operations that changed config.json, as
 * describe.h writes them) and `bundle` (its path). It goes when the container is gone: with a
 * `delete` that the low-level runtime did not refuse, or with the next sweep (state_sweep.h). A
 * later container of the same name replaces it.
 */
#ifndef SHIM_STATE_H
#define SHIM_STATE_H

#include "shim/gather/security/group_file.h"
#include "shim/plan/decision/decision.h"
#include "shim/plan/judge.h"

/* The container whose state is kept. */
struct state_source {
    const struct judgement *judgement;
    const struct decision *decision;
    const struct spec *spec;        /* the container as it will be created */
    const struct group_file *names; /* the groups are judged by name as well; or NULL */
    bool loose_names;               /* users can have an exec look names up in another file */
    bool held;                      /* the policy's rules for exec are kept as well */
    bool enters; /* its user must be able to enter the working directory (cwd_rule.h) */
    const struct user_ids *user; /* of its process, on the host; NULL: root of the container */
    int bundle;                  /* the open directory of config.json */
};

/*
 * Keeps what the decision adds, and the rules. `root` is the runtime's --root or NULL. `again`:
 * another flatbed-runtime has edited just before, and what it kept stays; otherwise an existing
 * file is an older container's, and is replaced. ERR_POLICY if the low-level runtime has a
 * container of that name: it refuses another, and the file is that container's.
 */
int state_save(const char *root, const char *id, const struct state_source *from, bool again,
               struct err *err) must_check;

/*
 * Loads what later commands are held to. *doc is an object, for json_free, or NULL if the container
 * was not created by flatbed-runtime, or nothing had to be kept. Fails if it cannot be read.
 */
int state_find(const char *root, const char *id, struct json_doc **doc, struct err *err) must_check;

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

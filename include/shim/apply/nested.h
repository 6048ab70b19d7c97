/*
 * Mounts whose targets lie below other mounts of the container, or in a root that is not an
 * engine's.
 *
 * The low-level runtime finds a target by its path in the container, below earlier mounts as well.
 * A user who can change what is there can put a symbolic link on the way at any time, and have the
 * mount made elsewhere. No check beforehand can exclude that. Therefore config.json gets a
 * createContainer hook (runtime-spec, config.md#posix-platform-hooks; nested_hook.h):
 * flatbed-runtime, which compares the container's table of mounts with the places where they should
 * be before the container's process starts.
 */
#ifndef SHIM_NESTED_H
#define SHIM_NESTED_H

#include "shim/apply/nested_hook.h"
#include "shim/host/users/as_user.h"
#include "shim/plan/decision/decision.h"
#include "shim/policy/policy.h"
#include "shim/request/facts.h"

struct nested_options {
    int bundle; /* the open directory that relative sources start from */
    /* The policy's list, borrowed. Unless it is empty, or with `compare`, symbolic links of mounts
     * are refused, and the hook is put in. */
    const struct policy_list *targets_deny;
    const struct decision *decision; /* that was applied: tells volumes; borrowed */
    /* The user who must be able to reach a target in a bind mount or a volume, and to make one that
     * a writable bind mount lacks; NULL: nobody. */
    const struct user_ids *user;
    bool require_access; /* where no rule says otherwise */
    bool judged;         /* a working directory that is missing in a mount is refused */
    bool compare;        /* the mounts are compared whatever that list is: see group_file.h */
    bool open_root;      /* the root is not an engine's: users may own directories in it */
    bool restoring;      /* a checkpoint: its mounts are made without hooks */
    bool ahead; /* sources are made and held later: one that cannot be looked at is no error */
};

/* A mount that is refused, or that the hook compares. */
struct nested_mount {
    size_t index;          /* in spec->list */
    const char *problem;   /* why it is refused; or NULL */
    const char *target;    /* in the container, without links */
    const char *by, *root; /* as in the words of the hook; NULL: not known yet, or refused */
};

struct nested_mounts {
    struct nested_mount *list; /* in the order of the container's mounts */
    size_t count;
    struct nested_words words; /* for nested_hook_put */
    const char *problem;       /* why the container is refused, beyond its mounts; or NULL */
    const char *subject;       /* of config.json, for which it is */
    bool requires_access;      /* the user must be able to reach what one of all mounts shows */
};

/* Returns true if the mounts of containers are looked at under that policy, by this process. */
bool nested_concerns(const struct policy *policy);

/*
 * Sets the user for nested_options, and returns it; NULL where no bind requires access, and for the
 * root of the container, which may do what the runtime does.
 */
const struct user_ids *nested_user(const struct policy *policy, const struct facts *facts,
                                   struct user_ids *out);

/*
 * Finds these mounts in config.json as the low-level runtime will get it, with those that are
 * refused: a target that a read-only bind mount above it does not have (crun would make it in the
 * source), or that a writable one does not have and `user` could not make in it, or that is in a
 * directory which `user` may not search, a copy of what users can change ("tmpcopyup"), and, where
 * the mounts are compared, a target behind a symbolic link of a mount, and a volume that links of
 * the root would have over a path of that list. A working directory is refused that is missing in
 * a mount, also one of the policy's own, or that `user` may not enter in a mount which he must be
 * able to reach. So is a path of linux.maskedPaths or readonlyPaths above which users can change
 * what is there. Texts are in the arena. Fails if a source cannot be looked at.
 */
int nested_find(const struct spec *spec, const struct nested_options *options, struct arena *arena,
                struct nested_mounts *out, struct err *err) must_check;

#endif

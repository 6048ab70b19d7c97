/*
 * The facts for the policy's "user": what the image knows of the container's user, and which groups
 * the user has on this host.
 *
 * The files are those of the container's root before anything is mounted there. They are opened
 * within that root (openat2(2), RESOLVE_IN_ROOT), so that no link of the image leads to the host,
 * and read only if they are regular files.
 */
#ifndef SHIM_ACCOUNT_H
#define SHIM_ACCOUNT_H

#include "shim/request/facts.h"

enum { ACCOUNT_PASSWD, ACCOUNT_GROUP, ACCOUNT_FILES };

/* "/etc/passwd" and "/etc/group". */
extern const char *const account_targets[ACCOUNT_FILES];

/* The paths of the generated files, in the directory of pinned sources. */
extern const char *const account_sources[ACCOUNT_FILES];

struct account_file {
    const char *text;    /* of the image; NULL: see `problem` */
    const char *problem; /* why it cannot be used */
};

struct account_facts {
    const char *root_problem;                 /* why nothing is given to this process; or NULL */
    struct account_file files[ACCOUNT_FILES]; /* if the policy has user.passwd */
    const char *group; /* the name of the process's group in the host's /etc/group; or NULL */
    const char *home;  /* the policy's, for this container; NULL: none, see home_problem */
    const char *home_problem; /* why there is none; NULL if the policy says none */
    bool home_exists;         /* a directory of the image */
    const gid_t *groups;      /* of the process's user on this host, if the policy gives them */
    size_t group_count;
    const char *groups_problem; /* why they are not known; or NULL */
};

/* Returns true if the policy gives anything to users. */
bool account_wanted(const struct policy *policy);

/*
 * Gathers the facts; `bundle` is the open directory that a relative root starts from. The groups
 * are added to those in `facts`. Texts are in the arena. Fails only without memory.
 */
int account_gather(const struct policy *policy, const struct spec *spec, int bundle,
                   struct facts *facts, struct arena *arena, struct account_facts *out,
                   struct err *err) must_check;

#endif

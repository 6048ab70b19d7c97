/*
 * The supplementary groups that a user of this host has: /etc/group, and the other databases of
 * nsswitch.conf by `getent`, for the reasons in user.h.
 *
 * Groups that are or may be powerful are never among them, whoever their members are: those with an
 * id below 1000 (root, disk, shadow, and all that the system's packages make), and those with a
 * well-known name (groups_privileged).
 */
#ifndef SHIM_GROUPS_H
#define SHIM_GROUPS_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "shim/host/users/user.h"

#include <stddef.h>

enum { GROUPS_MOST = 256, GROUP_LEAST = 1000, GROUP_NAME_MAX = 256 };

struct groups {
    gid_t list[GROUPS_MOST];
    size_t count;
};

/*
 * Finds the groups of the user, the primary one first. May start getent twice, for at most two
 * seconds each. Returns false if a database did not answer.
 */
bool groups_of_user(const struct user *user, struct groups *out);

/* Returns true if the list has the group. */
bool groups_have(const struct groups *groups, gid_t gid);

/* Finds the name of a group in /etc/group; false if it has none there. */
bool group_name(gid_t gid, char out[GROUP_NAME_MAX]);

/* Returns true for the well-known name of a group that root would not give to a container. */
bool groups_privileged(const char *name, size_t len);

/* Adds the groups of which a text in the form of /etc/group names the user as a member. Pure. */
void groups_parse(const char *text, const char *user, struct groups *out);

/*
 * Returns true if nsswitch.conf(5) looks for members of groups elsewhere than in files: then
 * /etc/group is not enough. `text` may be NULL. Pure.
 */
bool groups_elsewhere(const char *text);

/* ---- the groups that a process of a user may have ---- */

/* A user and a group of this host, as far as they are known. */
struct group_claim {
    uid_t uid;
    gid_t gid;
    enum user_answer user, group; /* whether this host has them */
    gid_t primary;                /* of the user, if he is found */
    bool member;                  /* groups_of_user has the group */
    bool privileged;              /* the group has a well-known name (groups_privileged) */
};

/*
 * Returns NULL if the group is the user's own, or the reason why it is not, as the end of a
 * sentence; static. Such are the groups that the host gives the user, less powerful ones; a group
 * that the host does not have, from GROUP_LEAST on, or of the number of a user that it does not
 * have either. Group 0 is nobody's. Pure.
 */
const char *group_claim_problem(const struct group_claim *claim);

/* The groups that were looked up for a user. Set `uid` alone to begin. */
struct own_groups {
    uid_t uid;
    bool has_files, has_user;
    char *local, *databases; /* /etc/group, /etc/nsswitch.conf */
    struct user user;
    struct groups groups;
    enum user_answer answer;
};

/* Frees what was looked up. */
void own_groups_clear(struct own_groups *own);

#define _cleanup_own_groups_ _cleanup_(own_groups_clear)

/* Returns as group_claim_problem for a group of the user. May start getent, as groups_of_user. */
const char *own_groups_problem(struct own_groups *own, gid_t gid);

/* Appends "42 (shadow)", or "42" for a group without a name in /etc/group. */
void group_print(gid_t gid, struct buf *out);

#endif

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

#include "shim/host/user.h"

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

#endif

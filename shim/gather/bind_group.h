/*
 * The group that a container's process lacks for a source: Docker's --user gives up the
 * supplementary groups that the user has on the host, which surprises those who share directories
 * by groups.
 */
#ifndef SHIM_BIND_GROUP_H
#define SHIM_BIND_GROUP_H

#include "shim/gather/binds.h"
#include "shim/host/users/groups.h"

/* The groups of the process's user, looked up at the first use. */
struct bind_groups {
    const struct facts *facts;
    bool looked_up;
    struct groups groups;
};

/*
 * Sets s->group if the open source `fd` would be readable, or writable, to the process with a group
 * that its user has. Groups that groups.h calls privileged do not count. Fails only without memory.
 */
int bind_group_find(struct bind_groups *g, int fd, struct arena *arena, struct bind_source *s,
                    struct err *err) must_check;

#endif

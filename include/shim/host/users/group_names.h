/*
 * Groups by name, as runc's init finds them: it looks up each number of process.user.additionalGids
 * in the container's /etc/group (GetAdditionalGroups of its package user), and takes a line whose
 * name is that number for the group, whatever its gid. So an image decides which group a number is.
 */
#ifndef SHIM_GROUP_NAMES_H
#define SHIM_GROUP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GROUP_NAMES_MOST = 64 };

/* The numbers that are the names of other groups. */
struct group_names {
    uint32_t list[GROUP_NAMES_MOST];
    size_t count;
    bool more; /* there are more than the list holds */
};

/*
 * Adds those of a text in the form of /etc/group, which may hold any bytes. A line counts unless
 * its gid is certainly its name: runc takes what is no number for 0, and trims lines. Pure.
 */
void group_names_read(const char *text, size_t len, struct group_names *out);

/* Adds a number, once. */
void group_names_add(struct group_names *names, uint32_t gid);

/* Returns true if the number is, or may be, the name of another group. */
bool group_names_have(const struct group_names *names, uint32_t gid);

#endif

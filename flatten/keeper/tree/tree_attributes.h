/* Owner, mode, time and extended attributes of a file that was made. */
#ifndef FLATTEN_TREE_ATTRIBUTES_H
#define FLATTEN_TREE_ATTRIBUTES_H

#include "flatten/wire/wire_entry.h"

#include <stdbool.h>

struct tree_attributes {
    bool owners;       /* see tree_unpack_start */
    uint64_t left_out; /* attributes and devices that this user may not make */
};

/*
 * Returns true, and counts it, if what failed with errno is to be left out: only root may make it,
 * and owners are not kept either.
 */
bool tree_attributes_leave_out(struct tree_attributes *a);

/*
 * Gives the entry's attributes to the file `name` of the working directory. `fd`: the file, open
 * for writing, or -1. The xattrs of `e` are used up.
 */
int tree_attributes_set(struct tree_attributes *a, const char *name, int fd, struct wire_entry *e,
                        struct err *err) must_check;

/*
 * The same for a new name of a file that has attributes already: only those that differ are set,
 * because a new owner takes away capabilities and set-user-ID.
 */
int tree_attributes_update(struct tree_attributes *a, const char *name, struct wire_entry *e,
                           struct err *err) must_check;

#endif

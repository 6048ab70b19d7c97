/*
 * Compares a container's upper directory with the layers below it, while the container runs.
 *
 * The upper directory is written by the container: no link in it is followed, no file is opened for
 * its content, and each directory is opened from the one that holds it. Entries that vanish
 * meanwhile are passed over.
 */
#ifndef SHIM_WALK_H
#define SHIM_WALK_H

#include "shim/admin/copyups/tally.h"

struct walk_input {
    int upper;         /* a directory open for reading; borrowed */
    const int *layers; /* the same, topmost first; their positions change */
    size_t layer_count;
    const char *name; /* of the container, for a word while its file system does not answer */
    bool users;       /* the overlay's marks are attributes of "user." (option userxattr) */
};

/*
 * Counts everything below the upper directory, into a tally that was begun with as many layers.
 * Fails only without memory.
 */
int walk_upper(const struct walk_input *input, struct tally *out, struct err *err) must_check;

/* Raises the number of open files of this process as far as it goes. */
void walk_raise_limit(void);

#endif

/* The files of several names that were counted: their bytes count once. */
#ifndef SHIM_LINKS_H
#define SHIM_LINKS_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { LINKS_MOST = 1 << 20 };

struct links {
    struct link {
        uint64_t device, inode; /* inode 0: empty */
    } * slots;                  /* owned */
    size_t size, count;
};

/*
 * Returns true if the file is seen for the first time. Beyond LINKS_MOST files, or without memory,
 * each name is the first.
 */
bool links_first(struct links *links, dev_t device, ino_t inode);

/* Frees the set. */
void links_free(struct links *links);

#endif

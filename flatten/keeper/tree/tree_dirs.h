/*
 * Directories whose attributes are set at the end: files in them change their times, and their
 * modes may forbid to make files in them.
 */
#ifndef FLATTEN_TREE_DIRS_H
#define FLATTEN_TREE_DIRS_H

#include "base/arena.h"
#include "flatten/wire/wire_entry.h"

struct tree_dirs {
    struct arena arena;
    struct wire_entry *list; /* in the arena, as all of their texts */
    size_t count;
};

/* The most bytes of memory for the attributes of all directories. */
#define TREE_DIRS_MOST ((size_t)1 << 30)

/* Adds a copy of the directory's entry. ERR_LIMIT beyond TREE_DIRS_MOST. */
int tree_dirs_add(struct tree_dirs *d, const struct wire_entry *e, struct err *err) must_check;

/* Frees all of them. */
void tree_dirs_clear(struct tree_dirs *d);

#endif

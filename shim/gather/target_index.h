/* Mount points by their paths, so that a container's many mounts take linear time. */
#ifndef SHIM_TARGET_INDEX_H
#define SHIM_TARGET_INDEX_H

#include "base/arena.h"
#include "base/hash.h"
#include "shim/gather/targets.h"

struct target_place; /* all mounts on one path */

struct target_index {
    struct target_place *places; /* a hash table; without a path: free */
    size_t mask;
    struct hash_key key;
};

/* The mounts of the index that concern a path. */
struct target_above {
    size_t within; /* the number of the mount that holds the path's directory, or TARGET_ROOT */
    bool foreign;  /* a mount above the path has foreign content */
    bool covers;   /* a mount on the path has foreign content */
    bool hidden;   /* a mount on the path or above it hides what the root has there */
};

/* Makes an empty index for at most `count` mounts, in the arena. Fails only without memory. */
int target_index_init(struct target_index *index, size_t count, struct arena *arena,
                      struct err *err) must_check;

/* Adds the mount of that number. Its path must live as long as the index. */
void target_index_add(struct target_index *index, const struct target *target, size_t number);

/* Returns what is on and above a clean, absolute path. */
struct target_above target_index_above(const struct target_index *index, const char *path);

#endif

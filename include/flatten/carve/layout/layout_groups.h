/*
 * Groups of files that stay together: all files of an owner, or a part of them if they exceed the
 * cap or have no owner.
 *
 * A large package of the operating system has small files (documentation, links to libraries) in
 * directories that all packages share. In a layer of its own, these would add a layer to every
 * lookup there; so they are a group of their own, and share a layer with those of other packages.
 */
#ifndef FLATTEN_LAYOUT_GROUPS_H
#define FLATTEN_LAYOUT_GROUPS_H

#include "flatten/carve/layout/layout.h"
#include "flatten/carve/layout/layout_order.h"

#define LAYOUT_NONE UINT32_MAX

struct layout_group {
    uint64_t key; /* of owner and directory: the same in every version of an image */
    uint64_t bytes;
    uint32_t files;
    uint32_t owner;
    uint32_t dir; /* what all files of a part lie below; TREE_ROOT for whole owners */
    uint32_t layer;
    enum owner_tier tier;
    bool minor; /* the small files of a large package, apart from its others */
};

struct layout_groups {
    const struct layout_input *in;
    const struct layout_order *order;
    uint64_t cap;

    uint32_t *nodes;   /* by file: its name with the least hash, whichever came first */
    uint32_t *sorted;  /* the chosen files, by owner */
    uint32_t *by_file; /* its group, or LAYOUT_NONE */
    uint32_t *starts;  /* by owner: index into `sorted`; one more for the end */
    uint64_t *bytes;   /* by owner */
    uint64_t total;    /* bytes */

    struct layout_group *list;
    size_t count, list_cap;
};

/*
 * Chooses the files with chosen[file] == which, or all if `chosen` is NULL, and sorts them by
 * owner. `in` and `order` are borrowed. The caller clears *out, also after a failure.
 */
int layout_groups_init(const struct layout_input *in, const struct layout_order *order,
                       const uint8_t *chosen, uint8_t which, struct layout_groups *out,
                       struct err *err) must_check;

/* Makes the groups for layers of that cap, in place of those for another cap. */
int layout_groups_make(struct layout_groups *g, uint64_t cap, struct err *err) must_check;

/* Frees what the groups own. */
void layout_groups_clear(struct layout_groups *g);

#define _cleanup_layout_groups_ _cleanup_(layout_groups_clear)

/*
 * Cuts the files of an owner by directories, top down, until a part does not exceed the cap: what
 * takes more than a quarter of it becomes a part, the rest of a directory stays together. A rest
 * above the cap is cut by the hashes of its paths. `files` are `count` of them, in any order.
 */
int layout_cut(struct layout_groups *g, uint32_t owner, uint32_t *files, size_t count,
               struct err *err) must_check;

/* Appends a group without files. Returns its index, or LAYOUT_NONE. */
uint32_t layout_groups_add(struct layout_groups *g, uint32_t owner, uint32_t dir, uint64_t salt,
                           struct err *err) must_check;

/* Puts the file in the group. */
void layout_groups_put(struct layout_groups *g, uint32_t group, uint32_t file);

/*
 * Returns how many bins of the cap hold `bytes` at three quarters: a power of two, so that it
 * rarely changes. In so many bins there is always room for a quarter more.
 */
size_t layout_bins_for(uint64_t bytes, uint64_t cap);

/*
 * Returns the bin with the highest random weight for `key` among those where `bytes` more, at most
 * a quarter of the cap, do not exceed the cap (rendezvous hashing).
 */
size_t layout_bin_choose(const uint64_t *load, size_t count, uint64_t key, uint64_t bytes,
                         uint64_t cap);

#endif

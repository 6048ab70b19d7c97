/*
 * Groups of files -> layers. Within a tier, a group above a quarter of the cap has a layer of its
 * own, and the others share bins, which the hash of the group chooses.
 *
 * The large groups of the system and of toolchains are at the bottom, below the bins of the system:
 * they seldom change, engines unpack anew what lies above a changed layer, and a lookup that ends
 * in a bin does not search what is below it.
 */
#ifndef FLATTEN_LAYOUT_BINS_H
#define FLATTEN_LAYOUT_BINS_H

#include "flatten/carve/layout/layout_groups.h"

/* A layer in the making. */
struct layout_bin {
    uint64_t key; /* decides the order of layers that are alike */
    uint64_t bytes;
    size_t files;
    size_t moved_to; /* after sorting and merging: the index of the layer */
    enum owner_tier tier;
    bool alone; /* one group alone, above a quarter of the cap */
    bool minor; /* the small files of large packages */
    bool last;  /* the state layer, which is there even if it is empty */
};

struct layout_bins {
    struct layout_bin *list; /* oldest first, once they are made */
    size_t count, cap;
};

struct layout_wishes {
    uint64_t cap;  /* bytes of a layer; doubled while the layers are too many */
    size_t layers; /* at most */
    bool together; /* tiers may share layers: few files, all new */
    bool state;    /* the state layer is among these */
};

/*
 * Makes the groups and puts them in bins: group->layer is an index into out->list then. The caller
 * frees out->list, also after a failure.
 */
int layout_bins_make(struct layout_groups *g, const struct layout_wishes *wishes,
                     struct layout_bins *out, struct err *err) must_check;

#endif

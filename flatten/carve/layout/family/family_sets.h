/* The files of several images, by the set of images that have them. */
#ifndef FLATTEN_FAMILY_SETS_H
#define FLATTEN_FAMILY_SETS_H

#include "flatten/carve/layout/family/layout_family.h"

struct family_set {
    uint64_t images;
    uint64_t bytes;    /* of its files */
    uint64_t key;      /* decides the order of sets that are alike */
    size_t start, end; /* of its files in family_sets.files */
};

struct family_sets {
    struct family_set *list; /* in the order of their layers: most images first */
    size_t count;
    uint32_t *files; /* by set, then by index */
    size_t file_count;
};

/* Returns the number of images in the set. */
static inline unsigned family_set_size(uint64_t images)
{
    return (unsigned)__builtin_popcountll(images);
}

/*
 * Makes the sets: at most `most` for an image, its own one included, which is always there. `hash`:
 * by node, of its path. The caller clears *out with family_sets_clear, also after a failure.
 */
int family_sets_make(const struct layout_family_input *in, const uint64_t *hash, size_t most,
                     struct family_sets *out, struct err *err) must_check;

/* Frees what it owns. */
void family_sets_clear(struct family_sets *s);

#endif

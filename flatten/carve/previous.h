/* The previous version of an image, for --like: what each of its layers has. */
#ifndef FLATTEN_PREVIOUS_H
#define FLATTEN_PREVIOUS_H

#include "flatten/carve/inventory/inventory.h"
#include "flatten/carve/spool/identity.h"
#include "flatten/image/image.h"

/* The lists of struct layout_previous, and what they refer to. */
struct previous {
    struct layout_previous_layer *layers;
    struct layout_entry *entries;
    size_t entry_count, entry_cap;
    uint32_t *attributes; /* by entry (struct entry_info) */
    size_t attributes_cap;
    struct identity_stamp *stamps; /* by entry, of files at their first name; or NULL */
    size_t stamps_cap;
    struct layout_previous view; /* of both lists */
    bool carved;                 /* the history has a layer that flatten carve made */
};

/*
 * Reads all layers of the image, content included, and adds their paths to the tree. With
 * `stamps`, out->stamps is set. The caller clears *out with previous_clear, also after a failure.
 */
int previous_read(struct image *image, struct tree *tree, bool stamps, struct previous *out,
                  struct err *err) must_check;

/*
 * Takes the entries of the image's inventory in the place of its layers, of which none is read.
 * ERR_FORMAT if it is of other layers than those below the image's newest, its state layer. The
 * caller clears *out with previous_clear, also after a failure.
 */
int previous_take(const struct image *image, struct inventory *inventory, struct previous *out,
                  struct err *err) must_check;

/* Frees what it owns. */
void previous_clear(struct previous *p);

#endif

/*
 * The layout of several images together, as a pure function: what several of them have is in layers
 * that these, and only these, have.
 *
 * Files are grouped by the set of images that hold them, and each group is laid out as layout.h
 * says. Sets of more images are below those of fewer, and among these what takes more bytes is
 * below: so images have as many layers in common from the bottom up as can be. Each image has a
 * state layer of its own, the newest.
 *
 * If an image would have too many layers, files of the sets that are shared for the fewest bytes go
 * to each of their images; and each set gets fewer layers.
 */
#ifndef FLATTEN_LAYOUT_FAMILY_H
#define FLATTEN_LAYOUT_FAMILY_H

#include "flatten/carve/layout/layout.h"

enum { LAYOUT_MOST_IMAGES = 64 }; /* a set of images is a number, with a bit for each */

/* Images that have a directory with the same header. */
struct layout_family_dir {
    uint32_t node;
    uint64_t images;
};

struct layout_family_input {
    /* The files of all images, each once. `names` is in the order of files; no `is_dir`. */
    const struct layout_input *all; /* borrowed, as all of it */
    const uint64_t *images;         /* by file: the images that have it */
    const struct layout_family_dir *dirs;
    size_t dir_count;
    size_t image_count;
};

/* A file in a layer. */
struct layout_piece {
    uint32_t file;
    uint32_t layer;
};

struct layout_family {
    struct layout_layer *layers; /* those of an image are in this order, oldest first */
    uint64_t *images;            /* by layer: which have it */
    size_t count;
    struct layout_piece *pieces; /* by layer; a file is in one layer of each image that has it */
    size_t piece_count;
    /* By node: the images whose state layers describe the directory, as other layers of theirs, or
     * of images with which they share one, have it too, or have it with another header. */
    uint64_t *in_state;
};

/*
 * Makes the layout. The options are as for layout_make, the number of layers is that of each image.
 * It depends neither on the order of files and owners nor, but for images that are the same, on
 * that of the images. The caller clears *out with layout_family_clear, also after a failure.
 */
int layout_family_make(const struct layout_family_input *in, const struct layout_options *options,
                       struct layout_family *out, struct err *err) must_check;

/* One image of the family, with a tree of its own. */
struct layout_family_member {
    const struct layout_input *in;
    const uint32_t *nodes; /* by node of its tree: that of the family's tree */
    const uint32_t *files; /* by file: that of the family */
    size_t image;          /* its number */
};

/*
 * Sets *out to the layout of the image: its layers, and the directories of its state layer. The
 * caller clears *out with layout_clear, also after a failure.
 */
int layout_family_image(const struct layout_family *f, const struct layout_family_member *m,
                        struct layout *out, struct err *err) must_check;

/* Frees what it owns, and zeroes it. */
void layout_family_clear(struct layout_family *f);

#define _cleanup_layout_family_ _cleanup_(layout_family_clear)

#endif

/*
 * Carving: the tree of an image is laid out in new layers, each of files that belong together and
 * change together, whatever the layers of the source were.
 *
 * The source is read once, into a spool (spool.h). The owners of its files (owners.h) and their
 * sizes determine the layout (layout.h). The layers are then written from the spool, each in the
 * order of its paths: so a layer depends on nothing but its files.
 */
#ifndef FLATTEN_CARVE_H
#define FLATTEN_CARVE_H

#include "flatten/carve/layout/layout.h"
#include "flatten/carve/times/stable_times.h"
#include "flatten/squash/squashed.h"

/* Docker takes no image of more layers. */
enum { CARVE_MOST_LAYERS = 127 };

/* Starts the history's created_by of a carved layer, before its label. */
#define CARVE_LABEL_PREFIX "carve: "

/* By enum owner_tier: the comment of such a layer in the history. */
extern const char *const carve_tier_names[];

struct carve_options {
    struct layout_options layout;
    int spool;          /* a temporary file, open for reading and writing; borrowed */
    struct image *like; /* the previous version; borrowed; or NULL */
    double max_dead;    /* with it: the most dead bytes, as a share of all; 0: the default */
    bool inventory;     /* make one, for the next version's --like */
    bool stable_times;  /* with `like`, whose layers are open: take its times (stable_times.h) */
};

/* The result. */
struct carved {
    struct layout layout; /* of the layers that are not kept below it */
    struct stable_times times;
    uint64_t
        *images; /* by layer, of a family (family.h): those that have it, a bit each; or NULL */
};

/*
 * As squash_layers (squash.h): writes all layers through the sink. The caller clears *carved with
 * carved_clear, also after a failure.
 */
int carve_layers(struct image *image, const struct squash_options *options,
                 const struct carve_options *carve, struct sink *sink, struct squashed *out,
                 struct carved *carved, struct err *err) must_check;

/* Frees what it owns, and zeroes it. */
void carved_clear(struct carved *c);

#endif

/* The layers of a new image, as they are made: by merging (squash.h) or by carving (carve.h). */
#ifndef FLATTEN_SQUASHED_H
#define FLATTEN_SQUASHED_H

#include "flatten/exchange/sink.h"
#include "flatten/image/image.h"
#include "flatten/layer/layer_writer.h"
#include "flatten/layer/unpacker.h"
#include "flatten/merge/merged.h"

struct squashed;

struct squash_options {
    struct merged_options merged; /* merged.kept: how many layers stay */
    struct compress_options compress;
    struct unpacker_files files; /* for layers that are unpacked ahead of the merge; perhaps none */
    size_t into;                 /* how many new layers to make, at most */
    bool readable;               /* fill squashed.result */
    bool alone;                  /* no other image is published with this one */
    /* Images written through the same sink before: equal layers are not written again. */
    const struct squashed *const *earlier; /* borrowed */
    size_t earlier_count;
};

struct squashed {
    struct written_layer *layers; /* oldest first */
    size_t *merged;               /* by layer: how many layers of the source are in it */
    size_t count;
    size_t kept; /* the oldest `kept` of them are the source's */
    struct merged_report report;
    char *
        *labels; /* by layer: what is in it, for the history; NULL, also by layer: nothing known */
    char *inventory;      /* of carved layers (inventory.h), for the manifest; or NULL */
    struct image *result; /* with options->readable: the layers as written; it has no config */
};

/*
 * Makes room for up to `most` layers, of which the oldest `kept` are the source's. The caller
 * clears *out with squashed_clear, also after a failure.
 */
int squashed_init(size_t most, size_t kept, struct squashed *out, struct err *err) must_check;

/*
 * Adds a layer of the source as it is. `readable`: squash_verify reads it. A layer that is not open
 * is fetched and checked, unless the sink has it.
 */
int squashed_keep_layer(struct squashed *out, struct layer *layer, bool readable, struct sink *sink,
                        struct err *err) must_check;

/*
 * Ends the new layer that out->layers[out->count] describes at the sink. It was written to fd, from
 * `offset` on; fd is borrowed. The caller counts it.
 */
int squashed_end_layer(struct squashed *out, int fd, off_t offset,
                       const struct squash_options *options, struct sink *sink,
                       struct err *err) must_check;

/*
 * Adds the layer from->layers[which], which was made for several images; `readable` as it was then.
 */
int squashed_share_layer(struct squashed *out, const struct squashed *from, size_t which,
                         bool readable, struct err *err) must_check;

/* Frees what it owns, which is not what the sink has, and zeroes it. */
void squashed_clear(struct squashed *s);

#define _cleanup_squashed_ _cleanup_(squashed_clear)

#endif

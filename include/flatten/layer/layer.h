/*
 * A layer's entries, as the tar archive has them: cleaned, classified, checked for what no layer
 * may hold. Built on libarchive, which reads ustar, PAX, GNU and the old sparse forms.
 */
#ifndef FLATTEN_LAYER_H
#define FLATTEN_LAYER_H

#include "flatten/image/image.h"
#include "flatten/layer/entry_info.h"

#include <archive.h>
#include <archive_entry.h>

enum { LAYER_MOST_XATTRS = 1000 }; /* of one entry */

struct layer_entry {
    struct entry_info info;       /* borrowed from the reader, until the next entry */
    struct archive_entry *header; /* the same; overlay's own xattrs are gone from it */
    const char *dropped;          /* what was taken from the header, in words; or NULL */
};

struct layer_reader;

struct layer_reader *layer_reader_open(const struct layer *layer, struct err *err) must_check;
/* The same for measuring: no digest is checked, and payload that nobody asks for is not read. */
struct layer_reader *layer_reader_open_unchecked(const struct layer *layer,
                                                 struct err *err) must_check;
/* True if payload that nobody asks for is passed over, not read. */
bool layer_reader_skips(const struct layer_reader *r);

void layer_reader_free(struct layer_reader *r);

DEFINE_CLEANUP(layer_reader, struct layer_reader, layer_reader_free)
#define _cleanup_layer_reader_ _cleanup_(cleanup_layer_reader)

/*
 * The next entry: 1, or 0 at the end, where the whole archive has been read and its digests match;
 * if the layer has a verifier, that will say so.
 * -1: the message names layer and member.
 */
int layer_reader_next(struct layer_reader *r, struct layer_entry *out, struct err *err) must_check;

/*
 * The next piece of the present entry's content: 1 with data, 0 at its end. A gap between pieces
 * (*offset jumps) is a hole and reads as zeros, as does what is missing up to the entry's size.
 */
int layer_reader_data(struct layer_reader *r, const void **data, size_t *len, uint64_t *offset,
                      struct err *err) must_check;

/* "layer N: PATH: " before an error that this entry caused. Always -1. */
int layer_entry_wrap(const struct layer *layer, const struct layer_entry *entry, struct err *err);

#endif

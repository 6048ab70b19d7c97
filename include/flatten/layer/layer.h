/*
 * Reads the entries of a layer from its tar archive: paths are cleaned, entries are classified, and
 * those that no layer may hold are errors. Built on libarchive, which reads ustar, PAX, GNU and the
 * old sparse forms. The entries of a layer in an engine's store come from its walk instead
 * (walked_reader.h).
 */
#ifndef FLATTEN_LAYER_H
#define FLATTEN_LAYER_H

#include "flatten/image/image.h"
#include "flatten/layer/entry_info.h"

#include <archive.h>
#include <archive_entry.h>

enum { LAYER_MOST_XATTRS = 1000 }; /* of one entry */

struct layer_entry {
    struct entry_info info; /* its strings are borrowed from the reader, until the next entry */
    struct archive_entry *header; /* borrowed as well; without overlayfs's own xattrs */
    const char *dropped;          /* what was removed from the header, in words; or NULL */
};

/* True for an extended attribute on which overlayfs acts when it mounts the tree. */
bool layer_xattr_is_overlay(const char *name);

struct layer_reader;

/*
 * Opens a layer, which is borrowed. The archive's digest is checked at its end, by the reader or by
 * the layer's verifier. The caller frees the reader with layer_reader_free.
 */
struct layer_reader *layer_reader_open(const struct layer *layer, struct err *err) must_check;

/* The same for measuring: no digest is checked, and payload that is not asked for is skipped. */
struct layer_reader *layer_reader_open_unchecked(const struct layer *layer,
                                                 struct err *err) must_check;

/* True if payload that is not asked for is skipped without being read, as in a walk. */
bool layer_reader_skips(const struct layer_reader *r);

/* Frees the reader; the layer stays the owner of its file. */
void layer_reader_free(struct layer_reader *r);

DEFINE_CLEANUP(layer_reader, struct layer_reader, layer_reader_free)
#define _cleanup_layer_reader_ _cleanup_(cleanup_layer_reader)

/*
 * Reads the next entry. Returns 1, or 0 at the end, after the whole archive was read and its
 * digests matched (with a verifier, verifier_finish says whether they match), or -1: the message
 * names the layer and the entry.
 */
int layer_reader_next(struct layer_reader *r, struct layer_entry *out, struct err *err) must_check;

/*
 * Reads the next piece of the current entry's content. Returns 1 with data (valid until the next
 * call), 0 at its end, or -1. Bytes between two pieces (*offset jumps) and after the last one, up
 * to the entry's size, are a hole: zeros.
 */
int layer_reader_data(struct layer_reader *r, const void **data, size_t *len, uint64_t *offset,
                      struct err *err) must_check;

/* Puts "layer N: PATH: " before an error that this entry caused. Returns -1. */
int layer_entry_wrap(const struct layer *layer, const struct layer_entry *entry, struct err *err);

#endif

/*
 * Reads the entries of a walk (wire_entry.h) with the headers that a tar archive would have: of the
 * tree that a container sees, or of one layer in the form that overlayfs mounts.
 *
 * In a layer, overlayfs's marks become those of layers (image-spec layer.md, "Whiteouts"): a 0:0
 * device is the whiteout ".wh.NAME", and an opaque directory is followed by its marker. Its other
 * extended attributes are left out. ERR_UNSUPPORTED for a mark without a form in tar, such as a
 * redirect: the layer alone does not say what it holds (Documentation/filesystems/overlayfs.rst).
 */
#ifndef FLATTEN_WALKED_READER_H
#define FLATTEN_WALKED_READER_H

#include "base/cleanup.h"
#include "flatten/image/image.h"

#include <archive_entry.h>

struct walked_reader;

/*
 * Asks for the walk of the layer with that number, or of the merged tree if it is 0. `tree` is
 * borrowed; one walk of it is read at a time. Receives the rest of an earlier walk of it first,
 * whose reader was freed before the end. The caller frees the reader.
 */
struct walked_reader *walked_reader_open(struct image_tree *tree, unsigned layer,
                                         struct err *err) must_check;

/*
 * Frees the reader, without waiting for the rest of the walk: after an error nobody asks for it,
 * and it may be that of a large image.
 */
void walked_reader_free(struct walked_reader *w);

DEFINE_CLEANUP(walked_reader, struct walked_reader, walked_reader_free)
#define _cleanup_walked_reader_ _cleanup_(cleanup_walked_reader)

/*
 * Reads the next entry. Returns 1 with its header, which is borrowed until the next call; 0 at the
 * end; or -1. *dropped, if not NULL, is true if attributes of overlayfs were left out that are the
 * image's: on which a mount of the new layer would act.
 */
int walked_reader_next(struct walked_reader *w, struct archive_entry **header, bool *dropped,
                       struct err *err) must_check;

/* Puts the path of the entry that was read last before an error that it caused. Returns -1. */
int walked_reader_wrap(const struct walked_reader *w, struct err *err);

/* Reads the next piece of the entry's content, as layer_reader_data (layer.h) does. */
int walked_reader_data(struct walked_reader *w, const void **data, size_t *len, uint64_t *offset,
                       struct err *err) must_check;

#endif

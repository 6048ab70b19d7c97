/* index.json of a layout (image-spec image-layout.md): of new images, and with those that it had.
 */
#ifndef FLATTEN_SINK_INDEX_H
#define FLATTEN_SINK_INDEX_H

#include "base/buf.h"
#include "flatten/exchange/sink.h"

/* Appends the index: it names those of the images that are not inner. */
int sink_index_json(const struct sink_image *images, size_t count, struct buf *out,
                    struct err *err) must_check;

/*
 * Appends the index of a layout that exists, `old`, with the descriptors of `fresh` in it, which
 * replace those of their names. ERR_USAGE if that would be another image and its name comes from
 * the source: without `named`, which says that the command line gives it.
 */
int sink_index_merge(const struct buf *old, const struct buf *fresh, bool named, struct buf *out,
                     struct err *err) must_check;

#endif

/*
 * Writes a layer: entries become a PAX archive (pax.h), which is hashed (diff_id), compressed,
 * hashed again (digest) and written to a file, all in one pass, in threads of its own. The same
 * entries give the same bytes.
 */
#ifndef FLATTEN_LAYER_WRITER_H
#define FLATTEN_LAYER_WRITER_H

#include "flatten/exchange/written_layer.h"
#include "flatten/layer/entry_sink.h"
#include "flatten/stream/compress.h"
#include "flatten/stream/hasher.h"

#include <stdint.h>
#include <sys/types.h>

struct layer_writer;

/*
 * Returns a writer that writes fd from `offset` on; -1 for a pipe. fd and `hasher` are borrowed;
 * with NULL the thread that calls the sink hashes the archive, which costs least where several
 * layers are written at the same time. The caller frees the writer with layer_writer_free.
 */
struct layer_writer *layer_writer_new(int fd, off_t offset, const struct compress_options *compress,
                                      struct hasher *hasher, struct err *err) must_check;

/* Frees the writer; a layer that was not ended is given up. */
void layer_writer_free(struct layer_writer *w);

DEFINE_CLEANUP(layer_writer, struct layer_writer, layer_writer_free)
#define _cleanup_layer_writer_ _cleanup_(cleanup_layer_writer)

/*
 * Returns the writer as a sink. Holes are written as zeros. An error of its threads is returned by
 * the next call, or by layer_writer_finish.
 */
struct entry_sink *layer_writer_sink(struct layer_writer *w);

/*
 * Sets the most bytes of the archive; more are ERR_LIMIT. Sparse files and deep paths can make a
 * large archive of a small layer.
 */
void layer_writer_limit(struct layer_writer *w, uint64_t max_size);

/* Ends the archive, waits for the threads and fills *out. The file is not synced. */
int layer_writer_finish(struct layer_writer *w, struct written_layer *out,
                        struct err *err) must_check;

#endif

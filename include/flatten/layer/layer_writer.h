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
 * Writes at `offset` of fd (borrowed) and onwards. `hasher` is borrowed, too; where it is NULL the
 * writer has its own.
 */
struct layer_writer *layer_writer_new(int fd, off_t offset, const struct compress_options *compress,
                                      struct hasher *hasher, struct err *err) must_check;
void layer_writer_free(struct layer_writer *w);

DEFINE_CLEANUP(layer_writer, struct layer_writer, layer_writer_free)
#define _cleanup_layer_writer_ _cleanup_(cleanup_layer_writer)

/*
 * The writer as a sink. Holes are written as zeros. An error of its threads shows at the next call,
 * or when it is finished.
 */
struct entry_sink *layer_writer_sink(struct layer_writer *w);

/* An archive of more bytes is ERR_LIMIT: a small layer may say much (sparse files, deep paths). */
void layer_writer_limit(struct layer_writer *w, uint64_t max_size);

int layer_writer_finish(struct layer_writer *w, struct written_layer *out,
                        struct err *err) must_check;

#endif

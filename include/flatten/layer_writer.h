/*
 * Writes a layer: entries become a PAX archive, which is hashed (diff_id), compressed, hashed again
 * (digest) and written to a file, all in one pass. The same entries give the same bytes.
 */
#ifndef FLATTEN_LAYER_WRITER_H
#define FLATTEN_LAYER_WRITER_H

#include "base/sha256.h"
#include "flatten/compress.h"
#include "flatten/entry_sink.h"

#include <stdint.h>
#include <sys/types.h>

struct written_layer {
    struct digest diff_id; /* of the tar archive */
    struct digest digest;  /* of the blob */
    uint64_t size;         /* of the blob, bytes */
    uint64_t tar_size;     /* of the archive, bytes */
    enum compression kind;
};

struct layer_writer;

/* Writes at `offset` of fd (borrowed) and onwards. */
struct layer_writer *layer_writer_new(int fd, off_t offset, const struct compress_options *compress,
                                      struct err *err) must_check;
void layer_writer_free(struct layer_writer *w);

DEFINE_CLEANUP(layer_writer, struct layer_writer, layer_writer_free)
#define _cleanup_layer_writer_ _cleanup_(cleanup_layer_writer)

/*
 * The writer as a sink. What layers have no use for (access and change times, sparse maps) is taken
 * out of the headers; holes are written as zeros.
 */
struct entry_sink *layer_writer_sink(struct layer_writer *w);

int layer_writer_finish(struct layer_writer *w, struct written_layer *out,
                        struct err *err) must_check;

#endif

/*
 * Compression of a byte stream that is pushed in pieces: zstd (any number of worker threads; the
 * output does not depend on how many), gzip through ISA-L, or none.
 */
#ifndef FLATTEN_COMPRESS_H
#define FLATTEN_COMPRESS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "flatten/stream/stream.h"

#include <stddef.h>

struct compress_options {
    enum compression kind;
    int level;        /* zstd 1 to 19, gzip 0 to 3 */
    unsigned threads; /* for zstd; 0: as many as this process may use */
};

/* "zstd", "zstd:19", "gzip:1", "none": what --compression takes. */
int compress_parse(const char *text, struct compress_options *out, struct err *err) must_check;

/* Takes what was compressed; 0 or -1. */
typedef int compress_sink(void *ctx, const void *data, size_t len, struct err *err);

struct compressor;

struct compressor *compressor_new(const struct compress_options *options, compress_sink *sink,
                                  void *ctx, struct err *err) must_check;
int compressor_write(struct compressor *c, const void *data, size_t len,
                     struct err *err) must_check;
/* Writes what is still held, and the end mark. */
int compressor_finish(struct compressor *c, struct err *err) must_check;
void compressor_free(struct compressor *c);

DEFINE_CLEANUP(compressor, struct compressor, compressor_free)
#define _cleanup_compressor_ _cleanup_(cleanup_compressor)

#endif

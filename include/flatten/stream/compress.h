/*
 * Compresses a byte stream that is pushed in pieces: with zstd (the output does not depend on the
 * number of threads), with gzip through ISA-L, or not at all.
 */
#ifndef FLATTEN_COMPRESS_H
#define FLATTEN_COMPRESS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "flatten/stream/stream.h"

#include <stdbool.h>
#include <stddef.h>

enum { COMPRESS_MOST_THREADS = 64 };

struct compress_options {
    enum compression kind;
    int level;        /* zstd 1 to 19, gzip 0 to 3 */
    unsigned threads; /* for zstd; 0: one for each processor that this process may use */
    bool in_caller;   /* zstd has no threads: it takes less CPU time and 10 MB less than with one,
                         and makes another result */
};

/* Parses the value of --compression: "zstd", "zstd:19", "gzip:1", "none". ERR_USAGE for others. */
int compress_parse(const char *text, struct compress_options *out, struct err *err) must_check;

/* Takes compressed bytes. Returns 0, or -1 to give up. */
typedef int compress_sink(void *ctx, const void *data, size_t len, struct err *err);

struct compressor;

/* `sink` is called with `ctx`, which is borrowed, from compressor_write and compressor_finish. */
struct compressor *compressor_new(const struct compress_options *options, compress_sink *sink,
                                  void *ctx, struct err *err) must_check;

/* Compresses the next bytes. */
int compressor_write(struct compressor *c, const void *data, size_t len,
                     struct err *err) must_check;

/* Ends the frame of zstd, with the bytes that are still held: the next bytes begin another. */
int compressor_end_frame(struct compressor *c, struct err *err) must_check;

/* Writes the bytes that are still held, and the end mark. */
int compressor_finish(struct compressor *c, struct err *err) must_check;

/* Frees the compressor, also before its end. */
void compressor_free(struct compressor *c);

DEFINE_CLEANUP(compressor, struct compressor, compressor_free)
#define _cleanup_compressor_ _cleanup_(cleanup_compressor)

#endif

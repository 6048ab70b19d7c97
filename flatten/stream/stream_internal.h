/* The decompressors, which stream_decompress chooses from. */
#ifndef FLATTEN_STREAM_INTERNAL_H
#define FLATTEN_STREAM_INTERNAL_H

#include "flatten/stream/stream.h"

/* Decompress one format; ERR_FORMAT for malformed data. They take `inner`, and free it on failure.
 */
struct stream *stream_gunzip(struct stream *inner, struct err *err) must_check;
struct stream *stream_unzstd(struct stream *inner, struct err *err) must_check;

#endif

/*
 * Pull streams. A reader borrows bytes with stream_peek and says with stream_advance how many it
 * used; nothing is copied. Decompressors and verifiers are decorators: each owns the stream that it
 * reads from, and freeing the outermost one frees all.
 */
#ifndef FLATTEN_STREAM_H
#define FLATTEN_STREAM_H

#include "base/cleanup.h"
#include "base/digest/sha256.h"
#include "base/err.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stream;

struct stream_ops {
    int (*peek)(struct stream *s, const void **data, size_t *len, struct err *err);
    void (*advance)(struct stream *s, size_t len);
    void (*release)(struct stream *s);
    /* As stream_read; NULL if the stream keeps bytes in a buffer anyway. */
    int (*read)(struct stream *s, void *to, size_t size, size_t *len, struct err *err);
    /* As stream_skip; NULL if the stream cannot skip. */
    uint64_t (*skip)(struct stream *s, uint64_t len);
};

struct stream {
    const struct stream_ops *ops;
};

/*
 * Borrows the next bytes: *data stays valid until the next call on the stream. *len is 0 only at
 * the end. Returns 0, or -1.
 */
static inline int stream_peek(struct stream *s, const void **data, size_t *len, struct err *err)
{
    return s->ops->peek(s, data, len, err);
}

/* Uses `len` bytes, at most as many as the last peek gave. */
static inline void stream_advance(struct stream *s, size_t len)
{
    s->ops->advance(s, len);
}

/* Frees the stream, and those that it reads from. */
static inline void stream_free(struct stream *s)
{
    s->ops->release(s);
}

DEFINE_CLEANUP(stream, struct stream, stream_free)
#define _cleanup_stream_ _cleanup_(cleanup_stream)

/*
 * Reads up to `size` bytes (not 0) to `to`, and uses them. A decompressor writes there directly,
 * without a copy. *len is 0 only at the end.
 */
int stream_read(struct stream *s, void *to, size_t size, size_t *len, struct err *err) must_check;

/* Reads to the end, where verifiers check the digest. */
int stream_drain(struct stream *s, struct err *err) must_check;

/* Reads `length` bytes of a file from `offset`. A shorter file is ERR_FORMAT. fd is borrowed. */
struct stream *stream_range(int fd, off_t offset, uint64_t length, struct err *err) must_check;

/* Waits until the first `bytes` bytes of a range are in its file. Returns 0, or -1. */
typedef int stream_await(void *ctx, uint64_t bytes, struct err *err);

/*
 * Has the stream of a range, of which nothing was read, call `await` before it reads: for a file
 * that is still written. `ctx` is borrowed.
 */
void stream_range_await(struct stream *range, stream_await *await, void *ctx);

/*
 * Skips up to `len` bytes without reading them, if all bytes that were peeked are used. Returns how
 * many: 0 at the end, and if the stream is neither a range of a file nor a layer that was unpacked
 * into one.
 */
uint64_t stream_skip(struct stream *s, uint64_t len);

/* Reads a pipe or a file from its position to its end. fd is borrowed. */
struct stream *stream_fd(int fd, struct err *err) must_check;

/* ---- decorators: each takes `inner`, and frees it on failure ---- */

struct hasher;

/*
 * Passes bytes on, and checks at the end that they have the digest (ERR_DIGEST). `what` names them
 * in the message, and is copied. The hasher (digester.h) is borrowed, and may be NULL.
 */
struct stream *stream_verify(struct stream *inner, const struct digest *expected, const char *what,
                             struct hasher *hasher, struct err *err) must_check;

struct ahead_options {
    struct digest expected; /* "": any */
    const char *what;       /* copied */
    uint64_t max_size;      /* more bytes are ERR_LIMIT; 0: no limit */
    struct hasher *hasher;  /* borrowed; NULL: the stream starts one of its own */
};

/*
 * The same in threads: one reads ahead from `inner`, the hasher's thread hashes. The end comes once
 * the digest is known to be right.
 */
struct stream *stream_verify_ahead(struct stream *inner, const struct ahead_options *options,
                                   struct err *err) must_check;

/* Passes bytes on, and adds to *count how many were used. The counter is borrowed. */
struct stream *stream_count(struct stream *inner, _Atomic uint64_t *count,
                            struct err *err) must_check;

enum compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD };

/*
 * Decompresses gzip (RFC 1952, any number of members) and zstd (RFC 8878, any number of frames), as
 * the first bytes tell; passes other bytes on. *kind, if `kind` is not NULL, says which.
 */
struct stream *stream_decompress(struct stream *inner, enum compression *kind,
                                 struct err *err) must_check;

/* The rule against decompression bombs: 1 GiB is free, then the ratio counts. */
#define UNPACK_FREE ((uint64_t)1 << 30)
enum { UNPACK_RATIO = 200 };

/* Counts the unpacked bytes of one image. Threads share it. Zeroed, it has the usual ratio. */
struct unpack_budget {
    uint64_t ratio;           /* of unpacked to compressed bytes; 0: UNPACK_RATIO */
    _Atomic uint64_t in, out; /* bytes so far: compressed, and unpacked */
};

/* Counts `out` bytes more. ERR_LIMIT beyond 1 GiB and beyond the ratio. */
int unpack_budget_spend(struct unpack_budget *b, uint64_t out, struct err *err) must_check;

/* As stream_decompress, within a budget, which is borrowed and may be NULL. */
struct stream *stream_unpack(struct stream *inner, struct unpack_budget *budget,
                             enum compression *kind, struct err *err) must_check;

/*
 * Copies a stream to its end into a temporary file. A stream of more than `most` bytes is
 * ERR_LIMIT; a full file system is ERR_SYSTEM, and the message says to set TMPDIR.
 */
int stream_copy(struct stream *s, int fd, uint64_t most, struct err *err) must_check;

#endif

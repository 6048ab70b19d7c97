/*
 * Pull streams. A reader borrows bytes with stream_peek and says with stream_advance how many it
 * used; nothing is copied in between. Decompressors and verifiers are decorators: they own the
 * stream that they read from, and freeing the outermost frees all.
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
    /* Like stream_read; NULL where bytes have a place before they are asked for. */
    int (*read)(struct stream *s, void *to, size_t size, size_t *len, struct err *err);
};

struct stream {
    const struct stream_ops *ops;
};

/*
 * Bytes that can be read now: *data stays valid until the next call on the stream. *len is 0 only
 * at the end. 0, or -1.
 */
static inline int stream_peek(struct stream *s, const void **data, size_t *len, struct err *err)
{
    return s->ops->peek(s, data, len, err);
}

/* Uses up len bytes, no more than the last peek gave. */
static inline void stream_advance(struct stream *s, size_t len)
{
    s->ops->advance(s, len);
}

static inline void stream_free(struct stream *s)
{
    s->ops->release(s);
}

DEFINE_CLEANUP(stream, struct stream, stream_free)
#define _cleanup_stream_ _cleanup_(cleanup_stream)

/*
 * For who has a place for the bytes: up to `size` (not 0) of them go there, and are used. What
 * makes bytes makes them there, without a copy. *len is 0 only at the end.
 */
int stream_read(struct stream *s, void *to, size_t size, size_t *len, struct err *err) must_check;

/* Reads on to the end, so that what a verifier checks there is checked. */
int stream_drain(struct stream *s, struct err *err) must_check;

/* `length` bytes of a file from `offset`; a file that ends before is ERR_FORMAT. fd is borrowed. */
struct stream *stream_range(int fd, off_t offset, uint64_t length, struct err *err) must_check;

/*
 * Passes over up to len bytes without reading them, once all that was peeked is used. How many: 0
 * where the stream is no range of a file, or at its end.
 */
uint64_t stream_skip(struct stream *s, uint64_t len);

/* A stream (a pipe, standard input) from fd's position to its end. fd is borrowed. */
struct stream *stream_fd(int fd, struct err *err) must_check;

/*
 * The constructors below take `inner` in any case: on failure they free it.
 *
 * stream_verify passes bytes on and checks, when it meets the end, that they have this digest
 * (ERR_DIGEST). `what` names them in the message and is copied. The hasher (digester.h) is
 * borrowed, and may be NULL.
 */
struct hasher;
struct stream *stream_verify(struct stream *inner, const struct digest *expected, const char *what,
                             struct hasher *hasher, struct err *err) must_check;

struct ahead_options {
    struct digest expected;
    const char *what;      /* copied */
    uint64_t max_size;     /* more bytes are ERR_LIMIT; 0: no limit */
    struct hasher *hasher; /* borrowed; NULL: the stream has its own */
};

/*
 * The same, in threads: one reads ahead (what `inner` does happens there), the hasher's hashes. The
 * end is shown when the digest is known to be right.
 */
struct stream *stream_verify_ahead(struct stream *inner, const struct ahead_options *options,
                                   struct err *err) must_check;

/* Passes bytes on and adds them to *count as they are used; the counter is borrowed. */
struct stream *stream_count(struct stream *inner, _Atomic uint64_t *count,
                            struct err *err) must_check;

enum compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD };

/*
 * Decompresses what the first bytes say it is: gzip (RFC 1952, any number of members), zstd (RFC
 * 8878, any number of frames), or nothing at all. *kind, if not NULL, tells.
 */
struct stream *stream_decompress(struct stream *inner, enum compression *kind,
                                 struct err *err) must_check;

/* For stream_decompress alone. */
struct stream *stream_gunzip(struct stream *inner, struct err *err) must_check;
struct stream *stream_unzstd(struct stream *inner, struct err *err) must_check;

#endif

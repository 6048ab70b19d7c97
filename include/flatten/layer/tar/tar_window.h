/*
 * Keeps the bytes of the current tar header: libarchive shows only what it made of them. The window
 * sees every block that libarchive is given, and copies only bytes that the next header may be in,
 * so payload is not copied.
 */
#ifndef FLATTEN_TAR_WINDOW_H
#define FLATTEN_TAR_WINDOW_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct tar_window {
    struct buf kept;            /* bytes of earlier blocks that may still be asked for */
    uint64_t kept_at;           /* their offset in the archive */
    uint64_t keep_from;         /* bytes before this offset are not needed */
    const unsigned char *block; /* the block that libarchive has now; borrowed */
    size_t block_len;
    uint64_t block_at;
};

/*
 * Leaves the current block, whose memory may then be reused: bytes that may still be asked for are
 * copied.
 */
int tar_window_leave(struct tar_window *w, struct err *err) must_check;

/* Enters the next block, which is borrowed until tar_window_leave. */
void tar_window_enter(struct tar_window *w, const void *block, size_t len);

/* Skips bytes that libarchive does not see, after tar_window_leave; none will be asked for. */
void tar_window_skip(struct tar_window *w, uint64_t len);

/*
 * Returns the bytes from one offset of the archive to another, which are in the current block or
 * were not released. Valid until the next call. ERR_LIMIT for more than 2 MiB.
 */
const unsigned char *tar_window_get(struct tar_window *w, uint64_t from, uint64_t to,
                                    struct err *err) must_check;

/* Releases the bytes before the offset: they will not be asked for. */
void tar_window_release(struct tar_window *w, uint64_t before);

/* Frees the copied bytes; the struct itself is the caller's. */
void tar_window_clear(struct tar_window *w);

#endif

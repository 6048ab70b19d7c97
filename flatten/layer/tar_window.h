/*
 * The bytes of the tar header at hand, beside libarchive, which shows what an entry means to it and
 * not how it is written. The window is told of every block that libarchive is given; it keeps only
 * what the next header may lie in, so that payload passes without being copied.
 */
#ifndef FLATTEN_TAR_WINDOW_H
#define FLATTEN_TAR_WINDOW_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct tar_window {
    struct buf kept;            /* bytes of earlier blocks that may still be asked for */
    uint64_t kept_at;           /* their offset in the archive */
    uint64_t keep_from;         /* what lies before is not needed */
    const unsigned char *block; /* the block that libarchive has now; borrowed */
    size_t block_len;
    uint64_t block_at;
};

/*
 * Before the source may reuse the present block's memory: what may still be asked for is copied.
 * Then, once it has the next block, tar_window_enter.
 */
int tar_window_leave(struct tar_window *w, struct err *err) must_check;
void tar_window_enter(struct tar_window *w, const void *block, size_t len);

/* After tar_window_leave: bytes that libarchive passes over unseen; none will be asked for. */
void tar_window_skip(struct tar_window *w, uint64_t len);

/*
 * The bytes from one offset of the archive to another, which are in the present block or were not
 * released. Valid until the next call. More than 2 MiB is ERR_LIMIT.
 */
const unsigned char *tar_window_get(struct tar_window *w, uint64_t from, uint64_t to,
                                    struct err *err) must_check;

/* Nothing before the offset will be asked for. */
void tar_window_release(struct tar_window *w, uint64_t before);

void tar_window_clear(struct tar_window *w);

#endif

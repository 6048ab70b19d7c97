#include "flatten/layer/tar/tar_window.h"

#include <string.h>

enum { MOST_KEPT = 2 * 1024 * 1024 };

void tar_window_clear(struct tar_window *w)
{
    buf_free(&w->kept);
}

void tar_window_release(struct tar_window *w, uint64_t before)
{
    buf_truncate(&w->kept, 0);
    w->keep_from = before;
}

/* Copies the needed bytes of the current block, up to `end`, behind those that are kept. */
static int keep_bytes(struct tar_window *w, uint64_t end, struct err *err)
{
    uint64_t from = w->keep_from > w->block_at ? w->keep_from : w->block_at;

    if (from >= end)
        return 0;
    if (w->kept.len == 0)
        w->kept_at = from;
    buf_append(&w->kept, w->block + (from - w->block_at), (size_t)(end - from));
    w->keep_from = end;
    if (w->kept.len > MOST_KEPT) {
        size_t excess = w->kept.len - MOST_KEPT;
        memmove(w->kept.data, w->kept.data + excess, MOST_KEPT);
        buf_truncate(&w->kept, MOST_KEPT);
        w->kept_at += excess;
    }
    return buf_check(&w->kept, err);
}

int tar_window_leave(struct tar_window *w, struct err *err)
{
    if (keep_bytes(w, w->block_at + w->block_len, err) < 0)
        return -1;
    w->block_at += w->block_len;
    w->block = NULL;
    w->block_len = 0;
    return 0;
}

void tar_window_skip(struct tar_window *w, uint64_t len)
{
    if (len == 0)
        return;
    w->block_at += len;
    buf_truncate(&w->kept, 0);
    if (w->keep_from < w->block_at)
        w->keep_from = w->block_at;
}

void tar_window_enter(struct tar_window *w, const void *block, size_t len)
{
    w->block = block;
    w->block_len = len;
}

const unsigned char *tar_window_get(struct tar_window *w, uint64_t from, uint64_t to,
                                    struct err *err)
{
    uint64_t block_end = w->block_at + w->block_len;

    if (from >= w->block_at && to <= block_end)
        return w->block + (from - w->block_at);
    if (to > block_end || keep_bytes(w, to, err) < 0 || w->kept.len == 0 || from < w->kept_at) {
        err_set(err, ERR_LIMIT, "a tar header of %llu bytes", (unsigned long long)(to - from));
        return NULL;
    }
    return (const unsigned char *)w->kept.data + (from - w->kept_at);
}

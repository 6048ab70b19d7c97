#include "shim/warm/read/read_ahead.h"

#include "base/clock.h"
#include "shim/warm/read/residency.h"
#include "shim/warm/read/warm_open.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

enum { READERS = 8, PIECE = 8 * 1024 * 1024, REQUEST = 512 * 1024 };

struct read_ahead {
    struct read_item *items;
    size_t count;
    pthread_mutex_t mutex; /* of all below, and of the items' results */
    size_t item, range;    /* the next piece … */
    uint64_t offset;       /* … in that range */
    uint64_t budget;
    size_t working;
    bool stop;
    pthread_t threads[READERS];
    size_t thread_count;
};

/* The part of the work that one thread takes: of one range, or a whole file if that is small. */
struct piece {
    struct read_item *item;
    struct warm_range part; /* of length 0: all ranges */
};

static void next_item(struct read_ahead *r)
{
    r->item++;
    r->range = 0;
    r->offset = 0;
}

/* Takes the next piece. Returns false if there is none, or no more may be read. */
static bool take_piece(struct read_ahead *r, struct piece *out)
{
    if (r->stop || r->budget == 0 || r->item == r->count)
        return false;
    struct read_item *item = &r->items[r->item];
    *out = (struct piece){.item = item};
    if (warm_file_bytes(item->file) <= PIECE) {
        next_item(r);
        return true;
    }
    const struct warm_range *range = &item->file->ranges[r->range];
    uint64_t left = range->len - r->offset;
    out->part = (struct warm_range){range->start + r->offset, left < PIECE ? left : PIECE};
    r->offset += out->part.len;
    if (r->offset == range->len) {
        r->offset = 0;
        r->range++;
    }
    if (r->range == item->file->count)
        next_item(r);
    return true;
}

static void read_range(struct read_ahead *r, int fd, const struct warm_range *range, char *buffer,
                       struct read_item *out)
{
    uint64_t cached = residency_bytes(fd, range->start, range->len),
             end = range->start + range->len;
    uint64_t bytes = 0;

    for (uint64_t at = range->start; at < end && cached < range->len; at += REQUEST) {
        size_t len = end - at < REQUEST ? (size_t)(end - at) : REQUEST;
        pthread_mutex_lock(&r->mutex);
        bool may = !r->stop && r->budget > 0;
        r->budget -= len < r->budget ? len : r->budget;
        pthread_mutex_unlock(&r->mutex);
        ssize_t got = may ? pread(fd, buffer, len, (off_t)at) : 0;
        if (got <= 0)
            break;
        bytes += (uint64_t)got;
    }
    out->cached += cached;
    out->read += bytes > cached ? bytes - cached : 0; /* the others came from the cache */
}

static void read_piece(struct read_ahead *r, const struct piece *p, char *buffer)
{
    const struct warm_file *f = p->item->file;
    struct read_item sum = {.at = clock_ns()};
    struct stat st;
    _cleanup_fd_ int fd = warm_open(p->item->dir, f->path, &st);

    if (fd < 0)
        return;
    /* Only what is asked for is read, in requests as large as they are. */
    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    for (size_t i = 0; i < f->count && !p->part.len; i++)
        read_range(r, fd, &f->ranges[i], buffer, &sum);
    if (p->part.len)
        read_range(r, fd, &p->part, buffer, &sum);
    pthread_mutex_lock(&r->mutex);
    p->item->read += sum.read;
    p->item->cached += sum.cached;
    if (!p->item->at)
        p->item->at = sum.at;
    pthread_mutex_unlock(&r->mutex);
}

static void *run_reader(void *arg)
{
    struct read_ahead *r = arg;
    _cleanup_free_ char *buffer = malloc(REQUEST);
    struct piece piece;

    while (buffer) {
        pthread_mutex_lock(&r->mutex);
        bool more = take_piece(r, &piece);
        pthread_mutex_unlock(&r->mutex);
        if (!more)
            break;
        read_piece(r, &piece, buffer);
    }
    pthread_mutex_lock(&r->mutex);
    r->working--;
    pthread_mutex_unlock(&r->mutex);
    return NULL;
}

struct read_ahead *read_ahead_begin(struct read_item *items, size_t count, uint64_t budget,
                                    struct err *err)
{
    struct read_ahead *r = calloc(1, sizeof(*r));

    if (!r) {
        err_nomem(err);
        return NULL;
    }
    *r = (struct read_ahead){.items = items, .count = count, .budget = budget};
    pthread_mutex_init(&r->mutex, NULL);
    r->working = READERS;
    while (r->thread_count < READERS &&
           pthread_create(&r->threads[r->thread_count], NULL, run_reader, r) == 0)
        r->thread_count++;
    pthread_mutex_lock(&r->mutex);
    r->working -= READERS - r->thread_count;
    pthread_mutex_unlock(&r->mutex);
    if (r->thread_count)
        return r;
    read_ahead_end(r);
    err_set(err, ERR_SYSTEM, "cannot start a thread");
    return NULL;
}

bool read_ahead_done(struct read_ahead *r)
{
    pthread_mutex_lock(&r->mutex);
    bool done = r->working == 0;
    pthread_mutex_unlock(&r->mutex);
    return done;
}

void read_ahead_end(struct read_ahead *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->mutex);
    r->stop = true;
    pthread_mutex_unlock(&r->mutex);
    for (size_t i = 0; i < r->thread_count; i++)
        pthread_join(r->threads[i], NULL);
    pthread_mutex_destroy(&r->mutex);
    free(r);
}

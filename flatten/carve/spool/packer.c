#include "flatten/carve/spool/packer.h"

#include "base/fdio.h"
#include "base/path.h"
#include "flatten/merge/tree/array.h"
#include "flatten/stream/cpus.h"
#include "flatten/stream/relay.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* They take 10 MB each. Three compress more than one thread inflates. */
enum { MOST_WORKERS = 3, FRAME_SIZE = ZSTD_COMPRESSBOUND(PIECE_SIZE) };

enum state { FREE, READY, TAKEN };

/* A piece on its way to the file. */
struct job {
    char *data;
    size_t len;
    size_t number; /* of the piece */
    uint64_t at;
    enum state state;
};

struct pack_worker {
    struct packer *packer;
    struct worker *thread;
    ZSTD_CCtx *zstd;
    char *frame;
};

struct packer {
    int fd;
    struct pieces *pieces;
    struct hub *hub;
    struct pack_worker workers[MOST_WORKERS];
    unsigned worker_count;
    struct job jobs[MOST_WORKERS + 1]; /* one is filled while the others are compressed */
    struct job *filling;               /* or NULL */
    uint64_t next;                     /* the place of the next piece */
    bool over;
    struct err failure;
};

uint64_t packer_room(uint64_t len)
{
    uint64_t rest = len % PIECE_SIZE;

    return len / PIECE_SIZE * FRAME_SIZE + (rest ? ZSTD_COMPRESSBOUND(rest) : 0);
}

int spool_write(int fd, const void *data, size_t len, uint64_t at, struct err *err)
{
    if (fd_pwrite_all(fd, data, len, (off_t)at, err) == 0)
        return 0;
    err->sys = 0; /* the directory is named here: the destination is not the one that is full */
    return err_wrap(err, "the temporary file for the image's files, in %s (set TMPDIR)",
                    temporary_dir());
}

/* ---- threads ---- */

static int write_frame(struct pack_worker *w, const struct job *job, uint32_t *size,
                       struct err *err)
{
    size_t made = ZSTD_compress2(w->zstd, w->frame, FRAME_SIZE, job->data, job->len);

    if (ZSTD_isError(made))
        return err_set(err, ERR_SYSTEM, "zstd: %s", ZSTD_getErrorName(made));
    *size = (uint32_t)made;
    return spool_write(w->packer->fd, w->frame, made, job->at, err);
}

/* Called with the lock, which it drops meanwhile. */
static void run_job(struct pack_worker *w, struct job *job)
{
    struct packer *p = w->packer;
    uint32_t size = 0;
    struct err err = ERR_INIT;

    job->state = TAKEN;
    pthread_mutex_unlock(&p->hub->lock);
    bool failed = write_frame(w, job, &size, &err) < 0;
    pthread_mutex_lock(&p->hub->lock);
    p->pieces->list[job->number] =
        (struct piece){.at = job->at, .size = size, .len = (uint32_t)job->len};
    if (failed && p->failure.kind == ERR_NONE)
        p->failure = err;
    job->state = FREE;
    pthread_cond_broadcast(&p->hub->changed);
}

/* Returns a job in that state; NULL for none. Called with the lock. */
static struct job *job_in(struct packer *p, enum state state)
{
    for (unsigned i = 0; i <= p->worker_count; i++)
        if (p->jobs[i].state == state)
            return &p->jobs[i];
    return NULL;
}

static void run_jobs(void *ctx)
{
    struct pack_worker *w = ctx;
    struct packer *p = w->packer;

    pthread_mutex_lock(&p->hub->lock);
    while (!p->over) {
        struct job *job = job_in(p, READY);
        if (job)
            run_job(w, job);
        else
            pthread_cond_wait(&p->hub->changed, &p->hub->lock);
    }
    pthread_mutex_unlock(&p->hub->lock);
}

static int set_zstd(ZSTD_CCtx *zstd, ZSTD_cParameter parameter, int value, struct err *err)
{
    size_t rc = ZSTD_CCtx_setParameter(zstd, parameter, value);

    return ZSTD_isError(rc) ? err_set(err, ERR_SYSTEM, "zstd: %s", ZSTD_getErrorName(rc)) : 0;
}

/* `w` counts as a worker from now on. */
static int prepare_worker(struct pack_worker *w, int level, struct err *err)
{
    if (!(w->zstd = ZSTD_createCCtx()) || !(w->frame = malloc(FRAME_SIZE)))
        return err_nomem(err);
    return set_zstd(w->zstd, ZSTD_c_compressionLevel, level, err) < 0 ||
                   set_zstd(w->zstd, ZSTD_c_checksumFlag, 1, err) < 0
               ? -1
               : 0;
}

static int start_workers(struct packer *p, int level, struct err *err)
{
    for (unsigned i = 0; i < p->worker_count; i++) {
        struct pack_worker *w = &p->workers[i];
        w->packer = p;
        if (prepare_worker(w, level, err) < 0 || !(w->thread = worker_start(run_jobs, w, err)))
            return -1;
    }
    return 0;
}

struct packer *packer_new(int fd, const struct compress_options *options, struct pieces *pieces,
                          struct err *err)
{
    _cleanup_packer_ struct packer *p = calloc(1, sizeof(*p));
    unsigned threads = options->threads ? options->threads : cpus_usable();

    if (!p) {
        err_nomem(err);
        return NULL;
    }
    p->fd = fd;
    p->pieces = pieces;
    p->worker_count = threads < MOST_WORKERS ? threads : MOST_WORKERS;
    if (!(p->hub = hub_new(err)))
        return NULL;
    for (unsigned i = 0; i <= p->worker_count; i++)
        if (!(p->jobs[i].data = malloc(PIECE_SIZE))) {
            err_nomem(err);
            return NULL;
        }
    return start_workers(p, options->level, err) < 0 ? NULL : steal_ptr(&p);
}

static void end_worker(struct pack_worker *w)
{
    if (w->thread)
        worker_join(w->thread);
    ZSTD_freeCCtx(w->zstd);
    free(w->frame);
}

void packer_free(struct packer *p)
{
    if (p->hub) {
        pthread_mutex_lock(&p->hub->lock);
        p->over = true;
        pthread_cond_broadcast(&p->hub->changed);
        pthread_mutex_unlock(&p->hub->lock);
    }
    for (unsigned i = 0; i < p->worker_count; i++)
        end_worker(&p->workers[i]);
    for (unsigned i = 0; i <= p->worker_count; i++)
        free(p->jobs[i].data);
    cleanup_hub(&p->hub);
    free(p);
}

/* ---- content ---- */

void packer_begin(struct packer *p, uint64_t at)
{
    p->next = at;
}

/* Returns true, with the error, after a failure of the threads. Called with the lock. */
static bool failed(const struct packer *p, struct err *err)
{
    if (p->failure.kind != ERR_NONE)
        *err = p->failure;
    return p->failure.kind != ERR_NONE;
}

/* Waits for a job that can be filled with the next piece. */
static int begin_piece(struct packer *p, struct err *err)
{
    struct pieces *all = p->pieces;
    struct job *job = NULL;

    pthread_mutex_lock(&p->hub->lock);
    while (p->failure.kind == ERR_NONE && !(job = job_in(p, FREE)))
        pthread_cond_wait(&p->hub->changed, &p->hub->lock);
    int rc = failed(p, err) ? -1 : 0;
    if (rc == 0 && !array_push(&all->list, &all->count, &all->cap, sizeof(*all->list), err))
        rc = -1;
    pthread_mutex_unlock(&p->hub->lock);
    if (rc < 0)
        return -1;
    job->len = 0;
    job->at = p->next;
    job->number = all->count - 1;
    p->next += FRAME_SIZE;
    p->filling = job;
    return 0;
}

void packer_end(struct packer *p)
{
    struct job *job = steal_ptr(&p->filling);

    if (!job)
        return;
    pthread_mutex_lock(&p->hub->lock);
    job->state = READY;
    pthread_cond_broadcast(&p->hub->changed);
    pthread_mutex_unlock(&p->hub->lock);
}

int packer_add(struct packer *p, const void *data, uint64_t len, struct err *err)
{
    const char *from = data;

    while (len > 0) {
        if (!p->filling && begin_piece(p, err) < 0)
            return -1;
        struct job *job = p->filling;
        size_t part = PIECE_SIZE - job->len < len ? PIECE_SIZE - job->len : (size_t)len;
        if (from)
            memcpy(job->data + job->len, from, part);
        else
            memset(job->data + job->len, 0, part);
        from = from ? from + part : NULL;
        job->len += part;
        len -= part;
        if (job->len == PIECE_SIZE)
            packer_end(p);
    }
    return 0;
}

/* Called with the lock. */
static bool is_busy(struct packer *p)
{
    return job_in(p, READY) || job_in(p, TAKEN);
}

int packer_finish(struct packer *p, struct err *err)
{
    pthread_mutex_lock(&p->hub->lock);
    while (p->failure.kind == ERR_NONE && is_busy(p))
        pthread_cond_wait(&p->hub->changed, &p->hub->lock);
    int rc = failed(p, err) ? -1 : 0;
    pthread_mutex_unlock(&p->hub->lock);
    return rc;
}

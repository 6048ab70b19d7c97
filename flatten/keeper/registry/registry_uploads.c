#include "flatten/keeper/registry/registry_upload.h"

#include "flatten/stream/relay.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { LANES = REGISTRY_MOST_UPLOADS };

/* A blob on its way, and the connection that the next one uses, too. */
struct lane {
    struct registry_uploads *all;
    struct http *h;        /* the thread's own; NULL until the first request */
    struct http_body body; /* `size` is that of the file so far */
    struct upload upload;
    struct digest digest; /* these two are known once the file is whole */
    uint64_t size;
    struct worker *worker; /* or NULL */
    atomic_bool whole;     /* the file does not grow any more */
    atomic_bool stop;      /* requests fail */
    bool over;             /* the thread has no more to do; with the lock */
};

/*
 * Blobs that are uploaded side by side, each from a file that may still grow: the registry asks for
 * the digest only at the end.
 */
struct registry_uploads {
    struct registry *r;
    struct hub *hub;
    struct lane lanes[LANES];
    struct lane *growing[LANES]; /* those of blobs that were begun and not ended, in that order */
    size_t growing_count;
    bool failed; /* a blob has, with the lock; `failure` is the first error */
    struct err failure;
};

/* ---- a blob, in its thread ---- */

static int connect_lane(struct lane *l, struct err *err)
{
    if (!l->h)
        l->h = registry_http(l->all->r, &l->stop, err);
    l->upload.h = l->h;
    return l->h ? 0 : -1;
}

/* Returns true if there is more than a chunk to send. */
static bool look_at_file(struct lane *l)
{
    struct stat st;

    if (fstat(l->body.fd, &st) < 0)
        return false;
    l->body.size = (uint64_t)st.st_size;
    return l->body.size > l->upload.chunk && l->body.size - l->upload.chunk > l->upload.sent;
}

/* Sends whole chunks until the file is whole. Whatever goes wrong is left to finish. */
static void send_ahead(struct lane *l)
{
    static const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
    struct err ignored = ERR_INIT;
    bool well = true;

    while (!atomic_load(&l->whole) && !atomic_load(&l->stop)) {
        if (well && !l->upload.in_one && look_at_file(l))
            well = connect_lane(l, &ignored) == 0 && upload_ahead(&l->upload);
        else
            nanosleep(&moment, NULL);
    }
}

/* Uploads the rest of the file, unless the registry has the blob. */
static int finish(struct lane *l, struct err *err)
{
    if (l->upload.sent > l->size)
        return err_set(err, ERR_FORMAT, "a layer that is shorter than its file");
    l->body.size = l->size;
    if (connect_lane(l, err) < 0)
        return -1;
    int rc = registry_has_blob(l->all->r, l->h, &l->digest, err);
    if (rc == 0)
        rc = upload_finish(&l->upload, err);
    return rc < 0 ? err_wrap(err, "uploading %s", l->digest.text) : 0;
}

static void stop_all(struct registry_uploads *u)
{
    for (size_t i = 0; i < LANES; i++)
        atomic_store(&u->lanes[i].stop, true);
}

/* Ends the thread's work. `failure`, which may be NULL, ends that of the others. */
static void tell_over(struct lane *l, const struct err *failure)
{
    struct registry_uploads *u = l->all;

    pthread_mutex_lock(&u->hub->lock);
    l->over = true;
    if (failure && !u->failed) {
        u->failed = true;
        u->failure = *failure;
        stop_all(u);
    }
    pthread_cond_broadcast(&u->hub->changed);
    pthread_mutex_unlock(&u->hub->lock);
}

static void upload_blob(void *ctx)
{
    struct lane *l = ctx;
    struct err err = ERR_INIT;

    send_ahead(l);
    int rc = atomic_load(&l->stop) ? 0 : finish(l, &err);
    upload_cancel(&l->upload); /* if it is not complete */
    cleanup_fd(&l->body.fd);
    tell_over(l, rc < 0 ? &err : NULL);
}

/* ---- lanes ---- */

static void join_lane(struct lane *l)
{
    if (l->worker)
        worker_join(l->worker);
    l->worker = NULL;
}

static int start_lane(struct lane *l, int fd, struct err *err)
{
    l->body = (struct http_body){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3)};
    if (l->body.fd < 0)
        return err_sys(err, "dup");
    upload_init(l->all->r, l->h, &l->body, &l->upload);
    l->upload.digest = &l->digest;
    if ((l->worker = worker_start(upload_blob, l, err)))
        return 0;
    cleanup_fd(&l->body.fd);
    return -1;
}

/* Returns a lane without work, or NULL. Called with the lock. */
static struct lane *find_free(struct registry_uploads *u)
{
    for (size_t i = 0; i < LANES; i++)
        if (!u->lanes[i].worker || u->lanes[i].over)
            return &u->lanes[i];
    return NULL;
}

/* Waits for a lane. NULL if a blob has failed. */
static struct lane *await_lane(struct registry_uploads *u, struct err *err)
{
    struct lane *l = NULL;

    pthread_mutex_lock(&u->hub->lock);
    while (!u->failed && !(l = find_free(u)))
        pthread_cond_wait(&u->hub->changed, &u->hub->lock);
    if (u->failed) {
        *err = u->failure;
        l = NULL;
    } else {
        l->over = false;
        atomic_store(&l->whole, false);
        atomic_store(&l->stop, false);
    }
    pthread_mutex_unlock(&u->hub->lock);
    if (l)
        join_lane(l);
    return l;
}

/* ---- all of them ---- */

struct registry_uploads *registry_uploads_new(struct registry *r, struct err *err)
{
    _cleanup_registry_uploads_ struct registry_uploads *u = calloc(1, sizeof(*u));

    if (!u) {
        err_nomem(err);
        return NULL;
    }
    u->r = r;
    for (size_t i = 0; i < LANES; i++) {
        u->lanes[i].all = u;
        u->lanes[i].body.fd = -1;
    }
    return (u->hub = hub_new(err)) ? steal_ptr(&u) : NULL;
}

int registry_uploads_begin(struct registry_uploads *u, int fd, struct err *err)
{
    struct lane *l = await_lane(u, err);

    if (!l || start_lane(l, fd, err) < 0)
        return -1;
    u->growing[u->growing_count++] = l;
    return 0;
}

/* Takes the first of the blobs that were begun and not ended. */
static struct lane *take_first(struct registry_uploads *u)
{
    struct lane *l = u->growing[0];

    u->growing_count--;
    memmove(u->growing, u->growing + 1, u->growing_count * sizeof(struct lane *));
    return l;
}

void registry_uploads_end(struct registry_uploads *u, const struct digest *digest, uint64_t size)
{
    struct lane *l = take_first(u);

    l->digest = *digest;
    l->size = size;
    atomic_store(&l->whole, true);
}

void registry_uploads_drop(struct registry_uploads *u)
{
    atomic_store(&take_first(u)->stop, true);
}

int registry_uploads_wait(struct registry_uploads *u, struct err *err)
{
    for (size_t i = 0; i < LANES; i++)
        join_lane(&u->lanes[i]);
    if (u->failed)
        *err = u->failure;
    return u->failed ? -1 : 0;
}

void registry_uploads_free(struct registry_uploads *u)
{
    stop_all(u);
    for (size_t i = 0; i < LANES; i++) {
        join_lane(&u->lanes[i]);
        cleanup_http(&u->lanes[i].h);
    }
    cleanup_hub(&u->hub);
    free(u);
}

#include "flatten/keeper/registry/registry_upload.h"

#include "flatten/stream/relay.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

/*
 * A blob that is uploaded while its file grows. The registry asks for its digest only at the end. A
 * thread sends whole chunks; whatever goes wrong there is left to registry_ahead_finish.
 */
struct registry_ahead {
    struct registry *r;
    struct http *h;        /* the thread's own; NULL until the first chunk */
    struct http_body body; /* `size` is that of the file so far */
    struct upload upload;
    struct worker *worker; /* or NULL */
    atomic_bool ended;     /* the file does not grow any more */
    atomic_bool stop;      /* requests fail */
};

/* Returns true if there is more than a chunk to send. */
static bool look_at_file(struct registry_ahead *a)
{
    struct stat st;

    if (fstat(a->body.fd, &st) < 0)
        return false;
    a->body.size = (uint64_t)st.st_size;
    return a->body.size > a->upload.chunk && a->body.size - a->upload.chunk > a->upload.sent;
}

/* A small layer needs no second connection. */
static bool connect_ahead(struct registry_ahead *a)
{
    struct err ignored = ERR_INIT;

    if (!a->h)
        a->h = a->upload.h = registry_http(a->r, &a->stop, &ignored);
    return a->h;
}

static void send_ahead(void *ctx)
{
    static const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
    struct registry_ahead *a = ctx;

    while (!atomic_load(&a->ended) && !a->upload.in_one) {
        if (!look_at_file(a))
            nanosleep(&moment, NULL);
        else if (!connect_ahead(a) || !upload_ahead(&a->upload))
            return;
    }
}

static void join(struct registry_ahead *a)
{
    atomic_store(&a->ended, true);
    if (a->worker)
        worker_join(a->worker);
    a->worker = NULL;
}

struct registry_ahead *registry_ahead_start(struct registry *r, int fd, struct err *err)
{
    _cleanup_registry_ahead_ struct registry_ahead *a = calloc(1, sizeof(*a));

    if (!a) {
        err_nomem(err);
        return NULL;
    }
    a->r = r;
    a->body.fd = fd;
    upload_init(r, NULL, &a->body, &a->upload);
    if (!(a->worker = worker_start(send_ahead, a, err)))
        return NULL;
    return steal_ptr(&a);
}

int registry_ahead_finish(struct registry_ahead *a, struct http *h, const struct digest *digest,
                          uint64_t size, struct err *err)
{
    join(a);
    a->body.size = size;
    a->upload.h = h;
    a->upload.digest = digest;
    int rc = registry_has_blob(a->r, h, digest, err);
    if (rc == 0)
        rc = upload_finish(&a->upload, err);
    else
        upload_cancel(&a->upload);
    return rc < 0 ? err_wrap(err, "uploading %s", digest->text) : 0;
}

void registry_ahead_free(struct registry_ahead *a)
{
    atomic_store(&a->stop, true);
    join(a);
    atomic_store(&a->stop, false);
    upload_cancel(&a->upload);
    cleanup_http(&a->h);
    free(a);
}

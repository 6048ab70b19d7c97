#include "flatten/layer/verifier.h"

#include "flatten/layer/layer_blob.h"
#include "flatten/layer/layer_check.h"
#include "flatten/stream/cpus.h"
#include "flatten/stream/hasher.h"
#include "flatten/stream/relay.h"

#include <limits.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { MOST_WORKERS = 4 };

/* Changes when the file is changed. */
struct stamp {
    off_t size;
    struct timespec changed;
};

enum state { LEFT_ALONE, WAITING, JUDGED };

/* The verifier's record of a layer. */
struct duty {
    enum state state;
    struct stamp stamp;
};

/* A thread, and the two layers that it hashes side by side. */
struct pair {
    struct verifier *verifier;
    struct worker *worker;
    struct layer_check checks[2];
};

struct verifier {
    struct image *image; /* borrowed */
    struct hub *hub;
    struct duty *duties; /* by layer */
    size_t unbegun; /* number of layers not begun, from the oldest; newer ones are begun or done */
    unsigned reached;   /* the number of the oldest layer that a reader has begun */
    unsigned failed;    /* the number of the newest layer that is wrong; 0: none */
    struct err failure; /* of that layer */
    atomic_bool over;
    struct pair pairs[MOST_WORKERS];
    unsigned pair_count;
};

/* ---- the threads ---- */

/* Returns the next layer to check, or NULL. Layers older than a wrong one do not matter. */
static const struct layer *next_layer(struct verifier *v)
{
    const struct layer *next = NULL;

    pthread_mutex_lock(&v->hub->lock);
    while (!next && !v->failed && v->unbegun > 0)
        if (v->duties[--v->unbegun].state == WAITING)
            next = &v->image->layers[v->unbegun];
    pthread_mutex_unlock(&v->hub->lock);
    return next;
}

static void judge(struct verifier *v, struct layer_check *c, const struct err *failure)
{
    unsigned number = c->layer->number;

    layer_check_end(c);
    pthread_mutex_lock(&v->hub->lock);
    v->duties[number - 1].state = JUDGED;
    if (failure && number > v->failed) {
        v->failure = *failure;
        v->failed = number;
    }
    pthread_cond_broadcast(&v->hub->changed);
    pthread_mutex_unlock(&v->hub->lock);
}

/* Finds the next piece to hash, of the next layer where the current one ends. False: none is left.
 */
static bool find_piece(struct verifier *v, struct layer_check *c, struct hash_piece *out)
{
    while (!v->over) {
        const struct layer *next = c->layer ? NULL : next_layer(v);
        struct err failure;
        if (!c->layer && !next)
            return false;
        int rc = next ? layer_check_begin(c, next, &failure) : 0;
        if (rc == 0)
            rc = layer_check_next(c, out, &failure);
        if (rc > 0)
            return true;
        judge(v, c, rc < 0 ? &failure : NULL);
    }
    return false;
}

static void run(void *ctx)
{
    struct pair *p = ctx;
    struct hash_piece pieces[2];
    unsigned count;

    do {
        struct err err;
        count = 0;
        for (unsigned i = 0; i < 2; i++)
            count += find_piece(p->verifier, &p->checks[i], &pieces[count]);
        bool failed = count > 0 && hash_pieces(pieces, count, &err) < 0;
        for (unsigned i = 0; i < count; i++) {
            if (failed)
                judge(p->verifier, pieces[i].owner, &err);
            else
                layer_check_advance(pieces[i].owner, pieces[i].len);
        }
    } while (count > 0);
}

/* ---- start and end ---- */

/* On most machines fstat(3) calls newfstatat(2), which the sandbox forbids because it takes names.
 */
static int take_stamp(const struct layer *layer, struct stamp *out, struct err *err)
{
    struct stat st;

    *out = (struct stamp){0};
    if (layer->arriving.all) /* others arrive in the same file; the keeper changes no byte */
        return 0;
    if (syscall(SYS_fstat, layer->fd, &st) < 0)
        return err_sys(err, "layer %u: fstat", layer->number);
    *out = (struct stamp){st.st_size, st.st_ctim};
    return 0;
}

/*
 * A layer whose blob cannot be read is left to its reader, which reports it in turn. A layer of a
 * tree that is walked has none.
 */
static bool has_digest(struct layer *layer)
{
    struct err ignored = ERR_INIT;
    bool packed;

    if (layer->fd < 0 || layer_is_packed(layer, &packed, &ignored) < 0)
        return false;
    layer->blob_is_tar = !packed;
    return layer->blob_is_tar || layer->digest.text[0];
}

static int assign(struct verifier *v, struct err *err)
{
    for (size_t i = 0; i < v->image->layer_count; i++) {
        struct layer *layer = &v->image->layers[i];
        if (!has_digest(layer))
            continue;
        if (take_stamp(layer, &v->duties[i].stamp, err) < 0)
            return -1;
        v->duties[i].state = WAITING;
        layer->verifier = v;
    }
    return 0;
}

static int start(struct verifier *v, struct err *err)
{
    unsigned cpus = cpus_usable();

    while (v->pair_count < MOST_WORKERS && v->pair_count < cpus) {
        struct pair *p = &v->pairs[v->pair_count];
        p->verifier = v;
        if (!(p->worker = worker_start(run, p, err)))
            return -1;
        v->pair_count++;
    }
    return 0;
}

struct verifier *verifier_new(struct image *image, struct err *err)
{
    _cleanup_verifier_ struct verifier *v = calloc(1, sizeof(*v));

    if (!v) {
        err_nomem(err);
        return NULL;
    }
    v->image = image;
    v->unbegun = image->layer_count;
    v->reached = UINT_MAX;
    if (!(v->duties = calloc(image->layer_count + 1, sizeof(*v->duties)))) {
        err_nomem(err);
        return NULL;
    }
    if (assign(v, err) < 0 || !(v->hub = hub_new(err)) || start(v, err) < 0)
        return NULL;
    return steal_ptr(&v);
}

void verifier_free(struct verifier *v)
{
    v->over = true;
    for (unsigned i = 0; i < v->pair_count; i++) {
        struct pair *p = &v->pairs[i];
        worker_join(p->worker);
        for (unsigned k = 0; k < 2; k++)
            if (p->checks[k].layer)
                layer_check_end(&p->checks[k]);
    }
    for (size_t i = 0; i < v->image->layer_count; i++) {
        v->image->layers[i].verifier = NULL;
        v->image->layers[i].blob_is_tar = false;
    }
    cleanup_hub(&v->hub);
    free(v->duties);
    free(v);
}

/* ---- called by readers and by squash ---- */

int verifier_check(struct verifier *v, const struct layer *layer, struct err *err)
{
    int rc = 0;

    pthread_mutex_lock(&v->hub->lock);
    if (layer->number < v->reached)
        v->reached = layer->number;
    if (v->failed >= layer->number) {
        *err = v->failure;
        rc = -1;
    }
    pthread_mutex_unlock(&v->hub->lock);
    return rc;
}

/* True if a layer from this number on is not judged yet and is newer than all wrong ones. */
static bool is_undecided(const struct verifier *v, unsigned from)
{
    if (v->failed >= from)
        from = v->failed + 1;
    for (size_t i = from - 1; i < v->image->layer_count; i++)
        if (v->duties[i].state == WAITING)
            return true;
    return false;
}

/* Waits for the layers from this number on. Returns 0, or -1 with the error of the newest wrong
 * one. */
static int await_verdicts(struct verifier *v, unsigned from, struct err *err)
{
    int rc = 0;

    pthread_mutex_lock(&v->hub->lock);
    while (is_undecided(v, from))
        pthread_cond_wait(&v->hub->changed, &v->hub->lock);
    if (v->failed >= from) {
        *err = v->failure;
        rc = -1;
    }
    pthread_mutex_unlock(&v->hub->lock);
    return rc;
}

static bool is_same(const struct stamp *a, const struct stamp *b)
{
    return a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

int verifier_finish(struct verifier *v, struct err *err)
{
    const struct image *image = v->image;
    struct stamp now = {0};

    if (await_verdicts(v, 1, err) < 0)
        return -1;
    for (size_t i = 0; i < image->layer_count; i++) {
        const struct layer *layer = &image->layers[i];
        if (layer_await(layer, layer->size, err) < 0)
            return -1;
        if (v->duties[i].state == LEFT_ALONE)
            continue;
        if (take_stamp(&image->layers[i], &now, err) < 0)
            return -1;
        if (!is_same(&now, &v->duties[i].stamp))
            return err_set(err, ERR_FORMAT, "layer %u: its file changed while it was read",
                           image->layers[i].number);
    }
    return 0;
}

static bool is_about_content(const struct err *err)
{
    return err->kind == ERR_DIGEST || err->kind == ERR_FORMAT || err->kind == ERR_LIMIT ||
           err->kind == ERR_UNSUPPORTED;
}

void verifier_explain(struct verifier *v, struct err *err)
{
    struct err why;

    if (is_about_content(err) && await_verdicts(v, v->reached, &why) < 0)
        *err = why;
}

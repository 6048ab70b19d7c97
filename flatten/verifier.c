#include "flatten/verifier.h"

#include "flatten/cpus.h"
#include "flatten/layer_check.h"
#include "flatten/relay.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { MOST_PAIRS = 4 };

/* What tells that a file was changed. */
struct stamp {
    off_t size;
    struct timespec changed;
};

enum state { LEFT_ALONE, WAITING, JUDGED };

/* A layer, as far as the verifier is concerned. */
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
    size_t unbegun;      /* layers, from the oldest: the others are in hand, or done */
    unsigned reached;    /* the oldest layer that somebody reads, by number */
    atomic_uint failed;  /* the newest layer that is wrong, by number; 0: none */
    struct err failure;  /* of that */
    atomic_bool over;
    struct pair *pairs[MOST_PAIRS];
    size_t pair_count;
};

/* ---- verdicts ---- */

/* Is a layer from this number on not judged yet? Under the lock, as is the next. */
static bool is_waiting(const struct verifier *v, unsigned from)
{
    for (size_t i = from - 1; i < v->image->layer_count; i++)
        if (v->duties[i].state == WAITING)
            return true;
    return false;
}

/* Is it known which is the newest of the wrong layers? They are begun in order. */
static bool is_settled(const struct verifier *v)
{
    return v->failed && !is_waiting(v, v->failed + 1);
}

static void judge(struct verifier *v, const struct layer *layer, const struct err *failure)
{
    pthread_mutex_lock(&v->hub->lock);
    v->duties[layer->number - 1].state = JUDGED;
    if (failure && layer->number > v->failed) {
        v->failure = *failure;
        v->failed = layer->number;
    }
    pthread_cond_broadcast(&v->hub->changed);
    pthread_mutex_unlock(&v->hub->lock);
}

static const struct layer *next_layer(struct verifier *v)
{
    const struct layer *layer = NULL;

    pthread_mutex_lock(&v->hub->lock);
    while (!layer && !v->over && !v->failed && v->unbegun > 0)
        if (v->duties[--v->unbegun].state == WAITING)
            layer = &v->image->layers[v->unbegun];
    pthread_mutex_unlock(&v->hub->lock);
    return layer;
}

/* Has nobody use for a verdict on that layer any more? */
static bool is_idle(const struct verifier *v, const struct layer *layer)
{
    return v->over || v->failed > layer->number;
}

/* ---- threads ---- */

static void end(struct verifier *v, struct layer_check *c, const struct err *failure)
{
    const struct layer *layer = c->layer;

    layer_check_end(c);
    judge(v, layer, failure);
}

/* Gets it something to be hashed; false when there is nothing left. */
static bool provide(struct verifier *v, struct layer_check *c)
{
    for (;;) {
        const struct layer *begin = c->layer ? NULL : next_layer(v);
        struct err failure = ERR_INIT;
        if (!c->layer && !begin)
            return false;
        int rc = begin ? layer_check_begin(c, begin, &failure) : 0;
        if (rc == 0 && !is_idle(v, c->layer))
            rc = layer_check_next(c, &failure);
        if (rc > 0)
            return true;
        end(v, c, rc < 0 ? &failure : NULL);
    }
}

static void hash_one(struct verifier *v, struct layer_check *c)
{
    size_t len = c->len - c->at;
    struct err err = ERR_INIT;

    if (sha256_lane_update(&c->hash, c->block + c->at, len, &err) < 0)
        end(v, c, &err);
    else
        c->at += len;
}

/* As far as the shorter goes. */
static void hash_both(struct verifier *v, struct layer_check *a, struct layer_check *b)
{
    size_t left_a = a->len - a->at, left_b = b->len - b->at;
    size_t len = left_a < left_b ? left_a : left_b;
    struct err err = ERR_INIT;

    if (sha256_pair_update(&a->hash, a->block + a->at, &b->hash, b->block + b->at, len, &err) < 0) {
        end(v, a, &err);
        end(v, b, &err);
        return;
    }
    a->at += len;
    b->at += len;
}

static void run(void *ctx)
{
    struct pair *p = ctx;
    struct layer_check *a = &p->checks[0], *b = &p->checks[1];

    for (;;) {
        bool one = provide(p->verifier, a), two = provide(p->verifier, b);
        if (one && two)
            hash_both(p->verifier, a, b);
        else if (one || two)
            hash_one(p->verifier, one ? a : b);
        else
            return;
    }
}

/* ---- what is checked ---- */

/* fstat(3) is another system call on most machines, one that takes names: not for a sandbox. */
static int take_stamp(const struct layer *layer, struct stamp *out, struct err *err)
{
    struct stat st;

    if (syscall(SYS_fstat, layer->fd, &st) < 0)
        return err_sys(err, "layer %u: fstat", layer->number);
    *out = (struct stamp){st.st_size, st.st_ctim};
    return 0;
}

/* What cannot even be begun is left to the reader, who will say so in its turn. */
static bool lies_as_it_is(const struct layer *layer)
{
    struct err ignored = ERR_INIT;
    enum compression kind;

    return layer_compression(layer, &kind, &ignored) == 0 && kind == COMPRESSION_NONE;
}

/* Returns how many layers there are to do, or -1. */
static int assign(struct verifier *v, struct err *err)
{
    int count = 0;

    for (size_t i = 0; i < v->image->layer_count; i++) {
        struct layer *layer = &v->image->layers[i];
        if (!lies_as_it_is(layer))
            continue;
        if (take_stamp(layer, &v->duties[i].stamp, err) < 0)
            return -1;
        v->duties[i].state = WAITING;
        layer->verifier = v;
        count++;
    }
    return count;
}

static int start_pair(struct verifier *v, struct err *err)
{
    struct pair *p = malloc(sizeof(*p));

    if (!p)
        return err_nomem(err);
    p->verifier = v;
    p->checks[0].layer = p->checks[1].layer = NULL;
    p->worker = worker_start(run, p, err);
    if (!p->worker) {
        free(p);
        return -1;
    }
    v->pairs[v->pair_count++] = p;
    return 0;
}

/* Half of the processors: the others merge, hash and write what is made of it. */
static int start(struct verifier *v, size_t layers, struct err *err)
{
    size_t pairs = cpus_usable() / 2, most = (layers + 1) / 2;

    pairs = pairs < 1 ? 1 : pairs > MOST_PAIRS ? MOST_PAIRS : pairs;
    while (v->pair_count < pairs && v->pair_count < most)
        if (start_pair(v, err) < 0)
            return -1;
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
    v->duties = calloc(image->layer_count + 1, sizeof(*v->duties));
    if (!v->duties) {
        err_nomem(err);
        return NULL;
    }
    int layers = assign(v, err);
    if (layers < 0 || !(v->hub = hub_new(err)))
        return NULL;
    return start(v, (size_t)layers, err) < 0 ? NULL : steal_ptr(&v);
}

void verifier_free(struct verifier *v)
{
    v->over = true;
    for (size_t i = 0; i < v->pair_count; i++) {
        worker_join(v->pairs[i]->worker);
        free(v->pairs[i]);
    }
    for (size_t i = 0; i < v->image->layer_count; i++)
        v->image->layers[i].verifier = NULL;
    cleanup_hub(&v->hub);
    free(v->duties);
    free(v);
}

/* ---- for the others ---- */

int verifier_check(struct verifier *v, const struct layer *layer, struct err *err)
{
    int rc = 0;

    if (layer->number >= v->reached && !v->failed)
        return 0;
    pthread_mutex_lock(&v->hub->lock);
    if (layer->number < v->reached)
        v->reached = layer->number;
    if (is_settled(v)) {
        *err = v->failure;
        rc = -1;
    }
    pthread_mutex_unlock(&v->hub->lock);
    return rc;
}

/* Waits for the layers from this number on: -1 with the error of one that is wrong. */
static int await_verdicts(struct verifier *v, unsigned from, struct err *err)
{
    int rc = 0;

    pthread_mutex_lock(&v->hub->lock);
    while (is_waiting(v, from) && !is_settled(v))
        pthread_cond_wait(&v->hub->changed, &v->hub->lock);
    if (v->failed) {
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
    return err->kind == ERR_FORMAT || err->kind == ERR_LIMIT || err->kind == ERR_UNSUPPORTED;
}

void verifier_explain(struct verifier *v, struct err *err)
{
    struct err why;

    if (is_about_content(err) && await_verdicts(v, v->reached, &why) < 0)
        *err = why;
}

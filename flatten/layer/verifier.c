#include "flatten/layer/verifier.h"

#include "flatten/layer/layer_check.h"
#include "flatten/stream/cpus.h"
#include "flatten/stream/relay.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { MOST_WORKERS = 4 };

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

/* Room for a layer in hand; whoever hashes a block of it has taken the slot as long. */
struct slot {
    bool taken;
    struct layer_check check;
};

struct verifier {
    struct image *image;   /* borrowed */
    struct hasher *hasher; /* borrowed */
    struct hash_backlog backlog;
    struct hub *hub;
    struct duty *duties; /* by layer */
    size_t unbegun;      /* layers, from the oldest: the others are in hand, or done */
    unsigned reached;    /* the oldest layer that somebody reads, by number */
    atomic_uint failed;  /* the newest layer that is wrong, by number; 0: none */
    struct err failure;  /* of that */
    atomic_bool over;
    struct slot *slots;
    size_t slot_count;
    unsigned changes; /* slots that were given back: somebody else may go on */
    struct worker *workers[MOST_WORKERS];
    size_t worker_count;
};

/* ---- verdicts ---- */

/* Is the blob of a layer from this number on not judged yet? Under the lock, as are the next. */
static bool is_waiting(const struct verifier *v, unsigned from)
{
    for (size_t i = from - 1; i < v->image->layer_count; i++)
        if (v->duties[i].state == WAITING)
            return true;
    return false;
}

/* May a layer from this number on still turn out wrong, here or when its reader comes to its end?
 */
static bool is_open(const struct verifier *v, unsigned from)
{
    for (unsigned number = from; number <= v->image->layer_count && number <= v->reached; number++)
        if (!v->image->layers[number - 1].blob_is_tar)
            return true;
    return is_waiting(v, from);
}

/* Is a verdict missing that counts for who asks about the layers from this number on? */
static bool is_undecided(const struct verifier *v, unsigned from)
{
    return is_waiting(v, v->failed >= from ? v->failed + 1 : from);
}

static void hand_back(struct verifier *v, struct slot *slot)
{
    slot->taken = false;
    v->changes++;
    pthread_cond_broadcast(&v->hub->changed);
}

static void judge(struct verifier *v, struct slot *slot, const struct err *failure)
{
    unsigned number = slot->check.layer->number;

    layer_check_end(&slot->check);
    pthread_mutex_lock(&v->hub->lock);
    hand_back(v, slot);
    v->duties[number - 1].state = JUDGED;
    if (failure && number > v->failed) {
        v->failure = *failure;
        v->failed = number;
    }
    pthread_mutex_unlock(&v->hub->lock);
}

/* Has nobody use for a verdict on that layer any more? */
static bool is_idle(const struct verifier *v, const struct layer *layer)
{
    return v->over || v->failed > layer->number;
}

/* ---- blocks to be hashed ---- */

/* The next layer to begin with, or NULL. Under the lock. */
static const struct layer *next_layer(struct verifier *v)
{
    while (!v->over && !v->failed && v->unbegun > 0)
        if (v->duties[--v->unbegun].state == WAITING)
            return &v->image->layers[v->unbegun];
    return NULL;
}

/*
 * Takes a layer that is in hand and that nobody is at, or else (*begin) the next one, for which
 * there may be no slot. NULL: neither. Under the lock.
 */
static struct slot *take_slot(struct verifier *v, const struct layer **begin)
{
    struct slot *found = NULL;

    *begin = NULL;
    for (size_t i = 0; i < v->slot_count; i++) {
        struct slot *slot = &v->slots[i];
        if (!slot->taken && (!found || slot->check.layer))
            found = slot;
        if (found && found->check.layer)
            break;
    }
    if (!found || (!found->check.layer && !(*begin = next_layer(v))))
        return NULL;
    found->taken = true;
    return found;
}

/* Takes a layer of which there is something to be hashed; NULL: there is none at present. */
static struct slot *take(struct verifier *v)
{
    const struct layer *begin;

    for (;;) {
        struct err failure;
        pthread_mutex_lock(&v->hub->lock);
        struct slot *slot = take_slot(v, &begin);
        pthread_mutex_unlock(&v->hub->lock);
        if (!slot)
            return NULL;
        int rc = begin ? layer_check_begin(&slot->check, begin, &failure) : 0;
        if (rc == 0 && !is_idle(v, slot->check.layer))
            rc = layer_check_next(&slot->check, &failure);
        if (rc > 0)
            return slot;
        judge(v, slot, rc < 0 ? &failure : NULL);
    }
}

static bool take_piece(void *ctx, struct hash_piece *out)
{
    struct slot *slot = take(ctx);

    if (!slot)
        return false;
    const struct layer_check *c = &slot->check;
    *out = (struct hash_piece){&slot->check.hash, c->block + c->at, c->len - c->at, slot};
    return true;
}

static void give_back(void *ctx, const struct hash_piece *piece, const struct err *failure)
{
    struct verifier *v = ctx;
    struct slot *slot = piece->owner;

    if (failure) {
        judge(v, slot, failure);
        return;
    }
    slot->check.at += piece->len;
    pthread_mutex_lock(&v->hub->lock);
    hand_back(v, slot);
    pthread_mutex_unlock(&v->hub->lock);
}

/* False when there is nothing to do at present: others have in hand what is left. */
static bool hash_some(struct verifier *v)
{
    struct hash_piece pieces[2];
    unsigned count = 0;
    struct err err;

    while (count < 2 && take_piece(v, &pieces[count]))
        count++;
    if (count == 0)
        return false;
    bool failed = hash_pieces(pieces, count, &err) < 0;
    for (unsigned i = 0; i < count; i++)
        give_back(v, &pieces[i], failed ? &err : NULL);
    return true;
}

/* Hashes until it is known which of the layers from this number on is wrong, if any is. */
static void work(struct verifier *v, unsigned from)
{
    pthread_mutex_lock(&v->hub->lock);
    while (!v->over && is_undecided(v, from)) {
        unsigned before = v->changes;
        pthread_mutex_unlock(&v->hub->lock);
        bool found = hash_some(v);
        pthread_mutex_lock(&v->hub->lock);
        if (!found && v->changes == before)
            pthread_cond_wait(&v->hub->changed, &v->hub->lock);
    }
    pthread_mutex_unlock(&v->hub->lock);
}

static void run(void *ctx)
{
    worker_give_way();
    work(ctx, 1);
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
static bool has_digest(struct layer *layer)
{
    struct err ignored = ERR_INIT;
    enum compression kind;

    if (layer_compression(layer, &kind, &ignored) < 0)
        return false;
    layer->blob_is_tar = kind == COMPRESSION_NONE;
    return layer->blob_is_tar || layer->digest.text[0];
}

/* Returns how many layers there are to do, or -1. */
static int assign(struct verifier *v, struct err *err)
{
    int count = 0;

    for (size_t i = 0; i < v->image->layer_count; i++) {
        struct layer *layer = &v->image->layers[i];
        if (!has_digest(layer))
            continue;
        if (take_stamp(layer, &v->duties[i].stamp, err) < 0)
            return -1;
        v->duties[i].state = WAITING;
        layer->verifier = v;
        count++;
    }
    return count;
}

/*
 * Half of the processors: the others merge, hash and write what is made of it. Two slots for each,
 * so that it has a pair, one for the hasher, and two for who waits in the end.
 */
static int start(struct verifier *v, size_t layers, struct err *err)
{
    size_t workers = cpus_usable() / 2, most = (layers + 1) / 2;

    workers = workers < 1 ? 1 : workers > MOST_WORKERS ? MOST_WORKERS : workers;
    if (workers > most)
        workers = most;
    v->slot_count = 2 * workers + 3;
    if (!(v->slots = malloc(v->slot_count * sizeof(*v->slots))))
        return err_nomem(err);
    for (size_t i = 0; i < v->slot_count; i++) {
        v->slots[i].taken = false;
        v->slots[i].check.layer = NULL;
    }
    for (; v->worker_count < workers; v->worker_count++)
        if (!(v->workers[v->worker_count] = worker_start(run, v, err)))
            return -1;
    v->backlog = (struct hash_backlog){take_piece, give_back, v};
    hasher_set_backlog(v->hasher, &v->backlog);
    return 0;
}

struct verifier *verifier_new(struct image *image, struct hasher *hasher, struct err *err)
{
    _cleanup_verifier_ struct verifier *v = calloc(1, sizeof(*v));

    if (!v) {
        err_nomem(err);
        return NULL;
    }
    v->image = image;
    v->hasher = hasher;
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

static void stop(struct verifier *v)
{
    hasher_set_backlog(v->hasher, NULL);
    pthread_mutex_lock(&v->hub->lock);
    v->over = true;
    v->changes++;
    pthread_cond_broadcast(&v->hub->changed);
    pthread_mutex_unlock(&v->hub->lock);
    for (size_t i = 0; i < v->worker_count; i++)
        worker_join(v->workers[i]);
}

void verifier_free(struct verifier *v)
{
    if (v->hub)
        stop(v);
    for (size_t i = 0; i < v->slot_count; i++)
        if (v->slots[i].check.layer)
            layer_check_end(&v->slots[i].check);
    for (size_t i = 0; i < v->image->layer_count; i++) {
        v->image->layers[i].verifier = NULL;
        v->image->layers[i].blob_is_tar = false;
    }
    cleanup_hub(&v->hub);
    free(v->slots);
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
    if (v->failed && !is_open(v, v->failed + 1)) {
        *err = v->failure;
        rc = -1;
    }
    pthread_mutex_unlock(&v->hub->lock);
    return rc;
}

/* Waits for the layers from this number on: -1 with the error of the newest that is wrong. */
static int await_verdicts(struct verifier *v, unsigned from, struct err *err)
{
    int rc = 0;

    work(v, from);
    pthread_mutex_lock(&v->hub->lock);
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

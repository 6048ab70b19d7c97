#include "flatten/carve/carve_layers.h"

#include "flatten/stream/cpus.h"
#include "flatten/stream/relay.h"

#include <stdatomic.h>
#include <stdlib.h>

/* A lane of packed files takes 13 MB: more than three would exceed what packing them took. */
enum { MOST_BEGUN = 1 + SINK_MOST_BESIDE, MOST_LANES = MOST_BEGUN, MOST_PACKED_LANES = 3 };

/* A layer that was begun at the sink. */
struct begun_layer {
    int fd; /* borrowed */
    off_t offset;
    struct written_layer written;
    bool done, failed; /* with the hub's lock */
    struct err err;
};

struct lanes;

/* Writes one layer after another, as long as one has begun that no lane has taken. */
struct lane {
    struct lanes *all;
    struct carve_writer writer;
    struct worker *worker; /* or NULL */
    bool busy;             /* with the hub's lock */
};

/*
 * The caller begins layers at the sink, and ends them in their order; lanes write them in between,
 * and none waits until an older layer is written. Layer i is in slots[i % window].
 */
struct lanes {
    struct carve_lists lists;
    const struct squash_options *options;
    struct compress_options compress; /* of a lane */
    struct sink *sink;
    struct hub *hub; /* its lock: of what lanes and caller share */
    struct lane list[MOST_LANES];
    size_t count;
    struct begun_layer slots[MOST_BEGUN];
    size_t window;       /* layers that are begun and not ended: at most */
    size_t begun, taken; /* by the sink, by lanes */
    atomic_bool given_up;
};

/* ---- lanes ---- */

static int write_layer(struct lane *lane, size_t number, struct begun_layer *layer, struct err *err)
{
    const struct lanes *all = lane->all;
    _cleanup_layer_writer_ struct layer_writer *to =
        layer_writer_new(layer->fd, layer->offset, &all->compress, NULL, err);

    if (!to)
        return -1;
    layer_writer_limit(to, all->options->merged.max_size);
    if (carve_write_layer(&lane->writer, number, layer_writer_sink(to), err) < 0 ||
        layer_writer_finish(to, &layer->written, err) < 0)
        return -1;
    carve_drop_layer(&lane->writer, number);
    return 0;
}

/* Called with the lock, which it drops meanwhile. */
static void write_next(struct lane *lane)
{
    struct lanes *all = lane->all;
    size_t number = all->taken++;
    struct begun_layer *layer = &all->slots[number % all->window];

    pthread_mutex_unlock(&all->hub->lock);
    bool failed = write_layer(lane, number, layer, &layer->err) < 0;
    pthread_mutex_lock(&all->hub->lock);
    layer->failed = failed;
    layer->done = true;
    pthread_cond_broadcast(&all->hub->changed);
}

static void run_lane(void *ctx)
{
    struct lane *lane = ctx;
    struct lanes *all = lane->all;

    pthread_mutex_lock(&all->hub->lock);
    while (!atomic_load(&all->given_up) && all->taken < all->begun)
        write_next(lane);
    lane->busy = false;
    pthread_mutex_unlock(&all->hub->lock);
}

static int init_lanes(struct lanes *all, struct err *err)
{
    for (size_t i = 0; i < all->count; i++) {
        all->list[i].all = all;
        if (carve_writer_init(&all->list[i].writer, &all->lists, &all->given_up, err) < 0)
            return -1;
    }
    return 0;
}

/* Returns an idle lane, which is busy from now on; or NULL. */
static struct lane *take_idle(struct lanes *all)
{
    struct lane *idle = NULL;

    pthread_mutex_lock(&all->hub->lock);
    for (size_t i = 0; !idle && i < all->count; i++)
        if (!all->list[i].busy)
            idle = &all->list[i];
    if (idle)
        idle->busy = true;
    pthread_mutex_unlock(&all->hub->lock);
    return idle;
}

/* Starts a lane for a layer that has begun, unless all are busy: these take it later. */
static int start_idle_lane(struct lanes *all, struct err *err)
{
    struct lane *lane = take_idle(all);

    if (!lane)
        return 0;
    if (lane->worker)
        worker_join(lane->worker);
    lane->worker = worker_start(run_lane, lane, err);
    return lane->worker ? 0 : -1;
}

/* ---- the sink ---- */

static int begin_layer(struct lanes *all, bool alone, struct err *err)
{
    struct begun_layer layer = {.err = ERR_INIT};
    int rc = alone ? sink_begin_layer(all->sink, false, &layer.fd, &layer.offset, err)
                   : sink_begin_beside(all->sink, &layer.fd, &layer.offset, err);

    if (rc < 0)
        return -1;
    pthread_mutex_lock(&all->hub->lock);
    all->slots[all->begun++ % all->window] = layer;
    pthread_mutex_unlock(&all->hub->lock);
    return start_idle_lane(all, err);
}

static int end_layer(struct lanes *all, struct begun_layer *layer, struct squashed *out,
                     struct err *err)
{
    pthread_mutex_lock(&all->hub->lock);
    while (!layer->done)
        hub_wait(all->hub);
    pthread_mutex_unlock(&all->hub->lock);
    if (layer->failed) {
        *err = layer->err;
        return -1;
    }
    out->layers[out->count] = layer->written;
    if (squashed_end_layer(out, layer->fd, layer->offset, all->options, all->sink, err) < 0)
        return -1;
    out->count++;
    return 0;
}

static int write_all(struct lanes *all, struct squashed *out, struct err *err)
{
    size_t layers = all->lists.plan->layer_count;

    for (size_t ended = 0; ended < layers; ended++) {
        while (all->begun < layers && all->begun < ended + all->window)
            if (begin_layer(all, all->begun == ended, err) < 0)
                return -1;
        if (end_layer(all, &all->slots[ended % all->window], out, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- all ---- */

/*
 * Returns how many lanes pay. One layer is not read and hashed fast enough for many threads of
 * zstd; gzip has one, and zstd none where large files are packed.
 */
static size_t lanes_wanted(const struct compress_options *o, size_t cpus, bool packs)
{
    if (packs)
        return cpus < MOST_PACKED_LANES ? cpus : MOST_PACKED_LANES;
    return o->kind == COMPRESSION_ZSTD ? cpus / 4 + 1 : cpus;
}

/*
 * Sets the number of lanes and the threads of each. Lanes of packed files have no threads of zstd,
 * which would take 10 MB in each. That makes other bytes: it must not depend on the processors.
 */
static void divide_processors(struct lanes *all, size_t layers)
{
    const struct compress_options *o = &all->options->compress;
    size_t cpus = o->threads ? o->threads : cpus_usable(), most = 1 + all->sink->beside;
    bool packs = spool_packs(all->lists.plan->spool);

    if (cpus > COMPRESS_MOST_THREADS)
        cpus = COMPRESS_MOST_THREADS;
    if (most > layers)
        most = layers;
    all->count = lanes_wanted(o, cpus, packs);
    if (all->count > most)
        all->count = most;
    all->window = all->count > 1 ? most : 1;
    all->compress = *o;
    all->compress.in_caller = packs && most > 1;
    if (all->count > 1)
        all->compress.threads = (unsigned)((cpus + all->count - 1) / all->count);
}

static void lanes_clear(struct lanes *all)
{
    atomic_store(&all->given_up, true);
    for (size_t i = 0; i < all->count; i++) {
        if (all->list[i].worker)
            worker_join(all->list[i].worker);
        carve_writer_clear(&all->list[i].writer);
    }
    cleanup_hub(&all->hub);
    carve_lists_clear(&all->lists);
}

int carve_put_layers(const struct carve_plan *plan, const struct squash_options *options,
                     struct sink *sink, struct squashed *out, struct err *err)
{
    _cleanup_(lanes_clear) struct lanes all = {.options = options, .sink = sink};

    if (carve_lists_init(&all.lists, plan, err) < 0)
        return -1;
    if (plan->layer_count == 0)
        return 0;
    if (!(all.hub = hub_new(err)))
        return -1;
    divide_processors(&all, plan->layer_count);
    return init_lanes(&all, err) < 0 ? -1 : write_all(&all, out, err);
}

#include "flatten/carve/carve_layers.h"

#include "flatten/stream/cpus.h"
#include "flatten/stream/relay.h"

#include <stdatomic.h>
#include <stdlib.h>

/* A lane of packed files takes 13 MB; two of its threads work. */
enum { MOST_LANES = 1 + SINK_MOST_BESIDE, MOST_PACKED_LANES = 4 };

/* A layer that is being written, and what the next one uses, too. */
struct lane {
    struct carve_writer writer;
    const struct squash_options *options;
    const struct compress_options *compress;
    struct worker *worker; /* or NULL */
    size_t layer;
    int fd; /* borrowed */
    off_t offset;
    uint64_t entries; /* of this layer */
    struct written_layer written;
    bool failed;
    struct err err;
};

/* Layer i is in lane i % count. They end in their order. */
struct lanes {
    struct carve_lists lists;
    const struct squash_options *options;
    struct compress_options compress; /* of a lane */
    struct sink *sink;
    struct lane list[MOST_LANES];
    size_t count;
    atomic_bool given_up;
};

/* ---- a layer, in its thread ---- */

static int write_layer(struct lane *l, struct err *err)
{
    _cleanup_layer_writer_ struct layer_writer *to =
        layer_writer_new(l->fd, l->offset, l->compress, NULL, err);
    uint64_t before = l->writer.entries;

    if (!to)
        return -1;
    layer_writer_limit(to, l->options->merged.max_size);
    if (carve_write_layer(&l->writer, l->layer, layer_writer_sink(to), err) < 0)
        return -1;
    l->entries = l->writer.entries - before;
    if (layer_writer_finish(to, &l->written, err) < 0)
        return -1;
    carve_drop_layer(&l->writer, l->layer);
    return 0;
}

static void run_lane(void *ctx)
{
    struct lane *l = ctx;

    l->failed = write_layer(l, &l->err) < 0;
}

/* ---- lanes ---- */

static int begin_layer(struct lanes *all, size_t layer, bool alone, struct err *err)
{
    struct lane *l = &all->list[layer % all->count];
    int rc = alone ? sink_begin_layer(all->sink, false, &l->fd, &l->offset, err)
                   : sink_begin_beside(all->sink, &l->fd, &l->offset, err);

    if (rc < 0)
        return -1;
    l->layer = layer;
    l->worker = worker_start(run_lane, l, err);
    return l->worker ? 0 : -1;
}

static void join_lane(struct lane *l)
{
    if (l->worker)
        worker_join(l->worker);
    l->worker = NULL;
}

static int end_layer(struct lanes *all, size_t layer, struct squashed *out, uint64_t *entries,
                     struct err *err)
{
    struct lane *l = &all->list[layer % all->count];

    join_lane(l);
    if (l->failed) {
        *err = l->err;
        return -1;
    }
    entries[layer] = l->entries;
    out->layers[out->count] = l->written;
    if (squashed_end_layer(out, l->fd, l->offset, all->options, all->sink, err) < 0)
        return -1;
    out->count++;
    return 0;
}

static int write_all(struct lanes *all, struct squashed *out, uint64_t *entries, struct err *err)
{
    size_t begun = 0, layers = all->lists.plan->layer_count;

    for (size_t ended = 0; ended < layers; ended++) {
        for (; begun < layers && begun < ended + all->count; begun++)
            if (begin_layer(all, begun, begun == ended, err) < 0)
                return -1;
        if (end_layer(all, ended, out, entries, err) < 0)
            return -1;
    }
    return 0;
}

/*
 * Returns how many lanes pay. Where large files are packed, the others are compressed as fast as a
 * lane reads and hashes: by the writer's thread. Else zstd has several threads for one layer: with
 * many, one layer's archive is not read and hashed fast enough.
 */
static size_t lanes_wanted(const struct compress_options *o, size_t cpus, bool packs)
{
    if (packs)
        return cpus < MOST_PACKED_LANES ? cpus : MOST_PACKED_LANES;
    return o->kind == COMPRESSION_ZSTD ? cpus / 4 + 1 : cpus;
}

/* Sets the number of lanes and the threads of each. */
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
    if (all->count == 0)
        all->count = 1;
    all->compress = *o;
    all->compress.in_caller = packs;
    if (all->count > 1)
        all->compress.threads = (unsigned)((cpus + all->count - 1) / all->count);
}

static void lanes_clear(struct lanes *all)
{
    atomic_store(&all->given_up, true);
    for (size_t i = 0; i < all->count; i++) {
        join_lane(&all->list[i]);
        carve_writer_clear(&all->list[i].writer);
    }
    carve_lists_clear(&all->lists);
}

int carve_put_layers(const struct carve_plan *plan, const struct squash_options *options,
                     struct sink *sink, struct squashed *out, uint64_t *entries, struct err *err)
{
    _cleanup_(lanes_clear) struct lanes all = {.options = options, .sink = sink};

    if (carve_lists_init(&all.lists, plan, err) < 0)
        return -1;
    if (plan->layer_count == 0)
        return 0;
    divide_processors(&all, plan->layer_count);
    for (size_t i = 0; i < all.count; i++) {
        all.list[i] = (struct lane){.options = options, .compress = &all.compress, .err = ERR_INIT};
        if (carve_writer_init(&all.list[i].writer, &all.lists, &all.given_up, err) < 0)
            return -1;
    }
    return write_all(&all, out, entries, err);
}

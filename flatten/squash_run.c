#include "flatten/squash_command.h"

#include "base/log.h"
#include "flatten/config.h"
#include "flatten/progress.h"
#include "flatten/prove.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_NOTICES = 20 };

void squash_run_clear(struct squash_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct squash_job *job = &run->jobs[i];
        cleanup_image(&job->image);
        free(job->platform);
        squashed_clear(&job->squashed);
        buf_free(&job->config);
        buf_free(&job->manifest);
    }
    free(run->jobs);
    cleanup_source(&run->source);
    cleanup_source(&run->base);
}

/* ---- sources ---- */

/* Each image is small by itself, but there may be many. */
static const size_t most_documents = (size_t)256 << 20;

static struct squash_job *add_job(struct squash_run *run, struct image *image, struct err *err)
{
    _cleanup_image_ struct image *owned = image;
    struct squash_job *jobs = realloc(run->jobs, (run->count + 1) * sizeof(*jobs));

    if (!jobs) {
        err_nomem(err);
        return NULL;
    }
    run->jobs = jobs;
    run->documents += image_memory(image);
    if (run->documents > most_documents) {
        err_set(err, ERR_LIMIT, "the configs and manifests of its images take too much memory");
        return NULL;
    }
    run->jobs[run->count] = (struct squash_job){.image = steal_ptr(&owned)};
    return &run->jobs[run->count++];
}

/* All stay in memory until the end: together, what one image alone may have. */
static int check_json_size(const struct squash_run *run, struct err *err)
{
    uint64_t limit = 3 * (uint64_t)IMAGE_JSON_LIMIT, size = 0;

    for (size_t i = 0; i < run->count; i++)
        size += run->jobs[i].image->json_size;
    return size <= limit ? 0
                         : err_set(err, ERR_LIMIT,
                                   "the platforms' configs and manifests have more than %" PRIu64
                                   " bytes together: choose one with --platform",
                                   limit);
}

static void say_dropped(const struct squash_run *run, const struct platforms *p)
{
    if (p->dropped && !run->command->quiet)
        log_warning("attestations of the old images are left out (%zu): they would not be true of "
                    "the new ones",
                    p->dropped);
}

/* Every image of the index, of which the first has been opened. */
static int open_platforms(struct squash_run *run, const struct platforms *p, struct err *err)
{
    for (size_t i = 0; i < p->count; i++) {
        if (i > 0) {
            struct image *image = source_image(run->source, p->list[i].digest, err);
            if (!image || !add_job(run, image, err) || check_json_size(run, err) < 0)
                return -1;
        }
        if (p->list[i].text && !(run->jobs[i].platform = strdup(p->list[i].text)))
            return err_nomem(err);
    }
    return 0;
}

/* A rehearsal may have no destination. */
static bool asks_for_all(const struct squash_run *run)
{
    return !run->command->platform && run->from->transport != TRANSPORT_DOCKER_DAEMON &&
           (!(run->to->path || run->to->name) || sink_holds_index(run->to));
}

/* One new layer of all can be made of what streams by. */
static bool takes_feed(const struct squash_run *run)
{
    return run->command->into == 1 && !run->command->keep_base && !run->command->last;
}

/* Opens what is to be squashed: one image, or with an index and a place for one, all of them. */
static int open_images(struct squash_run *run, struct err *err)
{
    bool all = asks_for_all(run);
    const char *platform = all ? PLATFORM_ANY : run->command->platform;
    run->source = reader_source(run->reader, SQUASH_FROM, takes_feed(run), err);
    struct image *image = run->source ? source_image(run->source, platform, err) : NULL;
    struct squash_job *job = image ? add_job(run, image, err) : NULL;
    _cleanup_platforms_ struct platforms p = {0};

    if (!job)
        return -1;
    if (!image->index)
        return 0;
    if (platforms_list(image->index, &p, err) < 0)
        return -1;
    say_dropped(run, &p);
    if (all && p.count > 1)
        return open_platforms(run, &p, err);
    if (p.count > 1 && !platform && !run->command->quiet)
        log_info("the destination holds one image: this machine's of %zu platforms "
                 "(--platform chooses another)",
                 p.count);
    return 0;
}

/* ---- squashing ---- */

struct notices {
    struct squash_job *job;
    struct progress *progress; /* borrowed */
    bool quiet;
};

static void on_notice(void *ctx, unsigned layer, const char *path, const char *text)
{
    struct notices *n = ctx;

    if (!n->quiet && n->job->notices < MOST_NOTICES) {
        progress_hide(n->progress);
        log_warning("layer %u: %s: %s", layer, path, text);
    }
    n->job->notices++;
}

static void on_difference(void *ctx, const char *path, const char *a, const char *b)
{
    size_t *shown = ctx;

    if ((*shown)++ < MOST_NOTICES)
        log_error("/%s: source: %s; result: %s", path, a ? a : "(nothing)", b ? b : "(nothing)");
}

/* 0, -1, or 1 when they differ. */
static int verify(const struct squash_job *job, const struct merged_options *options,
                  struct err *err)
{
    size_t differing, shown = 0;

    if (prove_same(job->image, &job->squashed, options, on_difference, &shown, &differing, err) < 0)
        return -1;
    if (differing)
        log_error("%zu paths differ: nothing was published", differing);
    return differing ? 1 : 0;
}

/* Layers are compressed in ways that Docker before 23 does not load. */
static void warn_zstd(const struct squash_run *run, const struct squash_job *job)
{
    if (run->command->quiet || run->command->dry_run || run->to->transport == TRANSPORT_OCI ||
        run->to->transport == TRANSPORT_OCI_ARCHIVE)
        return;
    for (size_t i = 0; i < job->squashed.kept; i++) {
        if (job->squashed.layers[i].kind != COMPRESSION_ZSTD)
            continue;
        log_warning("kept layers are compressed with zstd: Docker before 23 cannot load them");
        return;
    }
}

/* Layers that lie uncompressed are read once for this account: by who checks them (verifier.h). */
static bool is_read_again(const struct layer *layer)
{
    struct err ignored = ERR_INIT;
    enum compression kind;

    return layer_compression(layer, &kind, &ignored) < 0 || kind != COMPRESSION_NONE;
}

/*
 * Where the index is needed all layers are read twice, but for the kept ones. Of what is indexed as
 * it lies only the headers are.
 */
static struct progress *start_progress(const struct squash_command *c, struct image *image,
                                       const struct merged_options *options, struct err *err)
{
    bool indexed = options->kept || options->semantics != SEMANTICS_OVERLAY;
    bool twice = indexed && (options->kept || !image->as_they_lie);
    uint64_t total = 0;

    for (size_t i = 0; i < image->layer_count; i++) {
        const struct layer *layer = &image->layers[i];
        total += layer->size * (twice && i >= options->kept && is_read_again(layer) ? 2 : 1);
    }
    struct progress *p = progress_new(!c->quiet && !c->json, total, err);
    for (size_t i = 0; p && i < image->layer_count; i++)
        image->layers[i].progress = progress_counter(p);
    return p;
}

static int squash_shown(struct squash_run *run, struct squash_job *job,
                        struct squash_options *options, struct notices *notices, struct sink *sink,
                        struct err *err)
{
    _cleanup_progress_ struct progress *progress =
        start_progress(run->command, job->image, &options->merged, err);

    notices->progress = progress;
    int rc = progress ? squash_layers(job->image, options, sink, &job->squashed, err) : -1;
    for (size_t i = 0; i < job->image->layer_count; i++)
        job->image->layers[i].progress = NULL;
    return rc;
}

/* The image whose layers are to be kept. The daemon tells of them without handing them out. */
static struct image *open_base(struct squash_run *run, const char *platform, struct err *err)
{
    if (run->from[SQUASH_BASE].transport == TRANSPORT_DOCKER_DAEMON)
        return reader_diff_ids(run->reader, SQUASH_BASE, err);
    if (!run->base && !(run->base = reader_source(run->reader, SQUASH_BASE, false, err)))
        return NULL;
    if (run->base->store)
        run->base->store->outline = true; /* to compare, nobody fetches gigabytes */
    return source_image(run->base, platform, err);
}

static int choose_layers(struct squash_run *run, const struct image *image, const char *platform,
                         size_t *kept, struct err *err)
{
    bool named = run->selection.base != NULL;
    _cleanup_image_ struct image *base = named ? open_base(run, platform, err) : NULL;

    if (named && !base)
        return err_wrap(err, "--keep-base");
    return selection_resolve(&run->selection, image, base, kept, err);
}

static int squash_one(struct squash_run *run, struct squash_job *job, struct sink *sink,
                      struct err *err)
{
    const struct squash_command *c = run->command;
    struct notices notices = {.job = job, .quiet = c->quiet};
    struct squash_options options = {.merged = {.notice = on_notice,
                                                .notice_ctx = &notices,
                                                .semantics = semantics_named(c->semantics),
                                                .max_size = c->max_size << 30},
                                     .compress = run->compress,
                                     .into = (size_t)c->into,
                                     .readable = c->verify};

    const char *platform = job->platform ? job->platform : c->platform;
    if (choose_layers(run, job->image, platform, &options.merged.kept, err) < 0)
        return -1;
    if (squash_shown(run, job, &options, &notices, sink, err) < 0)
        return -1;
    if (job->notices > MOST_NOTICES && !c->quiet)
        log_warning("%" PRIu64 " more of the kind", job->notices - MOST_NOTICES);
    warn_zstd(run, job);
    return sink && c->verify ? verify(job, &options.merged, err) : 0;
}

/* ---- publishing ---- */

static int describe(const struct squash_run *run, struct squash_job *job, struct err *err)
{
    const struct squashed *s = &job->squashed;
    const struct new_layers layers = {s->layers, s->merged, s->count, s->kept};
    const char *created = run->created[0] ? run->created : NULL;

    if (config_squash(job->image, &layers, created, &job->config, err) < 0 ||
        sha256_digest(job->config.data, job->config.len, &job->id, err) < 0 ||
        manifest_make(job->image, &job->id, job->config.len, &layers, &job->manifest, err) < 0)
        return -1;
    return sha256_digest(job->manifest.data, job->manifest.len, &job->digest, err);
}

static int publish_all(struct squash_run *run, const struct sink_image *images, const char *name,
                       struct sink *sink, struct err *err)
{
    _cleanup_buf_ struct buf index = BUF_INIT;

    if (run->count == 1)
        return sink_publish(sink, &images[0], err);
    if (platforms_index(run->jobs[0].image->index, images, run->count, &index, err) < 0 ||
        sha256_digest(index.data, index.len, &run->index, err) < 0)
        return -1;
    const struct sink_image all = {
        .manifest = {run->index, index.data, index.len}, .name = name, .is_index = true};
    return sink_publish_index(sink, images, run->count, &all, err);
}

static int publish(struct squash_run *run, struct sink *sink, struct err *err)
{
    _cleanup_free_ struct sink_image *images = calloc(run->count + 1, sizeof(*images));
    _cleanup_free_ char *name = NULL;

    if (!images)
        return err_nomem(err);
    if (sink_image_name(run->to, run->jobs[0].image->name, &name, err) < 0)
        return -1;
    for (size_t i = 0; i < run->count; i++) {
        struct squash_job *job = &run->jobs[i];
        if (describe(run, job, err) < 0)
            return -1;
        images[i] = (struct sink_image){
            .config = {job->id, job->config.data, job->config.len},
            .manifest = {job->digest, job->manifest.data, job->manifest.len},
            .layers = job->squashed.layers,
            .layer_count = job->squashed.count,
            .name = name,
        };
    }
    return publish_all(run, images, name, sink, err);
}

int squash_run(struct squash_run *run, struct err *err)
{
    bool writes = !run->command->dry_run;

    if (open_images(run, err) < 0)
        return -1;
    _cleanup_sink_ struct sink *sink = writes ? reader_sink(run->reader, err) : NULL;
    if (writes && !sink)
        return -1;
    for (size_t i = 0; i < run->count; i++) {
        int rc = squash_one(run, &run->jobs[i], sink, err);
        if (rc < 0 && run->jobs[i].platform)
            return err_wrap(err, "%s", run->jobs[i].platform);
        if (rc != 0)
            return rc;
    }
    return writes ? publish(run, sink, err) : 0;
}

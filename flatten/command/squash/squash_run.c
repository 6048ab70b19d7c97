#include "flatten/command/squash/squash_command.h"

#include "base/cli/log.h"
#include "base/human.h"
#include "base/path.h"
#include "flatten/command/squash/image_reading.h"
#include "flatten/command/squash/squash_family.h"
#include "flatten/squash/squash_verify.h"

#include <errno.h>
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
        carved_clear(&job->carved);
        buf_free(&job->config);
        buf_free(&job->manifest);
    }
    for (size_t i = 0; i < run->entry_count; i++)
        buf_free(&run->entries[i].image_index);
    free(run->jobs);
    free(run->entries);
    free(run->places);
    while (run->unpack_file_count > 0)
        cleanup_fd(&run->unpack_files[--run->unpack_file_count]);
    if (run->carve.spool > 0)
        cleanup_fd(&run->carve.spool);
    cleanup_family(&run->family.images);
    if (run->family.opened)
        run->source = NULL; /* one of them */
    while (run->family.opened && run->family.opened_count > 0)
        cleanup_source(&run->family.opened[--run->family.opened_count]);
    free(run->family.opened);
    cleanup_source(&run->source);
    cleanup_image(&run->like);
    cleanup_source(&run->base);
}

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
        if (layer > 0)
            log_warning("layer %u: %s: %s", layer, path, text);
        else
            log_warning("%s: %s", path, text);
    }
    n->job->notices++;
}

static void on_difference(void *ctx, const char *path, const char *a, const char *b)
{
    size_t *shown = ctx;

    if ((*shown)++ < MOST_NOTICES)
        log_error("/%s: source: %s; result: %s", path, a ? a : "(nothing)", b ? b : "(nothing)");
}

/* Returns 0 if source and result have the same tree, 1 if they differ, or -1. */
static int verify_job(const struct squash_job *job, const struct merged_options *options,
                      struct err *err)
{
    size_t differing, shown = 0;

    if (squash_verify(job->image, &job->squashed, options, job->carved.times.paths, on_difference,
                      &shown, &differing, err) < 0)
        return -1;
    if (differing)
        log_error("%zu path%s: nothing was published", differing,
                  differing == 1 ? " differs" : "s differ");
    return differing ? 1 : 0;
}

/* Warns of kept layers that Docker before 23 cannot load. */
static void warn_zstd(const struct squash_run *run, const struct squash_job *job)
{
    if (run->command->quiet || run->command->dry_run || run->to->transport == TRANSPORT_OCI ||
        run->to->transport == TRANSPORT_OCI_ARCHIVE || run->to->transport == TRANSPORT_STORAGE)
        return;
    for (size_t i = 0; i < job->squashed.kept; i++) {
        if (job->squashed.layers[i].kind != COMPRESSION_ZSTD)
            continue;
        log_warning("kept layers are compressed with zstd: Docker before 23 cannot load them");
        return;
    }
}

/* Opens the file that takes the content of one image after another. */
static int open_spool(struct squash_run *run, struct err *err)
{
    int fd = run->carve.spool > 0 ? 0 : reader_temporary_file(run->reader, err);

    if (fd > 0)
        run->carve.spool = fd;
    return fd;
}

/*
 * True if the layers of the previous version may stay in their registry: the destination is one,
 * which is asked for them, or none. --verify reads all layers of the result, and --stable-times
 * those of the previous version.
 */
static bool may_stay(const struct squash_run *run)
{
    const struct squash_command *c = run->command;

    return run->from[SQUASH_LIKE].transport == TRANSPORT_REGISTRY && !c->stable_times &&
           (c->dry_run || (run->to->transport == TRANSPORT_REGISTRY && !c->verify));
}

/* Returns the platform that the image's config names; "" if it names none. The caller frees it. */
static char *platform_of(const struct image *image)
{
    const struct json *config = json_root(image->config);
    const char *os = json_text(json_get(config, "os"));
    const char *arch = json_text(json_get(config, "architecture"));
    const char *variant = json_text(json_get(config, "variant"));

    return os && arch ? strf("%s/%s%s%s", os, arch, variant ? "/" : "", variant ? variant : "")
                      : strdup("");
}

/* Opens the previous version for that platform; if there is none, for another, which is said. */
static struct image *open_platform(const struct squash_run *run, const char *platform,
                                   struct err *err)
{
    struct image_choice choice = {.platform = platform[0] ? platform : NULL,
                                  .outline = may_stay(run)};
    struct image *image = source_image(run->base, &choice, err);
    struct err other = ERR_INIT;

    if (image || err->kind != ERR_USAGE || !choice.platform)
        return image;
    choice.platform = PLATFORM_ANY;
    image = source_image(run->base, &choice, &other);
    if (!image)
        return NULL;
    if (!run->command->quiet)
        log_warning("--like=%s: %s: it is used as far as it has the same files", run->command->like,
                    err->msg);
    *err = (struct err)ERR_INIT;
    return image;
}

/*
 * Names the option before an error of the previous version. Where a registry says that there is
 * none (distribution-spec, error codes), this may be the first one.
 */
static int wrap_like(const struct squash_run *run, struct err *err)
{
    size_t len = strlen(err->msg);

    if (strstr(err->msg, "MANIFEST_UNKNOWN") || strstr(err->msg, "NAME_UNKNOWN"))
        snprintf(err->msg + len, sizeof(err->msg) - len, "; leave out --like for a first version");
    return err_wrap(err, "--like=%s", run->command->like);
}

/* Opens the previous version, for the same platform if possible. */
static int open_like(struct squash_run *run, const struct squash_job *job, struct err *err)
{
    const struct squash_command *c = run->command;
    _cleanup_free_ char *platform = job->platform ? strdup(job->platform) : platform_of(job->image);

    cleanup_image(&run->like);
    run->carve.like = NULL;
    if (!c->like)
        return 0;
    if (!platform)
        return err_nomem(err);
    if (!run->base && !(run->base = reader_source(run->reader, SQUASH_LIKE, err)))
        return wrap_like(run, err);
    run->like = open_platform(run, platform, err);
    run->carve.like = run->like;
    return run->like ? 0 : wrap_like(run, err);
}

static int add_to_family(struct squash_run *run, struct squash_job *job,
                         const struct squash_options *options, struct err *err)
{
    if (!run->family.images && !(run->family.images = family_new(&run->carve, err)))
        return -1;
    return family_add(run->family.images, job->image, options, err);
}

static int make_layers(struct squash_run *run, struct squash_job *job,
                       const struct squash_options *options, struct sink *sink, struct err *err)
{
    if (!run->command->carve)
        return squash_layers(job->image, options, sink, &job->squashed, err);
    if (open_spool(run, err) < 0 || open_like(run, job, err) < 0)
        return -1;
    if (run->command->family)
        return add_to_family(run, job, options, err);
    int rc =
        carve_layers(job->image, options, &run->carve, sink, &job->squashed, &job->carved, err);
    if (rc < 0 && run->like && image_explain(run->like, err))
        err_wrap(err, "--like=%s", run->command->like);
    return rc;
}

static int squash_shown(struct squash_run *run, struct squash_job *job,
                        struct squash_options *options, struct notices *notices, struct sink *sink,
                        struct err *err)
{
    _cleanup_progress_ struct progress *progress = image_progress(
        !run->command->quiet && !run->command->json, job->image, &options->merged, err);

    notices->progress = progress;
    int rc = progress ? make_layers(run, job, options, sink, err) : -1;
    image_progress_end(job->image);
    return rc;
}

/* Opens the image whose layers are kept. An engine tells their diff_ids without the layers. */
static struct image *open_base(struct squash_run *run, const char *platform, struct err *err)
{
    if (reference_is_engine(&run->from[SQUASH_BASE]))
        return reader_diff_ids(run->reader, SQUASH_BASE, err);
    if (!run->base && !(run->base = reader_source(run->reader, SQUASH_BASE, err)))
        return NULL;
    /* Layers are compared by digest: none is fetched. */
    return source_image(run->base, &(struct image_choice){.platform = platform, .outline = true},
                        err);
}

static int choose_layers(struct squash_run *run, const struct image *image, const char *platform,
                         size_t *kept, struct err *err)
{
    bool named = run->selection.base != NULL;
    _cleanup_image_ struct image *base = named ? open_base(run, platform, err) : NULL;

    if (named && !base)
        return err_wrap(err, "--keep-base=%s", run->selection.base);
    return layer_selection_resolve(&run->selection, image, base, kept, err);
}

/* On ENOSPC and the like, names the destination: that is what is full. Returns -1. */
static int explain_room(const struct squash_run *run, struct err *err)
{
    if (err->kind != ERR_SYSTEM || (err->sys != ENOSPC && err->sys != EDQUOT && err->sys != EFBIG))
        return -1;
    if (run->to->path)
        return err_wrap(err, "%s", run->to->path);
    return err_wrap(err, "the new layer's temporary file in %s (set TMPDIR)", temporary_dir());
}

/* Opens the files for layers that are unpacked ahead. */
static struct unpacker_files open_unpack_files(struct squash_run *run, const struct image *image)
{
    if (run->unpack_file_count == 0)
        run->unpack_file_count =
            image_unpack_files(run->reader, image, run->compress.threads, run->unpack_files);
    return (struct unpacker_files){run->unpack_files, run->unpack_file_count};
}

static int squash_job(struct squash_run *run, struct squash_job *job, struct sink *sink,
                      struct err *err)
{
    const struct squash_command *c = run->command;
    size_t before = (size_t)(job - run->jobs);
    _cleanup_free_ const struct squashed **earlier = calloc(before + 1, sizeof(*earlier));
    struct notices notices = {.job = job, .quiet = c->quiet};
    struct squash_options options = {.merged = {.notice = on_notice,
                                                .notice_ctx = &notices,
                                                .semantics = semantics_named(c->semantics),
                                                .max_size = c->max_size << 30},
                                     .compress = run->compress,
                                     .files = open_unpack_files(run, job->image),
                                     .into = (size_t)c->into,
                                     .readable = c->verify,
                                     .alone = !run->places && run->count == 1,
                                     .earlier = earlier,
                                     .earlier_count = before};

    if (!earlier)
        return err_nomem(err);
    for (size_t i = 0; i < before; i++)
        earlier[i] = &run->jobs[i].squashed;
    const char *platform = job->platform ? job->platform : c->platform;
    if (choose_layers(run, job->image, platform, &options.merged.kept, err) < 0)
        return -1;
    if (squash_shown(run, job, &options, &notices, sink, err) < 0)
        return image_explain(job->image, err) ? -1 : explain_room(run, err);
    if (job->notices > MOST_NOTICES && !c->quiet)
        log_warning("%" PRIu64 " more such warning%s", job->notices - MOST_NOTICES,
                    human_s(job->notices - MOST_NOTICES));
    warn_zstd(run, job);
    return sink && c->verify && !c->family ? verify_job(job, &options.merged, err) : 0;
}

/* Squashes the images of an entry, and closes their layers. */
static int squash_entry(struct squash_run *run, const struct squash_entry *entry, struct sink *sink,
                        struct err *err)
{
    for (size_t i = entry->first; i < entry->first + entry->count; i++) {
        struct squash_job *job = &run->jobs[i];
        int rc = squash_job(run, job, sink, err);
        if (rc < 0 && job->platform)
            err_wrap(err, "%s", job->platform);
        if (rc != 0)
            return rc;
        if (!run->command->family || !run->command->verify)
            image_close_layers(job->image);
    }
    return 0;
}

/* Writes the layers of a family, whose images have all been read, and verifies them. */
static int finish_family(struct squash_run *run, struct sink *sink, struct err *err)
{
    const struct squash_command *c = run->command;
    const struct merged_options options = {.semantics = semantics_named(c->semantics)};

    if (squash_family_write(run, sink, err) < 0)
        return explain_room(run, err);
    for (size_t i = 0; sink && c->verify && i < run->count; i++) {
        int rc = verify_job(&run->jobs[i], &options, err);
        if (rc != 0)
            return rc;
        image_close_layers(run->jobs[i].image);
    }
    return 0;
}

/* Returns how many images, or indexes of images, the run is about. */
static size_t count_entries(const struct squash_run *run)
{
    return run->places ? run->place_count : run->command->family ? run->family.size : 1;
}

/* Opens the destination. One that keeps layers as they are compressed gets zstd, unless asked. */
static struct sink *open_sink(struct squash_run *run, struct err *err)
{
    _cleanup_sink_ struct sink *sink = reader_sink(run->reader, err);

    if (!sink || (sink->keeps_zstd && !run->command->compression &&
                  compress_parse("zstd", &run->compress, err) < 0))
        return NULL;
    return steal_ptr(&sink);
}

/* Names the source of a family that the error is about. Returns -1. */
static int wrap_member(const struct squash_run *run, size_t which, struct err *err)
{
    const char *name = run->command->family ? run->family.names[which] : NULL;

    return name && !strstr(err->msg, name) ? err_wrap(err, "%s", name) : -1;
}

int squash_run(struct squash_run *run, struct err *err)
{
    bool writes = !run->command->dry_run;
    _cleanup_sink_ struct sink *sink = NULL;

    if (!run->command->family && squash_open_source(run, err) < 0)
        return -1;
    for (size_t i = 0; i < count_entries(run); i++) {
        if ((run->command->family && squash_family_open(run, i, err) < 0) ||
            squash_open_entry(run, err) < 0)
            return wrap_member(run, i, err);
        if (writes && !sink && !(sink = open_sink(run, err)))
            return -1;
        int rc = squash_entry(run, &run->entries[i], sink, err);
        const char *name = run->places ? squash_entry_name(run, &run->entries[i]) : NULL;
        if (rc < 0 && name)
            return err_wrap(err, "%s", name);
        if (rc != 0)
            return rc < 0 ? wrap_member(run, i, err) : rc;
    }
    if (run->command->family) {
        int rc = finish_family(run, sink, err);
        if (rc != 0)
            return rc;
    }
    return writes ? squash_publish(run, sink, err) : 0;
}

#include "flatten/command/squash/squash_family.h"

#include "base/cli/log.h"
#include "base/utf8.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/wire/wire.h"

#include <inttypes.h>
#include <string.h>

/* The limit for all images together. */
static const size_t most_documents = (size_t)256 << 20;

/* True if layers are kept, or are indexed before they are merged. */
static bool reads_oldest_first(const struct squash_run *run)
{
    const struct layer_selection *s = &run->selection;

    return s->base || s->kept || s->has_last || run->command->into > 1 ||
           semantics_named(run->command->semantics) != SEMANTICS_OVERLAY;
}

/* Reads an image of the source: with --all-images the one that is next. */
static struct image *read_image(const struct squash_run *run, const char *platform, struct err *err)
{
    const struct image_choice choice = {.place =
                                            run->places ? &run->places[run->entry_count] : NULL,
                                        .platform = platform,
                                        .outline = run->outline,
                                        .oldest_first = reads_oldest_first(run)};

    return source_image(run->source, &choice, err);
}

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
        err_set(err, ERR_LIMIT, "the configs and manifests of the images take too much memory");
        return NULL;
    }
    run->jobs[run->count] = (struct squash_job){.image = steal_ptr(&owned)};
    return &run->jobs[run->count++];
}

/* All stay in memory until the end: together they may have the size that one image may have. */
static int check_json_size(const struct squash_run *run, struct err *err)
{
    uint64_t limit = 3 * (uint64_t)IMAGE_JSON_LIMIT, size = 0;

    for (size_t i = 0; i < run->count; i++)
        size += run->jobs[i].image->json_size;
    return size <= limit ? 0
                         : err_set(err, ERR_LIMIT,
                                   "the images' configs and manifests have more than %" PRIu64
                                   " bytes together: choose one%s",
                                   limit, run->places ? "" : " with --platform");
}

static void say_dropped(const struct squash_run *run, const struct platforms *p)
{
    if (p->dropped && !run->command->quiet)
        log_warning("attestations are left out (%zu): they are about the old images, not the new "
                    "ones",
                    p->dropped);
}

/* Opens the images of an index after the first, which is open. */
static int open_platforms(struct squash_run *run, const struct platforms *p, size_t first,
                          struct err *err)
{
    for (size_t i = 0; i < p->count; i++) {
        if (i > 0) {
            struct image *image = read_image(run, p->list[i].digest, err);
            if (!image || !add_job(run, image, err) || check_json_size(run, err) < 0)
                return -1;
        }
        if (p->list[i].text && !(run->jobs[first + i].platform = strdup(p->list[i].text)))
            return err_nomem(err);
    }
    return 0;
}

/* True if all images of an index are to be squashed. A rehearsal may have no destination. */
static bool asks_for_platforms(const struct squash_run *run)
{
    return !run->command->platform && !reference_is_engine(run->from) &&
           (!(run->to->path || run->to->name) || sink_holds_index(run->to));
}

/* Opens one image; or all of an index, if the destination can hold an index. */
static int open_images(struct squash_run *run, struct err *err)
{
    bool all = asks_for_platforms(run);
    const char *platform = all ? PLATFORM_ANY : run->command->platform;
    size_t first = run->count;
    struct image *image = read_image(run, platform, err);
    _cleanup_platforms_ struct platforms p = {0};

    if (!image || !add_job(run, image, err) || (first && check_json_size(run, err) < 0))
        return -1;
    if (!image->index)
        return 0;
    if (platforms_list(image->index, &p, err) < 0)
        return -1;
    say_dropped(run, &p);
    if (all && p.count > 1)
        return open_platforms(run, &p, first, err);
    if (p.count > 1 && !platform && !run->command->quiet)
        log_info("the destination holds one image: this machine's is taken, of %zu platforms "
                 "(--platform chooses another)",
                 p.count);
    return 0;
}

/* ---- names ---- */

const char *squash_entry_name(const struct squash_run *run, const struct squash_entry *entry)
{
    return run->jobs[entry->first].image->name;
}

/* Names from an image go into documents and to the terminal: one line of UTF-8, not too long. */
static int check_name(const char *name, struct err *err)
{
    enum { MOST = 512 };
    size_t len = strlen(name);
    bool bad = len > MOST || !utf8_valid(name, len);

    for (const char *c = name; !bad && *c; c++)
        bad = (unsigned char)*c < ' ' || *c == 0x7f;
    return bad ? err_set(err, ERR_FORMAT, "an image's name is not one line of text: %.100s", name)
               : 0;
}

static bool has_name(const struct image *image, const char *name)
{
    if (image->name && strcmp(image->name, name) == 0)
        return true;
    for (size_t i = 0; i < image->other_count; i++)
        if (strcmp(image->others[i], name) == 0)
            return true;
    return false;
}

/* With --all-images no two images may have the same name. */
static int check_own_name(const struct squash_run *run, const char *name, struct err *err)
{
    if (check_name(name, err) < 0)
        return -1;
    for (size_t i = 0; i + 1 < run->entry_count; i++)
        if (has_name(run->jobs[run->entries[i].first].image, name))
            return err_set(err, ERR_FORMAT, "two images have the name %s", name);
    return 0;
}

/* With --all-images: engines take only NAME:TAG, and the daemon needs a name for each image. */
static int check_called(const struct squash_run *run, const char *name, struct err *err)
{
    _cleanup_free_ char *called = NULL;
    size_t place = run->places[run->entry_count - 1];

    if (!run->to->path && !reference_is_engine(run->to))
        return 0; /* a rehearsal */
    if (sink_image_name(run->to, name, &called, err) < 0)
        return -1;
    if (called || (!name && !reference_is_engine(run->to)))
        return 0;
    if (name)
        return err_set(err, ERR_USAGE,
                       "image @%zu is called %s, not NAME:TAG as engines want it: write to an OCI "
                       "layout, or squash it by itself, as :@%zu",
                       place, name, place);
    return err_set(err, ERR_USAGE,
                   "image @%zu has no name, which an engine needs: squash it by itself, as :@%zu",
                   place, place);
}

static int check_names(const struct squash_run *run, struct err *err)
{
    const struct squash_entry *entry = &run->entries[run->entry_count - 1];
    const struct image *image = run->jobs[entry->first].image;

    if (run->command->family)
        return squash_family_check_name(run, err);
    if (!run->places)
        return image->name && !run->to->name ? check_name(image->name, err) : 0;
    if (check_called(run, image->name, err) < 0 ||
        (image->name && check_own_name(run, image->name, err) < 0))
        return -1;
    for (size_t i = 0; i < image->other_count; i++)
        if (check_own_name(run, image->others[i], err) < 0)
            return -1;
    return 0;
}

/* ---- entries ---- */

/* Returns how many images, names and indexes are published for the entry. */
static size_t count_published(const struct squash_run *run, const struct squash_entry *entry)
{
    return entry->count > 1 ? entry->count + 1 : 1 + run->jobs[entry->first].image->other_count;
}

static int check_count(const struct squash_run *run, struct err *err)
{
    size_t count = 0;

    for (size_t i = 0; i < run->entry_count; i++)
        count += count_published(run, &run->entries[i]);
    return count <= WIRE_MOST_IMAGES
               ? 0
               : err_set(err, ERR_LIMIT,
                         "%s: %zu images, names and indexes, and --all-images takes at most %d: "
                         "squash each image by itself, as :@0, :@1",
                         run->from->path, count, WIRE_MOST_IMAGES);
}

/*
 * With --all-images: opens all images without their layers, and closes them, so that limits and
 * names are checked before the work. Their layers together may be more than the files that may be
 * open.
 */
static int check_all_images(const struct squash_run *run, struct err *err)
{
    struct squash_command quiet = *run->command;
    struct squash_run trial = *run;
    int rc = 0;

    quiet.quiet = true;
    trial.command = &quiet;
    trial.outline = true;
    for (size_t i = 0; rc == 0 && i < run->place_count; i++) {
        rc = squash_open_entry(&trial, err);
        for (size_t job = trial.entry_count ? trial.entries[trial.entry_count - 1].first : 0;
             job < trial.count; job++)
            image_close_layers(trial.jobs[job].image);
    }
    if (rc == 0)
        rc = check_count(&trial, err);
    trial.places = NULL; /* `run` owns these */
    trial.source = trial.base = NULL;
    squash_run_clear(&trial);
    return rc;
}

/* Says why an engine's image takes a temporary file. */
static void say_why(const struct squash_run *run)
{
    _cleanup_buf_ struct buf why = BUF_INIT;

    source_put_why(run->source, &why);
    if (run->command->verbose && why.len)
        log_info("%s", why.data);
}

int squash_open_source(struct squash_run *run, struct err *err)
{
    run->source = reader_source(run->reader, SQUASH_FROM, err);
    if (!run->source)
        return -1;
    say_why(run);
    if (!run->command->all_images)
        return 0;
    if (source_places(run->source, &run->places, &run->place_count, err) < 0)
        return -1;
    if (run->place_count == 0)
        return err_set(err, ERR_USAGE, "%s: it holds no image", run->from->path);
    return check_all_images(run, err);
}

int squash_open_entry(struct squash_run *run, struct err *err)
{
    struct squash_entry *entries =
        realloc(run->entries, (run->entry_count + 1) * sizeof(*run->entries));

    if (!entries)
        return err_nomem(err);
    run->entries = entries;
    struct squash_entry *entry = &entries[run->entry_count];
    *entry = (struct squash_entry){.first = run->count, .image_index = BUF_INIT};
    if (open_images(run, err) < 0)
        return run->places ? err_wrap(err, "image @%zu", run->places[run->entry_count]) : -1;
    entry->count = run->count - entry->first;
    run->entry_count++;
    return check_names(run, err);
}

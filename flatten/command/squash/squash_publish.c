#include "flatten/command/squash/squash_command.h"

#include "base/arena.h"
#include "base/human.h"
#include "flatten/squash/describe_image.h"

#include <string.h>

/* Says how many layers of the source are in each layer. */
static int note_merged(const struct squashed *s, struct arena *texts, struct layer_note *notes,
                       struct err *err)
{
    for (size_t i = s->kept; i < s->count; i++) {
        notes[i].created_by = "flatten squash";
        notes[i].comment =
            arena_printf(texts, "%zu layer%s merged", s->merged[i], human_s(s->merged[i]));
        if (!notes[i].comment)
            return err_nomem(err);
    }
    return 0;
}

/* Says what is in each layer; previous_read (flatten/carve) finds it there. */
static int note_carved(const struct squash_job *job, struct arena *texts, struct layer_note *notes,
                       struct err *err)
{
    size_t first = job->squashed.count - job->carved.layout.count;

    for (size_t i = first; i < job->squashed.count; i++) {
        const struct layout_layer *layer = &job->carved.layout.layers[i - first];
        notes[i].created_by = arena_printf(texts, CARVE_LABEL_PREFIX "%s", layer->label);
        notes[i].comment = carve_tier_names[layer->tier];
        if (!notes[i].created_by)
            return err_nomem(err);
    }
    return 0;
}

static int describe_job(const struct squash_run *run, struct squash_job *job, struct err *err)
{
    const struct squashed *s = &job->squashed;
    bool carve = run->command->carve;
    _cleanup_arena_ struct arena texts = {0};
    _cleanup_free_ struct layer_note *notes = calloc(s->count + 1, sizeof(*notes));
    const char *created = run->created[0] ? run->created : NULL;
    /* Layers of a previous version are new to the source. */
    const struct new_layers layers = {.list = s->layers,
                                      .notes = notes,
                                      .count = s->count,
                                      .kept = carve ? s->count - job->carved.layout.count : s->kept,
                                      .inventory = s->inventory};

    if (!notes)
        return err_nomem(err);
    if ((carve ? note_carved(job, &texts, notes, err) : note_merged(s, &texts, notes, err)) < 0 ||
        config_squash(job->image, &layers, created, &job->config, err) < 0 ||
        sha256_digest(job->config.data, job->config.len, &job->id, err) < 0 ||
        manifest_make(job->image, &job->id, job->config.len, &layers, &job->manifest, err) < 0)
        return -1;
    return sha256_digest(job->manifest.data, job->manifest.len, &job->digest, err);
}

/* The images to publish; an image index comes after its images. */
struct publish_list {
    struct sink_image *images;
    size_t count, cap;
    char **names; /* by image; owned, may be NULL */
};

static void publish_list_clear(struct publish_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->names[i]);
    free(l->names);
    free(l->images);
}

static int publish_list_grow(struct publish_list *l, struct err *err)
{
    size_t cap = l->cap ? l->cap * 2 : 16;
    struct sink_image *images = realloc(l->images, cap * sizeof(*images));
    if (images)
        l->images = images;
    char **names = realloc(l->names, cap * sizeof(*names));
    if (names)
        l->names = names;
    if (!images || !names)
        return err_nomem(err);
    l->cap = cap;
    return 0;
}

/* `name`: the image's name at its source, or NULL. */
static int publish_list_add(struct publish_list *l, const struct squash_run *run,
                            struct sink_image image, const char *name, struct err *err)
{
    char *called = NULL;

    if ((l->count == l->cap && publish_list_grow(l, err) < 0) ||
        (!image.inner && sink_image_name(run->to, name, &called, err) < 0))
        return -1;
    image.name = called;
    l->names[l->count] = called;
    l->images[l->count++] = image;
    return 0;
}

static struct sink_image image_of(const struct squash_job *job)
{
    return (struct sink_image){
        .config = {job->id, job->config.data, job->config.len},
        .manifest = {job->digest, job->manifest.data, job->manifest.len},
        .layers = job->squashed.layers,
        .layer_count = job->squashed.count,
    };
}

/* Adds the image once for each of its names, if it keeps them. */
static int publish_list_add_job(struct publish_list *l, const struct squash_run *run,
                                const struct squash_job *job, struct err *err)
{
    const struct image *source = job->image;

    if (publish_list_add(l, run, image_of(job), source->name, err) < 0)
        return -1;
    for (size_t i = 0; run->places && i < source->other_count; i++)
        if (publish_list_add(l, run, image_of(job), source->others[i], err) < 0)
            return -1;
    return 0;
}

static int publish_list_add_index(struct publish_list *l, const struct squash_run *run,
                                  struct squash_entry *entry, struct err *err)
{
    const struct image *first = run->jobs[entry->first].image;
    size_t at = l->count;

    for (size_t i = 0; i < entry->count; i++) {
        struct sink_image image = image_of(&run->jobs[entry->first + i]);
        image.inner = true;
        if (publish_list_add(l, run, image, NULL, err) < 0)
            return -1;
    }
    if (platforms_image_index(first->index, &l->images[at], entry->count, &entry->image_index,
                              err) < 0 ||
        sha256_digest(entry->image_index.data, entry->image_index.len, &entry->digest, err) < 0)
        return -1;
    const struct sink_image index = {
        .manifest = {entry->digest, entry->image_index.data, entry->image_index.len},
        .is_index = true};
    return publish_list_add(l, run, index, first->name, err);
}

int squash_publish(struct squash_run *run, struct sink *sink, struct err *err)
{
    _cleanup_(publish_list_clear) struct publish_list list = {0};

    for (size_t i = 0; i < run->count; i++)
        if (describe_job(run, &run->jobs[i], err) < 0)
            return -1;
    for (size_t i = 0; i < run->entry_count; i++) {
        struct squash_entry *entry = &run->entries[i];
        if ((entry->count == 1 ? publish_list_add_job(&list, run, &run->jobs[entry->first], err)
                               : publish_list_add_index(&list, run, entry, err)) < 0)
            return -1;
    }
    return sink_publish(sink, list.images, list.count, err);
}

/*
 * `flatten squash` and `flatten carve`, in order: command_squash.c and command_carve.c parse
 * options, squash_open.c opens images, squash_run.c squashes and verifies (squash_family.c several
 * images that share layers), squash_publish.c describes and publishes, squash_print.c prints the
 * result, squash_next.c says what to do with it.
 */
#ifndef FLATTEN_SQUASH_COMMAND_H
#define FLATTEN_SQUASH_COMMAND_H

#include "flatten/carve/carve.h"
#include "flatten/carve/family.h"
#include "flatten/command/squash/timestamp.h"
#include "flatten/image/image_source.h"
#include "flatten/reader/reader.h"
#include "flatten/squash/layer_selection.h"
#include "flatten/squash/platforms.h"
#include "flatten/squash/squash.h"

#define CARVE_DEFAULT_LAYERS UINT64_MAX /* no number: that of layout.h, and its size of layers */
#define CARVE_DEFAULT_DEAD   UINT64_MAX /* that of layout_like.h */

struct squash_command {
    const char *compression, *semantics, *platform, *created, *keep_base, *last, *cert_dir;
    uint64_t into, threads, retries, max_size, max_ratio;
    bool all_images, insecure, dry_run, verify, json, quiet, verbose;
    bool carve;             /* flatten carve, with the options that only it has: */
    uint64_t layers;        /* CARVE_DEFAULT_LAYERS: the option is not given */
    const char *layer_size; /* NULL: the default */
    const char *like;       /* the previous version; or NULL */
    uint64_t max_dead;      /* with it: per cent */
    bool stable_times;      /* with it */
    bool family;            /* several sources, whose images share layers */
};

/* One image to squash. */
struct squash_job {
    struct image *image;
    char *platform; /* from the image index; NULL for an image that is in none */
    struct squashed squashed;
    struct carved carved; /* with command->carve */
    struct buf config, manifest;
    struct digest id, digest; /* of config and manifest */
    uint64_t notices;         /* how many there were */
};

/* An image to publish; or several, one for each platform, with an index of them. */
struct squash_entry {
    size_t first, count;    /* of the run's jobs; with more than one there is an image index */
    struct buf image_index; /* the new one */
    struct digest digest;   /* of it */
};

/* The sources, by number (keeper_task.sources): one run has no base and a previous version. */
enum { SQUASH_FROM, SQUASH_BASE, SQUASH_LIKE = SQUASH_BASE, SQUASH_SOURCES };

/* The sources of command->family. run->from and run->source are those of the one at hand. */
struct squash_family {
    const struct reference *sources; /* borrowed */
    const char *const *names;        /* as the command line has them; borrowed */
    size_t size;
    struct source **opened; /* the first of them */
    size_t opened_count;
    struct family *images; /* those that were read */
};

struct squash_run {
    const struct squash_command *command;
    const struct reference *from; /* SQUASH_SOURCES of them */
    const struct reference *to;   /* path and name are NULL when nothing is written */
    struct reader *reader;        /* borrowed */
    struct source *source, *base; /* the two of `from`; base may be NULL */
    struct squash_family family;
    struct image *like; /* the previous version of the image at hand; or NULL */
    struct layer_selection selection;
    struct compress_options compress;
    struct carve_options carve; /* with command->carve; the spool is opened when it is needed */
    int unpack_files[KEEPER_UNPACK_FILES]; /* opened when they are first needed */
    size_t unpack_file_count;
    char created[TIMESTAMP_SIZE]; /* "": keep the source's */
    size_t documents;             /* bytes of memory that configs and manifests take */
    bool outline;   /* open images without their layers, for a check before the work */
    size_t *places; /* with --all-images: the source's images, by place; or NULL */
    size_t place_count;
    struct squash_entry *entries; /* one; with --all-images one for each place */
    size_t entry_count;
    struct squash_job *jobs; /* one for each entry, or for each platform of it */
    size_t count;
};

/* True if the run is about several images, each by its name. */
static inline bool squash_has_several(const struct squash_run *run)
{
    return run->places || run->command->family;
}

/* Returns the entry's name at its source; or NULL. */
const char *squash_entry_name(const struct squash_run *run, const struct squash_entry *entry);

/* Finds the source; with --all-images lists its places, and checks all images but their layers. */
int squash_open_source(struct squash_run *run, struct err *err) must_check;

/* Opens the next entry's images, as jobs. */
int squash_open_entry(struct squash_run *run, struct err *err) must_check;

/* Makes config and manifest of each squashed image, and publishes all. */
int squash_publish(struct squash_run *run, struct sink *sink, struct err *err) must_check;

/*
 * Opens the source, squashes, verifies and publishes; with --dry-run only rehearses. Returns the
 * exit status, or -1. The caller clears the run with squash_run_clear, also after a failure.
 */
int squash_run(struct squash_run *run, struct err *err) must_check;

/* Frees what the run owns. */
void squash_run_clear(struct squash_run *run);

/* Says on standard error where the images are now, and which commands use them. */
void squash_say_next(const struct squash_run *run);

#define _cleanup_squash_run_ _cleanup_(squash_run_clear)

/* Prints the result, or the plan of a rehearsal, on standard output; then says what comes next. */
int squash_print(const struct squash_run *run, struct err *err) must_check;

#endif

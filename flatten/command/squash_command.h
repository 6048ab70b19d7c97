/* What the parts of `flatten squash` share: its options, what it does, what it prints. */
#ifndef FLATTEN_SQUASH_COMMAND_H
#define FLATTEN_SQUASH_COMMAND_H

#include "flatten/command/timestamp.h"
#include "flatten/image/image_source.h"
#include "flatten/reader/reader.h"
#include "flatten/squash/platforms.h"
#include "flatten/squash/select.h"
#include "flatten/squash/squash.h"

struct squash_command {
    const char *compression, *semantics, *platform, *created, *keep_base, *last, *cert_dir;
    uint64_t into, threads, retries, max_size;
    bool all_images, insecure, dry_run, verify, json, quiet;
};

/* One image on its way. */
struct squash_job {
    struct image *image;
    char *platform; /* as the index names it; NULL for an image without one */
    struct squashed squashed;
    struct buf config, manifest;
    struct digest id, digest; /* of them */
    uint64_t notices;
};

/* What the destination is to name: an image, or an index of its platforms' images. */
struct squash_entry {
    size_t first, count;  /* of the run's jobs; more than one: there is an index */
    struct buf index;     /* the new one */
    struct digest digest; /* of it */
};

/* The sources that a reader asks its keeper for. */
enum { SQUASH_FROM, SQUASH_BASE, SQUASH_SOURCES };

struct squash_run {
    const struct squash_command *command;
    const struct reference *from; /* two: see below */
    const struct reference *to;   /* path and name are NULL when nothing is written */
    struct reader *reader;        /* borrowed */
    struct source *source, *base; /* what `from` names; base may be NULL */
    struct selection selection;
    struct compress_options compress;
    char created[TIMESTAMP_SIZE]; /* "": as the source has it */
    size_t documents;             /* bytes of memory that configs and manifests take */
    size_t *places;               /* with --all-images: of the source's images; or NULL */
    size_t place_count;
    struct squash_entry *entries; /* one; with --all-images one for each place */
    size_t entry_count;
    struct squash_job *jobs; /* one for each entry, or for each platform of it */
    size_t count;
};

/* What the entry is called at its source; or NULL. */
const char *squash_entry_name(const struct squash_run *run, const struct squash_entry *entry);

/* Finds the source, and with --all-images its places. */
int squash_open_source(struct squash_run *run, struct err *err) must_check;

/* Opens the next entry's images, as jobs. */
int squash_open_entry(struct squash_run *run, struct err *err) must_check;

/* Describes all that was squashed, and publishes it. */
int squash_publish(struct squash_run *run, struct sink *sink, struct err *err) must_check;

/*
 * Does it: opens the source, squashes, verifies, publishes; or only rehearses. The exit status, or
 * -1. Cleared with squash_run_clear in any case.
 */
int squash_run(struct squash_run *run, struct err *err) must_check;
void squash_run_clear(struct squash_run *run);

#define _cleanup_squash_run_ _cleanup_(squash_run_clear)

/* The result, or for a rehearsal the plan, on standard output. */
int squash_print(const struct squash_run *run, struct err *err) must_check;

#endif

/* What the parts of `flatten squash` share: its options, what it does, what it prints. */
#ifndef FLATTEN_SQUASH_COMMAND_H
#define FLATTEN_SQUASH_COMMAND_H

#include "flatten/platforms.h"
#include "flatten/reader.h"
#include "flatten/select.h"
#include "flatten/squash.h"
#include "flatten/timestamp.h"

struct squash_command {
    const char *compression, *semantics, *platform, *created, *keep_base, *last, *cert_dir;
    uint64_t into, threads, retries, max_size;
    bool insecure, dry_run, verify, json, quiet;
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
    struct squash_job *jobs;      /* one, or one for each platform */
    size_t count;
    struct digest index; /* of the index of several */
};

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

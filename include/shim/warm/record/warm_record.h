/*
 * The record of one place: the files, and ranges in them, that containers read in their first
 * seconds, in the order in which they lie on the disk; and the gains of reading them ahead. A text
 * of lines. Its paths come from containers: a record is data, each number and path is checked when
 * it is read, and a file is opened only beneath its directory (warm_open).
 */
#ifndef SHIM_WARM_RECORD_H
#define SHIM_WARM_RECORD_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WARM_FILES = 20000,
    WARM_RANGES = 100000, /* of all files */
    WARM_RECORD_BYTES = 16 * 1024 * 1024,
    WARM_LAYERS = 500,
    WARM_LEAST_GAIN = 5, /* per cent */
    WARM_LOW_GAINS = 2,  /* in a row, after which it is off */
};

struct warm_range {
    uint64_t start, len; /* bytes */
};

struct warm_file {
    const char *path; /* relative to its directory, clean */
    uint32_t layer;   /* index of the directory in the place */
    const struct warm_range *ranges;
    size_t count;
};

struct warm_record {
    uint64_t recorded; /* seconds since 1970 */
    bool whole;        /* false: the next cold start records it again */
    uint64_t judged;   /* cold starts with a gain that could be measured */
    uint64_t low;      /* of these, the last ones in a row below WARM_LEAST_GAIN */
    uint64_t gain;     /* of the last one, in per cent */
    const char *image; /* for people; "": not known */
    const char *off;   /* why nothing is read ahead; "": it is */
    const char *of;    /* the place (warm_place.h) */
    struct warm_file *files;
    size_t count;
    uint64_t bytes; /* of all ranges */
};

/* Reads a record; all of it is in the arena. ERR_FORMAT with the line; ERR_LIMIT. */
int warm_record_parse(const char *text, size_t len, struct arena *arena, struct warm_record *out,
                      struct err *err) must_check;

/* Appends the text of a record. */
void warm_record_print(const struct warm_record *record, struct buf *out);

/* Returns the file of that path and layer, or NULL. */
const struct warm_file *warm_record_find(const struct warm_record *record, const char *path,
                                         uint32_t layer);

/* Returns the bytes of the ranges of a file. */
uint64_t warm_file_bytes(const struct warm_file *file);

/* Takes note of a gain: low ones in a row turn the record off. `off` becomes a text in the arena.
 * -1 without memory. */
int warm_record_judge(struct warm_record *record, unsigned gain, struct arena *arena,
                      struct err *err) must_check;

/* Sets `bytes` from the files. */
void warm_record_sum(struct warm_record *record);

#endif

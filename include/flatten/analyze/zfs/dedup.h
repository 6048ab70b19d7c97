/*
 * Block deduplication as ZFS does it: records of the same content and length are stored once, and a
 * table has an entry for each stored record. A record of zeros is a hole, without an entry.
 *
 * The table keeps only a sample of many records: those whose SHA-256 has a number of zero bits,
 * with all their copies. Copies have the same hash, so either all copies of a record are in the
 * sample or none, and shares in the sample estimate shares in the whole. (A sample by position
 * would mostly have one of two copies.) When the table is full, one more zero bit is required: its
 * memory is bounded.
 *
 * The memory of an entry is an estimate: "slightly more than 320 bytes" (OpenZFS documentation,
 * Workload Tuning, Deduplication); the figures of `zpool status -D` differ by version.
 */
#ifndef FLATTEN_DEDUP_H
#define FLATTEN_DEDUP_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { DEDUP_KEY = 16, DEDUP_ENTRY_RAM = 320, DEDUP_SAMPLE = 32768 };

/* Below this ratio, according to the manuals of ZFS, the table costs more than it saves. */
#define DEDUP_WORTH 2.0

struct dedup; /* a table of records, 24 bytes each, at most half full */

struct dedup_report {
    uint64_t records, bytes; /* of all records; bytes before compression */
    uint64_t sampled;        /* entries in the sample */
    uint64_t entries;        /* estimated: different records */
    uint64_t unique;         /* estimated: their bytes */
    double entries_error;    /* 95 %, as a share of the estimate; 0: there was no sampling */
    double error;            /* the same for `unique`, and so for the ratio */
};

/* `most`: how many entries to keep; 0: all. NULL without memory. */
struct dedup *dedup_new(size_t most, struct err *err) must_check;

/* Frees the table. */
void dedup_free(struct dedup *d);

DEFINE_CLEANUP(dedup, struct dedup, dedup_free)
#define _cleanup_dedup_ _cleanup_(cleanup_dedup)

/* Counts a record: the first DEDUP_KEY bytes of its SHA-256, and its length. */
int dedup_add(struct dedup *d, const unsigned char key[DEDUP_KEY], uint32_t bytes,
              struct err *err) must_check;

/* Adds to `to` all records that were added to `from`. */
int dedup_merge(struct dedup *to, const struct dedup *from, struct err *err) must_check;

/* Estimates the whole from the sample. */
void dedup_sum(const struct dedup *d, struct dedup_report *out);

/* Returns bytes before deduplication / bytes stored; 1 if there are none. */
double dedup_ratio(const struct dedup_report *r);

/* Returns the memory that ZFS needs for the table; bytes. */
uint64_t dedup_ram(const struct dedup_report *r);

#endif

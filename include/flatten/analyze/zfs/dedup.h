/*
 * Block deduplication as ZFS has it: records of the same content and length are stored once, and a
 * table has an entry for each that is stored. Records of zeros are holes, and in no table.
 *
 * Of many records, a sample is kept: those in whose SHA-256 so many bits are zero, with all their
 * copies. Copies have one hash, so a record is in the sample with all of them or not at all, and
 * the shares in the sample are those of the whole, which a sample by position would not give (of
 * two copies it mostly has one). When the table is full, one bit more is asked for, so its memory
 * is bounded whatever comes.
 *
 * What an entry takes in memory is an estimate: "slightly more than 320 bytes" (OpenZFS
 * documentation, Workload Tuning, Deduplication); what `zpool status -D` says differs by version.
 */
#ifndef FLATTEN_DEDUP_H
#define FLATTEN_DEDUP_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { DEDUP_KEY = 16, DEDUP_ENTRY_RAM = 320, DEDUP_SAMPLE = 32768 };

/* Below that, as ZFS's manuals have it, the table costs more than it brings. */
#define DEDUP_WORTH 2.0

struct dedup; /* a table of records, 24 bytes each, at most half full */

struct dedup_report {
    uint64_t records, bytes; /* all of them, counted; bytes before compression */
    uint64_t sampled;        /* entries in the sample */
    uint64_t entries;        /* estimated: records that differ */
    uint64_t unique;         /* estimated: bytes of these */
    double entries_error;    /* 95 %, as a share of the estimate; 0: all were kept */
    double error;            /* the same for `unique`, and so for the ratio */
};

/* `most`: entries that are kept; 0: all. */
struct dedup *dedup_new(size_t most, struct err *err) must_check;
void dedup_free(struct dedup *d);

DEFINE_CLEANUP(dedup, struct dedup, dedup_free)
#define _cleanup_dedup_ _cleanup_(cleanup_dedup)

/* Counts a record: the first DEDUP_KEY bytes of its SHA-256, and its length. */
int dedup_add(struct dedup *d, const unsigned char key[DEDUP_KEY], uint32_t bytes,
              struct err *err) must_check;

/* As if all that was added to the other had been added here. */
int dedup_merge(struct dedup *to, const struct dedup *from, struct err *err) must_check;

void dedup_sum(const struct dedup *d, struct dedup_report *out);

/* How many times as much as is stored; 1 of nothing. */
double dedup_ratio(const struct dedup_report *r);

/* Bytes of memory for the table. */
uint64_t dedup_ram(const struct dedup_report *r);

#endif

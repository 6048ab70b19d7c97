/*
 * What an image costs: the analyses of one image together, and the writers that show them. The
 * computing is in pure modules (dead.h); the writers only put it into words.
 */
#ifndef FLATTEN_ANALYSIS_H
#define FLATTEN_ANALYSIS_H

#include "flatten/analyze/advice.h"
#include "flatten/analyze/bytes/dead.h"
#include "flatten/analyze/bytes/duplicates.h"
#include "flatten/analyze/bytes/layer_stack_read.h"
#include "flatten/analyze/ci_rules.h"
#include "flatten/analyze/lookups/lookup_costs.h"
#include "flatten/analyze/lookups/lookups.h"
#include "flatten/analyze/zfs/zfs_plan.h"
#include "flatten/image/image.h"

#include <stdbool.h>

struct analysis {
    const char *source;      /* as the user named it; borrowed */
    struct image *image;     /* owned */
    const char **created_by; /* by layer number - 1: from the config's history; NULL: not said */
    struct index *index;
    struct layer_stack stack;
    struct merged_report read;
    struct dead_report dead;
    struct lookup_report lookups;     /* as it is */
    struct lookup_report flat;        /* and as one layer */
    const struct lookup_costs *costs; /* borrowed */
    struct advice_list advice;
    bool compared; /* by content: the next three are filled */
    struct contents contents;
    struct duplicate_report duplicates;
    struct stale_report stale;
    struct zfs_report zfs;              /* record 0: not asked for */
    struct zfs_plan plan;               /* the same */
    struct dedup_report together;       /* of all images given; where zfs.deduped */
    struct ci_result results[CI_RULES]; /* of the rules that were set */
    size_t result_count;
};

/* Takes `image` in any case. Fills *out, which the caller clears in any case. */
int analysis_make(struct image *image, const char *source, const struct merged_options *options,
                  const struct lookup_costs *costs, struct analysis *out,
                  struct err *err) must_check;
void analysis_clear(struct analysis *a);

#define _cleanup_analysis_ _cleanup_(analysis_clear)

/* Reads contents: duplicates in each and across all, and stale .pyc. */
int analysis_compare(struct analysis *list, size_t count, struct duplicate_shared *shared,
                     struct err *err) must_check;

/* What is asked of a file system that compresses. */
struct analysis_zfs {
    size_t record; /* bytes; 0: nothing is asked */
    bool exact;    /* all records, not a sample */
    bool dedup;    /* what records have in common, too: reads all content */
};

/* Reads contents: compression, and datasets to lay the trees in. */
int analysis_compress(struct analysis *list, size_t count, const struct analysis_zfs *options,
                      struct err *err) must_check;

/* Judges by the rules (ci_rules.h); true if none is broken. */
bool analysis_judge(struct analysis *a, const struct ci_rules *rules);

/* Tables for people. Names are made printable. */
void analysis_put_text(const struct analysis *a, struct buf *out);

/* One object of the array "images" (docs/analyze.md has the schema). */
void analysis_put_json(const struct analysis *a, struct buf *out);

/* The parts of these that are about ZFS; and what images have in common on it: the member "dedup".
 */
void analysis_put_zfs_text(const struct analysis *a, struct buf *out);
void analysis_put_zfs_json(const struct analysis *a, struct buf *out);
void analysis_put_dedup_text(const struct dedup_report *r, struct buf *out);
void analysis_put_dedup_json(const struct dedup_report *r, struct buf *out);

/* What images share: a table, or the member "shared". */
void analysis_put_shared_text(const struct duplicate_shared *s, struct buf *out);
void analysis_put_shared_json(const struct duplicate_shared *s, struct buf *out);

#endif

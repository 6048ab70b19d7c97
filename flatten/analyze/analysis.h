/*
 * The analyses of one image together, and the writers that show them. The figures come from pure
 * modules (dead.h, lookups.h, duplicates.h, zfs_plan.h); the writers only put them into words.
 */
#ifndef FLATTEN_ANALYSIS_H
#define FLATTEN_ANALYSIS_H

#include "flatten/analyze/advice.h"
#include "flatten/analyze/analyses.h"
#include "flatten/analyze/bytes/dead.h"
#include "flatten/analyze/bytes/duplicates.h"
#include "flatten/analyze/bytes/layer_stack_read.h"
#include "flatten/analyze/carving/carve_estimate.h"
#include "flatten/analyze/lookups/lookups.h"
#include "flatten/analyze/owners/owner_weights.h"
#include "flatten/analyze/zfs/dedup.h"
#include "flatten/analyze/zfs/zfs_plan.h"
#include "flatten/analyze/zfs/zfs_read.h"

struct analysis {
    const char *source;        /* its name on the command line; borrowed */
    struct image *image;       /* owned */
    const char **created_by;   /* by layer number - 1: from the config's history; NULL: unknown */
    struct merge_index *index; /* owns the stack's tree */
    struct layer_stack stack;
    struct merged_report read;
    struct dead_report dead;
    struct owner_report owners;
    struct carve_estimate carving;
    struct lookup_report lookups;     /* of the image as it is */
    struct lookup_report flat;        /* of the image as one layer */
    const struct lookup_costs *costs; /* borrowed */
    struct advice_list advice;
    bool compared; /* contents, duplicates and stale are filled */
    struct contents contents;
    struct duplicate_report duplicates;
    struct stale_report stale;
    struct zfs_report zfs; /* zfs.record is 0 where nothing was predicted */
    struct zfs_plan plan;  /* empty in that case */
    struct ci_result results[CI_RULES];
    size_t result_count; /* one for each rule that was set */
};

/* Takes `image`, also on failure. Fills *out, which the caller clears, also after a failure. */
int analysis_make(struct image *image, const char *source, const struct lookup_costs *costs,
                  struct analysis *out, struct err *err) must_check;

/* Frees what it owns. */
void analysis_clear(struct analysis *a);

#define _cleanup_analysis_ _cleanup_(analysis_clear)

/* Finds the duplicates among the contents that were read, and adds advice about them. */
int analysis_find_duplicates(struct analysis *a, const struct duplicate_image *image,
                             struct err *err) must_check;

/*
 * Predicts compression, and plans datasets. With options->dedup the image's records are also
 * counted and added to `together`, the table of all images; without it `together` is NULL.
 */
int analysis_compress(struct analysis *a, const struct zfs_options *options, struct dedup *together,
                      struct err *err) must_check;

/* Compares the image with the rules; true if none is broken. */
bool analysis_judge(struct analysis *a, const struct ci_rules *rules);

/*
 * Appends tables, or an object of the array "images". `together`: what all images have in common on
 * ZFS; NULL where that was not predicted.
 */
void analysis_put_text(const struct analysis *a, const struct dedup_report *together,
                       struct buf *out);
void analysis_put_json(const struct analysis *a, const struct dedup_report *together,
                       struct buf *out);

/* Their parts about owners. */
void analysis_put_owners_text(const struct analysis *a, struct buf *out);
void analysis_put_owners_json(const struct analysis *a, struct buf *out);

/* Their parts about ZFS. */
void analysis_put_zfs_text(const struct analysis *a, const struct dedup_report *together,
                           struct buf *out);
void analysis_put_zfs_json(const struct analysis *a, const struct dedup_report *together,
                           struct buf *out);

/* Appends a report on deduplication: lines, or an object. */
void dedup_put_text(const struct dedup_report *r, struct buf *out);
void dedup_put_json(const struct dedup_report *r, struct buf *out);

/* Appends what images share: a table, or the member "shared". */
void duplicates_put_shared_text(const struct duplicate_shared *s, struct buf *out);
void duplicates_put_shared_json(const struct duplicate_shared *s, struct buf *out);

#endif

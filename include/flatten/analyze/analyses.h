/*
 * The analyses of all images that `flatten analyze` was given: of each one its bytes, its lookups
 * and advice, and what they have in common. Images are added one by one; what reads their contents
 * comes next; the writers come last.
 */
#ifndef FLATTEN_ANALYSES_H
#define FLATTEN_ANALYSES_H

#include "flatten/analyze/ci_rules.h"
#include "flatten/analyze/lookups/lookup_costs.h"
#include "flatten/image/image.h"

struct analyses;

/* For up to `most` images. `costs` is borrowed. NULL without memory. */
struct analyses *analyses_new(size_t most, const struct lookup_costs *costs,
                              struct err *err) must_check;

/* Frees the analyses and their images. */
void analyses_free(struct analyses *all);

DEFINE_CLEANUP(analyses, struct analyses, analyses_free)
#define _cleanup_analyses_ _cleanup_(cleanup_analyses)

/*
 * Analyses one image, from the headers of its layers. Takes `image`, also on failure. `source`, the
 * image's name on the command line, is borrowed.
 */
int analyses_add(struct analyses *all, struct image *image, const char *source,
                 struct err *err) must_check;

/* Reads contents: finds duplicates in each image and across all, and stale .pyc files. */
int analyses_compare(struct analyses *all, struct err *err) must_check;

/* Checks that no image was removed from its engine while it was read (image_check_still). */
int analyses_check_still(const struct analyses *all, struct err *err) must_check;

/* The options of predictions for ZFS. */
struct zfs_options {
    size_t record; /* bytes; 0: nothing is predicted */
    bool exact;    /* compress all records instead of a sample */
    bool dedup;    /* also predict block deduplication: reads all content */
};

/* Reads contents: predicts compression and deduplication, and plans datasets. */
int analyses_compress(struct analyses *all, const struct zfs_options *options,
                      struct err *err) must_check;

/* Compares each image with the rules, for the writers to show. True if none is broken. */
bool analyses_judge(struct analyses *all, const struct ci_rules *rules);

/* Called for each broken rule; `text` says by how much. */
typedef void analyses_broken_rule(void *ctx, const char *source, const char *text);

/* Calls `report` for each rule that analyses_judge found broken. */
void analyses_list_broken(const struct analyses *all, analyses_broken_rule *report, void *ctx);

/* Appends tables for people. Names from images are made printable. */
void analyses_put_text(const struct analyses *all, struct buf *out);

/* Appends one JSON object; docs/analyze.md has its members. */
void analyses_put_json(const struct analyses *all, struct buf *out);

/* Writes the HTML page to a descriptor. */
int analyses_write_page(const struct analyses *all, int fd, struct err *err) must_check;

#endif

/*
 * The merged tree of an image, entry by entry: what a container sees.
 */
#ifndef FLATTEN_MERGED_H
#define FLATTEN_MERGED_H

#include "flatten/image/image.h"
#include "flatten/layer/attributes.h"
#include "flatten/layer/entry_sink.h"
#include "flatten/merge/semantics.h"
#include "flatten/merge/tree.h"

struct merged_report {
    unsigned layers;       /* of the image */
    uint64_t entries_in;   /* tar entries read, whiteouts included */
    uint64_t entries_kept; /* of them, in layers that stay: no other number counts these */
    uint64_t entries_out;  /* given to the sink */
    uint64_t whiteouts;    /* of them, opaque markers included: what hides content of kept layers */
    uint64_t payload_in;   /* bytes of file content read */
    uint64_t payload_out;  /* and given to the sink */
    uint64_t divergences;  /* places where engines and the spec differ */
    uint64_t dropped;      /* entries that lost overlayfs's own xattrs */
};

/* Told of every divergence and of everything dropped; `path` is the entry's. May be NULL. */
typedef void merged_notice(void *ctx, unsigned layer, const char *path, const char *text);

struct merge_index_observer;

struct merged_options {
    merged_notice *notice;
    void *notice_ctx;
    enum semantics semantics;
    uint64_t max_size;       /* the most bytes that a layer may unpack to; for squash_layers */
    size_t kept;             /* so many of the oldest layers stay as they are: see below */
    uint64_t max_attributes; /* the most bytes of kept headers; 0: ATTRIBUTES_MOST */
    bool indexed;            /* set after MERGE_NEEDS_INDEX */
    const struct merge_index_observer *observer; /* of merge_index_new; or NULL (merge_index.h) */
};

/* ERR_LIMIT where the headers that are kept take more than `most`, as max_attributes has it. */
int merged_check_attributes(uint64_t most, uint64_t bytes, const char *what_of,
                            struct err *err) must_check;

/* How merging ended. */
enum merge_result {
    MERGE_FAILED = -1, /* with an error */
    MERGE_DONE,
    MERGE_NEEDS_INDEX, /* to be started again with options->indexed, and a fresh sink */
};

/*
 * Feeds the sink. With options->kept, it gets what a layer must hold that is laid over the kept
 * ones (delta.h), whiteouts included. All digests of the layers have been checked when this returns
 * MERGE_DONE.
 *
 * Layers are read once, newest first (merge.h). Returns MERGE_NEEDS_INDEX where that cannot decide:
 * a path twice in one layer; the spec's semantics; kept layers. With options->indexed the headers
 * of all layers are read before the content (merge_index.h), and the result is MERGE_DONE or
 * MERGE_FAILED.
 */
enum merge_result merged_entries(const struct image *image, const struct merged_options *options,
                                 struct entry_sink *sink, struct merged_report *report,
                                 struct err *err) must_check;

/*
 * ERR_LIMIT where entries imply more than MERGED_MOST_IMPLIED directories in all: each costs memory
 * and a header, and a few bytes of an archive can imply thousands.
 */
int merged_check_implied(const struct tree *paths, const struct merged_report *report,
                         struct err *err) must_check;

enum { MERGED_MOST_IMPLIED = 1 << 18 };

/* For merged_entries alone. merged_indexed returns 0 or -1. */
enum merge_result merged_stream(const struct image *image, const struct merged_options *options,
                                struct entry_sink *sink, struct merged_report *report,
                                struct err *err) must_check;
int merged_indexed(const struct image *image, const struct merged_options *options,
                   struct entry_sink *sink, struct merged_report *report,
                   struct err *err) must_check;

#endif

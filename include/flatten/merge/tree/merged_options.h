/*
 * Shared by both ways of merging an image, one pass (merge.h) and index (merge_index.h): their
 * options, what they report, and how they end.
 */
#ifndef FLATTEN_MERGED_OPTIONS_H
#define FLATTEN_MERGED_OPTIONS_H

#include "flatten/merge/tree/semantics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry of a layer. */
struct merged_place {
    unsigned layer;   /* its number; 0: there is no such entry */
    uint32_t ordinal; /* the entry's (entry_info.h) */
};

/*
 * An engine's store shows a merged tree (merged_tree.h) without its hidden entries: each
 * entry counts as read and as given, and payload_in is the size that the engine states for the
 * image, or payload_out if it states none or less.
 */
struct merged_report {
    unsigned layers;       /* of the image */
    uint64_t entries_in;   /* tar entries read, whiteouts included */
    uint64_t entries_kept; /* of them, in layers that stay: no other number counts these */
    uint64_t entries_out;  /* given to the sink */
    uint64_t whiteouts;    /* of them, those that hide content of kept layers, markers included */
    uint64_t payload_in;   /* bytes of file content read */
    uint64_t payload_out;  /* bytes of file content given to the sink */
    uint64_t divergences;  /* places where engines and the spec differ */
    uint64_t dropped;      /* entries that lost overlayfs's own xattrs, or an ACL of tar */
    double probes;         /* with count_probes: layer_probes_mean; 0: not known */
    struct merged_place conflict; /* with MERGE_NEEDS_INDEX: the entry that one pass ended at */
};

/*
 * Receives each divergence (DIVERGENCE_ of semantics.h) and each note of something dropped, in
 * words. `layer` counts from 1, oldest first; `path` is the entry's. With the layer 0, `path` is
 * what else the notice is about.
 */
typedef void merged_notice(void *ctx, unsigned layer, const char *path, const char *text);

struct merged_options {
    merged_notice *notice; /* or NULL */
    void *notice_ctx;
    enum semantics semantics;
    uint64_t max_size;       /* the most bytes that a layer may unpack to; for squash_layers */
    size_t kept;             /* the number of oldest layers that stay as they are (merged.h) */
    uint64_t max_attributes; /* the most bytes of kept headers; 0: ATTRIBUTES_MOST */
    bool count_probes; /* set the report's `probes`: overlay semantics, not of a walked tree */
    bool indexed;      /* set after MERGE_NEEDS_INDEX */
    struct merged_place told; /* with `indexed`: the report's `conflict`. Losses of entries
                                 before it, newest layer first, are not told again. */
};

enum merge_result {
    MERGE_FAILED = -1, /* with an error */
    MERGE_DONE,
    MERGE_NEEDS_INDEX, /* to be started again with options->indexed, and a fresh sink */
};

#endif

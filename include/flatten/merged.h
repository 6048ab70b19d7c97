/*
 * The merged tree of an image, entry by entry: what a container sees.
 */
#ifndef FLATTEN_MERGED_H
#define FLATTEN_MERGED_H

#include "flatten/entry_sink.h"
#include "flatten/image.h"
#include "flatten/semantics.h"

struct merged_report {
    unsigned layers;      /* of the image */
    uint64_t entries_in;  /* tar entries read, whiteouts included */
    uint64_t entries_out; /* given to the sink */
    uint64_t payload_in;  /* bytes of file content read */
    uint64_t payload_out; /* and given to the sink */
    uint64_t divergences; /* places where engines and the spec differ */
    uint64_t dropped;     /* entries that lost overlayfs's own xattrs */
};

/* Told of every divergence and of everything dropped; `path` is the entry's. May be NULL. */
typedef void merged_notice(void *ctx, unsigned layer, const char *path, const char *text);

struct index_observer;

struct merged_options {
    merged_notice *notice;
    void *notice_ctx;
    enum semantics semantics;
    bool indexed;                          /* set by merged_stream's caller after a conflict */
    const struct index_observer *observer; /* of index_new; or NULL (index.h) */
};

/*
 * Feeds the sink. All digests of the layers have been checked when this returns 0.
 *
 * Layers are read once, newest first (merge.h). Where that cannot decide (a path twice in one
 * layer; the spec's semantics) it returns 1: the caller starts again, with a fresh sink and
 * options->indexed, which reads the headers of all layers before their content (index.h).
 */
int merged_entries(const struct image *image, const struct merged_options *options,
                   struct entry_sink *sink, struct merged_report *report,
                   struct err *err) must_check;

/* For merged_entries alone. */
int merged_stream(const struct image *image, const struct merged_options *options,
                  struct entry_sink *sink, struct merged_report *report,
                  struct err *err) must_check;
int merged_indexed(const struct image *image, const struct merged_options *options,
                   struct entry_sink *sink, struct merged_report *report,
                   struct err *err) must_check;

#endif

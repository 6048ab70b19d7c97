/*
 * An image that comes as a stream, in an order of its own, as often as it is asked for: what a
 * daemon sends as `docker save` does (source_archive.c), none of which is kept but what the headers
 * say (layer_record.h).
 *
 * The first reading makes the image: its layers have a record each, and can be indexed. Their
 * content is had by reading again: feed_begin, then feed_layer for some layers in the order of
 * their offsets, then feed_end. Each layer is held to its diff_id at each reading, so that all
 * readings are of the same bytes; one that comes late, not at all, or in another size is
 * ERR_DIGEST.
 *
 * One thread calls; a layer's reader has another read the stream until it is freed.
 */
#ifndef FLATTEN_FEED_H
#define FLATTEN_FEED_H

#include "flatten/layer/layer.h"

struct feed;

struct feed_ops {
    /* A descriptor of the stream, from its start; the feed closes it. Or -1. */
    int (*open)(void *ctx, struct err *err);
    /* The descriptor is closed: how has the sending ended? Once for each open. */
    int (*end)(void *ctx, struct err *err);
};

/* Reads it once. The image owns the feed; ctx is borrowed. */
struct image *feed_image(const struct feed_ops *ops, void *ctx, struct err *err) must_check;

int feed_begin(struct feed *f, struct err *err) must_check;
/* The layer's reader, which is to be freed before the next call. */
struct layer_reader *feed_layer(struct feed *f, const struct layer *layer,
                                struct err *err) must_check;
/* Reads on to the end. */
int feed_end(struct feed *f, struct err *err) must_check;

/*
 * Instead of feed_end, after an error: where that is because the stream ended too early, it becomes
 * what the sender says. Always -1.
 */
int feed_failed(struct feed *f, struct err *err);

void feed_free(struct feed *f);

DEFINE_CLEANUP(feed, struct feed, feed_free)
#define _cleanup_feed_ _cleanup_(cleanup_feed)

#endif

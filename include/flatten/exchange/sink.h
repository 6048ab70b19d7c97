/*
 * A destination for new images. It lends a file for each layer, then takes configurations and
 * manifests and publishes all at once: until then nothing bears the destination's name, and a sink
 * that is freed before leaves nothing behind. The keeper has a kind for each transport
 * (sink_open.h); in the sandbox, a sink asks the keeper (reader_sink).
 */
#ifndef FLATTEN_SINK_H
#define FLATTEN_SINK_H

#include "base/cleanup.h"
#include "base/err.h"
#include "flatten/exchange/written_layer.h"
#include "flatten/name/reference.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

struct sink;

/* A blob in memory, borrowed. */
struct blob {
    struct digest digest;
    const char *data;
    size_t len;
};

struct sink_image {
    struct blob config, manifest;
    const struct written_layer *layers; /* oldest first, as ended with sink_end_layer */
    size_t layer_count;
    const char *name; /* "name:tag" or tag; NULL for none */
    bool named;       /* the command line gives `name`: another image of that name is replaced */
    bool whole_name;  /* a layout takes all of `name` for its tag, not only what is behind ':' */
    bool is_index;    /* `manifest` is an index of images: no config, no layers */
    bool inner;       /* an index that comes later names it; the destination does not */
};

struct sink_ops {
    int (*begin_layer)(struct sink *s, bool once, int *fd, off_t *offset, struct err *err);
    int (*end_layer)(struct sink *s, const struct written_layer *layer, struct err *err);
    int (*publish)(struct sink *s, const struct sink_image *images, size_t count, struct err *err);
    void (*release)(struct sink *s);
    /* Returns 1 if the destination has that blob already; may be missing. */
    int (*has_layer)(struct sink *s, size_t position, const struct written_layer *layer,
                     struct err *err);
    /* May be missing: see sink_await_layers. */
    int (*await_layers)(struct sink *s, struct err *err);
    /* For destinations with `beside`. */
    int (*begin_beside)(struct sink *s, int *fd, off_t *offset, struct err *err);
    /* May be missing: see sink_explain. */
    void (*explain)(struct sink *s, struct err *err);
};

enum { SINK_MOST_BESIDE = 7 };

struct sink {
    const struct sink_ops *ops;
    unsigned beside; /* layers that may be begun before the first has ended: sink_begin_beside */
    bool keeps_zstd; /* an engine that keeps layers as they are compressed, and knows zstd */
};

/* True for destinations that hold images under an index: inner ones, and is_index. */
bool sink_holds_index(const struct reference *ref) must_check;

/* True for destinations that hold several images, each by its name. */
bool sink_holds_several(const struct reference *ref) must_check;

/*
 * Sets *out to the name of an image at a destination: the one in the reference, else the one at the
 * source. NULL for none: engines take only NAME:TAG from an archive, and the bare tag of a layout
 * is no name for one. With to->by_tag its tag at the source follows the name in the reference,
 * ERR_USAGE if it has none. The caller frees it. ERR_FORMAT for a name at the source that is not in
 * the grammar of such names (image_name.h): it may be made to be mistaken for another.
 */
int sink_image_name(const struct reference *to, const char *source_name, char **out,
                    struct err *err) must_check;

/*
 * Returns the tag of an image in a layout, which points into its name. `whole`: the whole name,
 * else what is behind its ':', if it has one.
 */
const char *sink_layout_tag(const char *name, bool whole) must_check;

/*
 * Begins a layer, whose bytes go to *fd from *offset on. Layers that were begun and not ended are
 * given up. *fd is borrowed; what a duplicate of it shows of an ended layer stays until sink_free.
 *
 * `once`: the layer is all of an image that is published alone, and its bytes are written in order
 * and not read. Then *fd may be a pipe, with *offset -1. The caller closes its duplicates of that
 * before sink_end_layer, which waits for the end of the pipe.
 */
static inline int sink_begin_layer(struct sink *s, bool once, int *fd, off_t *offset,
                                   struct err *err)
{
    return s->ops->begin_layer(s, once, fd, offset, err);
}

/*
 * Begins a further layer, beside those that were begun and not ended, of which there is one, and at
 * most s->beside. They end in the order in which they began.
 */
static inline int sink_begin_beside(struct sink *s, int *fd, off_t *offset, struct err *err)
{
    return s->ops->begin_beside(s, fd, offset, err);
}

/*
 * Ends the first of the layers that were begun: it has been written whole, and is `layer`, which
 * may have ended before.
 */
static inline int sink_end_layer(struct sink *s, const struct written_layer *layer, struct err *err)
{
    return s->ops->end_layer(s, layer, err);
}

/*
 * Returns 1 if the destination has the layer's blob already, 0 if not or if that is not known, or
 * -1. After 1 the layer need not be written: the call takes the place of sink_begin_layer and
 * sink_end_layer. `position`: of the layer in its image, oldest first from 0; the layers below it
 * were asked for just before.
 */
static inline int sink_has_layer(struct sink *s, size_t position, const struct written_layer *layer,
                                 struct err *err)
{
    return s->ops->has_layer ? s->ops->has_layer(s, position, layer, err) : 0;
}

/*
 * Replaces *err by the reason why nobody reads the pipe of a layer any more, if *err comes from
 * that.
 */
static inline void sink_explain(struct sink *s, struct err *err)
{
    if (err->sys == EPIPE && s->ops->explain)
        s->ops->explain(s, err);
}

/*
 * Waits until all layers that ended are at the destination. Those that were begun and not ended are
 * given up.
 */
static inline int sink_await_layers(struct sink *s, struct err *err)
{
    return s->ops->await_layers ? s->ops->await_layers(s, err) : 0;
}

/*
 * Publishes the images, all at once, after sink_await_layers. One may be there several times, under
 * several names. A layer that was begun and not ended is given up.
 */
static inline int sink_publish(struct sink *s, const struct sink_image *images, size_t count,
                               struct err *err)
{
    return s->ops->publish(s, images, count, err);
}

/* Frees the sink and, if it has not published, takes back what it wrote. */
static inline void sink_free(struct sink *s)
{
    s->ops->release(s);
}

DEFINE_CLEANUP(sink, struct sink, sink_free)
#define _cleanup_sink_ _cleanup_(cleanup_sink)

#endif

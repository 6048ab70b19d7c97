/*
 * Where a new image goes. A sink lends a file for each layer, then takes config and manifest and
 * publishes all at once: until then nothing bears the destination's name, and a sink that is freed
 * unpublished leaves nothing behind.
 */
#ifndef FLATTEN_SINK_H
#define FLATTEN_SINK_H

#include "base/buf.h"
#include "base/digest/sha256.h"
#include "flatten/layer/layer_writer.h"
#include "flatten/name/reference.h"

#include <stdbool.h>

struct sink;

/* A blob in memory. */
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
    bool whole_name;  /* a layout is to have all of the name for its tag, not what is behind ':' */
    bool is_index;    /* `manifest` is an index of images; there is no config and no layer */
    bool inner;       /* an index that comes later names it, and not the destination itself */
};

struct sink_ops {
    int (*begin_layer)(struct sink *s, int *fd, off_t *offset, struct err *err);
    int (*end_layer)(struct sink *s, const struct written_layer *layer, struct err *err);
    int (*publish)(struct sink *s, const struct sink_image *images, size_t count, struct err *err);
    void (*release)(struct sink *s);
    /* 1 if the destination has that blob already; may be missing. */
    int (*has_layer)(struct sink *s, const struct written_layer *layer, struct err *err);
};

struct sink {
    const struct sink_ops *ops;
};

/* True for destinations that can hold several images under an index: inner ones, and is_index. */
bool sink_holds_index(const struct reference *ref) must_check;

/* True for those that can hold several images, each by its name. */
bool sink_holds_several(const struct reference *ref) must_check;

/*
 * What the image is called at a destination: as the reference says, else as the source does. NULL
 * for nothing: engines take only NAME:TAG from an archive, and the bare tag of a layout is no name
 * for one. The caller frees it.
 */
int sink_image_name(const struct reference *to, const char *source_name, char **out,
                    struct err *err) must_check;

/* Opens the destination; what it needs is checked now, before the work. */
struct sink *sink_open(const struct reference *ref, struct err *err) must_check;

/* The same for an image from `from`: blobs of one registry can be taken over within it. */
struct sink *sink_open_beside(const struct reference *ref, const struct reference *from,
                              struct err *err) must_check;

/*
 * Where the next layer's bytes go. Called again without sink_end_layer, it starts the same layer
 * afresh. *fd is borrowed; what a duplicate of it shows of an ended layer stays until sink_free.
 */
static inline int sink_begin_layer(struct sink *s, int *fd, off_t *offset, struct err *err)
{
    return s->ops->begin_layer(s, fd, offset, err);
}

static inline int sink_end_layer(struct sink *s, const struct written_layer *layer, struct err *err)
{
    return s->ops->end_layer(s, layer, err);
}

/*
 * 1 if the destination has the layer's blob already: then it need not be written. 0 if not or not
 * known. Where 1, it takes the place of sink_begin_layer and sink_end_layer.
 */
static inline int sink_has_layer(struct sink *s, const struct written_layer *layer, struct err *err)
{
    return s->ops->has_layer ? s->ops->has_layer(s, layer, err) : 0;
}

/*
 * All of them at once. One may be there several times, under several names. A layer that was begun
 * and not ended is given up.
 */
static inline int sink_publish(struct sink *s, const struct sink_image *images, size_t count,
                               struct err *err)
{
    return s->ops->publish(s, images, count, err);
}

static inline void sink_free(struct sink *s)
{
    s->ops->release(s);
}

DEFINE_CLEANUP(sink, struct sink, sink_free)
#define _cleanup_sink_ _cleanup_(cleanup_sink)

/* For sink_open alone. */
struct sink *sink_open_oci(const char *path, struct err *err) must_check;
struct sink *sink_open_archive(const struct reference *ref, struct err *err) must_check;
struct sink *sink_open_daemon(const char *name /* NULL: each image has its own */,
                              struct err *err) must_check;
struct sink *sink_open_registry(const struct reference *ref, struct err *err) must_check;

/*
 * An archive in a temporary file without a name: once published, *fd holds it. The descriptor is
 * the sink's.
 */
struct sink *sink_open_temporary(int *fd, struct err *err) must_check;

/* index.json of a layout that holds them: it names those that are not inner. */
int sink_index_json(const struct sink_image *images, size_t count, struct buf *out,
                    struct err *err) must_check;

#define OCI_LAYOUT_JSON "{\"imageLayoutVersion\":\"1.0.0\"}"

#endif

/*
 * Where a new image goes. A sink lends a file for each layer, then takes config and manifest and
 * publishes all at once: until then nothing bears the destination's name, and a sink that is freed
 * unpublished leaves nothing behind.
 */
#ifndef FLATTEN_SINK_H
#define FLATTEN_SINK_H

#include "base/buf.h"
#include "base/sha256.h"
#include "flatten/layer_writer.h"
#include "flatten/reference.h"

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
};

struct sink_ops {
    int (*begin_layer)(struct sink *s, int *fd, off_t *offset, struct err *err);
    int (*end_layer)(struct sink *s, const struct written_layer *layer, struct err *err);
    int (*publish)(struct sink *s, const struct sink_image *image, struct err *err);
    void (*release)(struct sink *s);
};

struct sink {
    const struct sink_ops *ops;
};

/* Opens the destination; what it needs is checked now, before the work. */
struct sink *sink_open(const struct reference *ref, struct err *err) must_check;

/* The same for an image from `from`: blobs of one registry can be taken over within it. */
struct sink *sink_open_beside(const struct reference *ref, const struct reference *from,
                              struct err *err) must_check;

/*
 * Where the next layer's bytes go. Called again without sink_end_layer, it starts the same layer
 * afresh. *fd is borrowed.
 */
static inline int sink_begin_layer(struct sink *s, int *fd, off_t *offset, struct err *err)
{
    return s->ops->begin_layer(s, fd, offset, err);
}

static inline int sink_end_layer(struct sink *s, const struct written_layer *layer, struct err *err)
{
    return s->ops->end_layer(s, layer, err);
}

static inline int sink_publish(struct sink *s, const struct sink_image *image, struct err *err)
{
    return s->ops->publish(s, image, err);
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
struct sink *sink_open_daemon(const char *name, struct err *err) must_check;
struct sink *sink_open_registry(const struct reference *ref, struct err *err) must_check;

/*
 * An archive in a temporary file without a name: once published, *fd holds it. The descriptor is
 * the sink's.
 */
struct sink *sink_open_temporary(int *fd, struct err *err) must_check;

/* index.json of a layout that holds one image. */
int sink_index_json(const struct sink_image *image, struct buf *out, struct err *err) must_check;

#define OCI_LAYOUT_JSON "{\"imageLayoutVersion\":\"1.0.0\"}"

#endif

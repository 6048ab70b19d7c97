/*
 * What the part of flatten that reads images (reader.h) and the part that acts for it (keeper.h)
 * say to each other: requests one way, replies the other, one at a time, over a socket pair of one
 * machine. Payload does not go this way; descriptors do, from keeper to reader alone.
 *
 * A message is its length (4 bytes) and its fields, in the order that wire_fields.c has them. What
 * is decoded is in bounds: numbers, enums, counts and sizes; digests and texts are well formed.
 * Whether a request is allowed now is the keeper's to judge.
 */
#ifndef FLATTEN_WIRE_H
#define FLATTEN_WIRE_H

#include "base/buf.h"
#include "flatten/exchange/blob_store.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/exchange/sink.h"

enum wire_op {
    WIRE_SOURCE = 1, /* find source `number`; fd: the archive, if it is one */
    WIRE_FILE,       /* `file` of a layout: data */
    WIRE_BLOBS,      /* open blobs: a reply, then one more for each, with offset, size and fd */
    WIRE_SPOOL,      /* a temporary file, to spool an archive: fd */
    WIRE_DIFF_IDS,   /* what the daemon says the layers of source `number` are: data */
    WIRE_SINK,       /* open the destination */
    WIRE_BEGIN,      /* begin a layer: offset and fd */
    WIRE_END,        /* end it */
    WIRE_HAS,        /* has the destination that layer? number */
    WIRE_IMAGE,      /* an image to be published, or an index of those before it */
    WIRE_PUBLISH,    /* publish all of these */
    WIRE_DONE,       /* the end: exit status, or an error; no reply */
};

enum {
    WIRE_MOST_SOURCES = 64,
    WIRE_MOST_STATUS = 4, /* an exit status that is no error */
    WIRE_MOST_BLOBS = 4096,
    WIRE_MOST_IMAGES = 256, /* to be published; one with two names counts twice */
    WIRE_MOST_DOCUMENT = 2 * IMAGE_JSON_LIMIT, /* a config or manifest, new or old; bytes */
    WIRE_MOST_TEXT = 1023,
    WIRE_MOST_MESSAGE = 2 * WIRE_MOST_DOCUMENT + (1 << 21), /* bytes */
};

/* Fields that an operation has no use for are zero. */
struct wire_request {
    enum wire_op op;
    uint64_t number;
    enum layout_file file;
    struct blob_request *blobs; /* WIRE_BLOBS: all of one role */
    size_t blob_count;
    struct written_layer layer;   /* WIRE_END, WIRE_HAS */
    struct sink_image image;      /* WIRE_IMAGE */
    struct written_layer *layers; /* what image.layers points to */
    int status;                   /* WIRE_DONE: the exit status, or -1 and err */
    struct err err;
};

struct wire_reply {
    bool failed; /* then err says why, and number which blob */
    struct err err;
    uint64_t number, offset, size;
    bool regular;                                     /* as struct source has it */
    struct digest root;                               /* "": none */
    const char *root_type, *name, *os, *architecture; /* may be NULL */
    const char *data;
    size_t len;
};

/* ---- pure ---- */

/* Appends the message's fields. */
void wire_encode_request(const struct wire_request *request, struct buf *out);
void wire_encode_reply(const struct wire_reply *reply, struct buf *out);

/* ERR_FORMAT for what no encoder writes. Texts and data point into `message`; arrays are owned. */
int wire_decode_request(const struct buf *message, struct wire_request *out,
                        struct err *err) must_check;
int wire_decode_reply(const struct buf *message, struct wire_reply *out,
                      struct err *err) must_check;
void wire_request_clear(struct wire_request *request);

#define _cleanup_wire_request_ _cleanup_(wire_request_clear)

/* ---- the socket ---- */

/* A pair of them. */
int wire_pair(int out[2], struct err *err) must_check;

/* fd (-1: none) is borrowed. */
int wire_send(int socket, const struct buf *message, int fd, struct err *err) must_check;

/*
 * 1, or 0 when the other side is gone. *fd becomes the caller's, -1 without one; where fd is NULL
 * none is taken, and one that is sent is an error. A signal that flatten ends for ends it, too.
 */
int wire_receive(int socket, struct buf *out, int *fd, struct err *err) must_check;

#endif

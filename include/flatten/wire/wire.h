/*
 * The messages of the reader (reader.h) and the keeper (keeper.h): requests from the one, replies
 * from the other, one at a time, over a pair of sockets on one machine. Payload does not go this
 * way; descriptors do, from keeper to reader alone.
 *
 * A message is its length (4 bytes) and its fields, in the order of wire_fields.c. Decoded fields
 * are in bounds: numbers, enums, counts and sizes; digests and texts are well formed. The keeper
 * judges whether a request is allowed now.
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
    WIRE_DIFF_IDS,   /* diff_ids of the layers of source `number`, from the daemon: data */
    WIRE_SINK,       /* open the destination: number 1 if it keeps_zstd (sink.h); size: `beside` */
    WIRE_BEGIN,      /* begin a layer: offset and fd; `number` 1: it is written once, and fd is a
                        pipe if the reply has that number; WIRE_BESIDE: see sink_begin_beside */
    WIRE_END,        /* end it */
    WIRE_HAS,        /* ask whether the destination has that layer, the one at `number` of its
                        image: number, 0 or 1 */
    WIRE_IMAGE,      /* add an image to those to publish, or an index of those before it */
    WIRE_PUBLISH,    /* publish all of these */
    WIRE_STILL,      /* ask whether the daemon still has source `number`, whose tree was walked */
    WIRE_TREE,       /* make the directory to unpack to: fd, for the tree (wire_tree.h) */
    WIRE_TREE_END,   /* wait until all of it is there: number, of what only root can make and was
                        left out; fd, of a walk of the directory (wire_entry.h) */
    WIRE_TREE_NAME,  /* publish the directory */
    WIRE_DONE,       /* end: exit status, or an error; no reply */
};

enum { WIRE_BESIDE = 2 };

enum {
    WIRE_MOST_SOURCES = 64,
    WIRE_MOST_STATUS = 4, /* the greatest exit status that is no error */
    WIRE_MOST_BLOBS = 4096,
    WIRE_MOST_IMAGES = 256, /* to publish; an image with two names counts twice */
    WIRE_MOST_DOCUMENT = 2 * IMAGE_JSON_LIMIT, /* a config or manifest, new or old; bytes */
    WIRE_MOST_TEXT = 1023,
    WIRE_MOST_MESSAGE = 2 * WIRE_MOST_DOCUMENT + (1 << 21), /* bytes */
};

/* A request. Fields that its operation does not use are zero. */
struct wire_request {
    enum wire_op op;
    uint64_t number;
    enum oci_file file;
    struct blob_request *blobs; /* WIRE_BLOBS; owned by a decoded request; all of one role */
    size_t blob_count;
    struct written_layer layer;   /* WIRE_END, WIRE_HAS */
    struct sink_image image;      /* WIRE_IMAGE */
    struct written_layer *layers; /* owned: image.layers points to it */
    int status;                   /* WIRE_DONE: exit status, or -1 and err */
    struct err err;
};

struct wire_reply {
    bool failed; /* err says why, and number is the blob that failed */
    struct err err;
    uint64_t number, offset, size;
    bool regular;                                     /* see struct source_archive */
    struct digest root;                               /* "": none */
    const char *root_type, *name, *os, *architecture; /* may be NULL */
    const char *why;                                  /* see struct source_daemon */
    const char *data;
    size_t len;
};

/* ---- pure ---- */

/* Appends the fields of the message. Memory that runs out shows in buf_check. */
void wire_encode_request(const struct wire_request *request, struct buf *out);
/* The same for a reply. */
void wire_encode_reply(const struct wire_reply *reply, struct buf *out);

/*
 * Decodes a request. ERR_FORMAT for one that no encoder writes. Texts and data point into
 * `message`; wire_request_clear frees the arrays of a request, also after a failure.
 */
int wire_decode_request(const struct buf *message, struct wire_request *out,
                        struct err *err) must_check;
/* The same for a reply, which has no arrays. */
int wire_decode_reply(const struct buf *message, struct wire_reply *out,
                      struct err *err) must_check;
/* Frees the arrays of a decoded request. */
void wire_request_clear(struct wire_request *request);

#define _cleanup_wire_request_ _cleanup_(wire_request_clear)

/* ---- the socket ---- */

/* Makes a pair of sockets, which the caller closes. */
int wire_pair(int out[2], struct err *err) must_check;

/*
 * Sends a message with a descriptor, which is borrowed; -1: none. ERR_LIMIT for more than
 * WIRE_MOST_MESSAGE bytes.
 */
int wire_send(int socket, const struct buf *message, int fd, struct err *err) must_check;

/*
 * Receives a message. Returns 1, 0 when the other side is gone, or -1. *fd becomes the caller's, -1
 * without one; if `fd` is NULL, a descriptor in the message is an error. A signal that ends flatten
 * ends the call, too.
 */
int wire_receive(int socket, struct buf *out, int *fd, struct err *err) must_check;

#endif

/* The state of a keeper, and the requests that keeper_serve.c has in other sources. */
#ifndef FLATTEN_KEEPER_INTERNAL_H
#define FLATTEN_KEEPER_INTERNAL_H

#include "flatten/keeper/keeper.h"
#include "flatten/keeper/sink/digest_list.h"
#include "flatten/keeper/tree/tree_unpack.h"
#include "flatten/wire/wire.h"

struct pending {
    struct wire_request request; /* its texts point into `message` */
    struct buf message;
};

struct keeper {
    const struct keeper_task *task;
    int socket;
    struct source *sources[WIRE_MOST_SOURCES];
    bool asked[WIRE_MOST_SOURCES];
    size_t spools;
    struct sink *sink;
    struct tree_unpack *tree;
    unsigned begun; /* layers, and not ended */
    enum keeper_published published;
    struct digest_list layers;               /* those that the destination has */
    struct pending images[WIRE_MOST_IMAGES]; /* to publish */
    size_t image_count, image_bytes;
    struct blob_place *places; /* to be sent after the reply */
    size_t place_count;
    int status; /* with which the reader ended */
    bool done;
};

/* The result of a handler: a reply, and the descriptor that goes with it. */
struct outcome {
    struct wire_reply reply;
    struct buf data; /* holds reply.data, if the handler made it */
    int fd;          /* to send; -1 without one */
    bool close;      /* fd is closed then: nobody else owns it */
};

typedef int keeper_handler(struct keeper *k, struct pending *p, struct outcome *out,
                           struct err *err);

/* Ends the run with an error: the reader gets no reply. Returns -1. */
int keeper_breach(struct keeper *k, struct err *err, const char *what);

/* Checks, before something is published, that all sources have come whole. */
int keeper_settle_sources(struct keeper *k, struct err *err) must_check;

/* Requests for a tree (keeper_tree.c): WIRE_TREE, WIRE_TREE_END, WIRE_TREE_NAME. */
keeper_handler keeper_on_tree, keeper_on_tree_end, keeper_on_tree_name;

#endif

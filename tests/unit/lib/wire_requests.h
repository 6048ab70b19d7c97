/* A request of each kind, for the tests of the wire and the keeper. */
#ifndef TESTS_WIRE_REQUESTS_H
#define TESTS_WIRE_REQUESTS_H

#include "flatten/wire/wire.h"

#define WIRE_ONES "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define WIRE_TWOS "sha256:2222222222222222222222222222222222222222222222222222222222222222"

static inline struct written_layer wire_sample_layer(void)
{
    return (struct written_layer){{WIRE_ONES}, {WIRE_TWOS}, 12345, 67890, COMPRESSION_ZSTD};
}

/* All of them: op 1 to WIRE_DONE. Arrays are static. */
static inline struct wire_request wire_sample(enum wire_op op)
{
    static struct blob_request blobs[] = {
        {BLOB_LAYER, {WIRE_ONES}, 7, "application/vnd.oci.image.layer.v1.tar"},
        {BLOB_LAYER, {WIRE_TWOS}, UINT64_MAX, NULL}};
    static struct written_layer layers[2];
    struct wire_request r = {.op = op};

    layers[0] = layers[1] = wire_sample_layer();
    switch (op) {
    case WIRE_FILE:
        r.file = LAYOUT_INDEX_JSON;
        break;
    case WIRE_SOURCE:
    case WIRE_DIFF_IDS:
    case WIRE_STILL:
        r.number = 1;
        break;
    case WIRE_BLOBS:
        r.blobs = blobs;
        r.blob_count = 2;
        break;
    case WIRE_END:
    case WIRE_HAS:
        r.layer = layers[0];
        break;
    case WIRE_IMAGE:
        r.image = (struct sink_image){.name = "name:tag",
                                      .inner = true,
                                      .config = {{WIRE_ONES}, "{}", 2},
                                      .manifest = {{WIRE_TWOS}, "{\"a\":1}", 7},
                                      .layers = layers,
                                      .layer_count = 2};
        break;
    case WIRE_DONE:
        r.status = -1;
        r.err = (struct err){.kind = ERR_SYSTEM, .sys = 5, .msg = "what went wrong"};
        break;
    case WIRE_SPOOL:
    case WIRE_SINK:
    case WIRE_BEGIN:
    case WIRE_PUBLISH:
    case WIRE_TREE:
    case WIRE_TREE_END:
    case WIRE_TREE_NAME:
        break;
    }
    return r;
}

/* The other form of a WIRE_IMAGE. */
static inline struct wire_request wire_sample_index(void)
{
    return (struct wire_request){
        .op = WIRE_IMAGE,
        .image = {.name = "name:tag", .is_index = true, .manifest = {{WIRE_ONES}, "[]", 2}}};
}

#endif

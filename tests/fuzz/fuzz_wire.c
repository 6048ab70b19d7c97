/*
 * Messages of a compromised reader: a decoded message is in bounds, and encodes to the bytes that
 * it came from.
 */
#include "flatten/wire/wire.h"
#include "fuzz.h"

#include <string.h>

static void check_digest(const struct digest *digest)
{
    struct digest again;
    struct err err = ERR_INIT;

    must(digest_parse(digest->text, &again, &err) == 0);
}

static void check_blob(const struct blob *b)
{
    must(b->data && b->len <= WIRE_MOST_DOCUMENT && b->data[b->len] == '\0');
    check_digest(&b->digest);
}

static void check(const struct wire_request *r)
{
    must(r->op >= WIRE_SOURCE && r->op <= WIRE_DONE);
    if (r->op == WIRE_HAS)
        must(r->number <= WIRE_MOST_BLOBS);
    else
        must(r->number < WIRE_MOST_SOURCES);
    must(r->status >= -1 && r->status <= WIRE_MOST_STATUS);
    for (size_t i = 0; i < r->blob_count; i++) {
        check_digest(&r->blobs[i].digest);
        must(r->blobs[i].role == r->blobs[0].role && r->blobs[i].role <= BLOB_LAYER);
    }
    for (size_t i = 0; i < r->image.layer_count; i++) {
        check_digest(&r->image.layers[i].digest);
        check_digest(&r->image.layers[i].diff_id);
    }
    if (r->op == WIRE_IMAGE && !r->image.is_index)
        check_blob(&r->image.config);
    if (r->op == WIRE_IMAGE)
        check_blob(&r->image.manifest);
    if (r->image.name)
        must(strlen(r->image.name) <= WIRE_MOST_TEXT && !strchr(r->image.name, '\n'));
    if (r->op == WIRE_DONE && r->status < 0)
        must(r->err.kind > ERR_NONE && r->err.kind <= ERR_POLICY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct buf message = {.data = (char *)(uintptr_t)data, .len = size};
    _cleanup_wire_request_ struct wire_request request;
    _cleanup_buf_ struct buf again = BUF_INIT;
    struct err err = ERR_INIT;

    if (wire_decode_request(&message, &request, &err) < 0) {
        must(err.kind == ERR_FORMAT);
        return 0;
    }
    check(&request);
    wire_encode_request(&request, &again);
    must(again.len == size && memcmp(again.data, data, size) == 0);
    return 0;
}

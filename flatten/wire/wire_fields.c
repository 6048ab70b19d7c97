#include "flatten/wire/wire.h"

#include "base/utf8.h"

#include <string.h>

/* Encoding and decoding are one walk over the fields, so that they cannot differ. */
struct walk {
    struct buf *out; /* where fields are written; NULL: they are read */
    const char *at;
    size_t left;
    bool bad;
};

static const char *walk_take(struct walk *w, size_t len)
{
    const char *at = w->at;

    if (w->bad || len > w->left) {
        w->bad = true;
        return NULL;
    }
    w->at += len;
    w->left -= len;
    return at;
}

static void walk_number(struct walk *w, uint64_t *value, uint64_t most)
{
    const char *at;

    if (w->out) {
        buf_append(w->out, value, sizeof(*value));
        return;
    }
    if (!(at = walk_take(w, sizeof(*value))))
        return;
    memcpy(value, at, sizeof(*value));
    if (*value > most) {
        *value = 0;
        w->bad = true;
    }
}

static uint64_t walk_small(struct walk *w, uint64_t value, uint64_t most)
{
    walk_number(w, &value, most);
    return w->bad && !w->out ? 0 : value;
}

static void walk_flag(struct walk *w, bool *value)
{
    *value = walk_small(w, *value, 1);
}

/* Bytes, and a NUL behind them. */
static void walk_bytes(struct walk *w, const char **data, size_t *len, size_t most)
{
    uint64_t size = walk_small(w, *len, most);

    if (w->out) {
        buf_append(w->out, size ? *data : "", (size_t)size);
        buf_putc(w->out, '\0');
        return;
    }
    *data = walk_take(w, (size_t)size + 1);
    *len = (size_t)size;
    if (*data && (*data)[size] != '\0')
        w->bad = true;
    if (w->bad)
        *data = NULL, *len = 0;
}

static void walk_text(struct walk *w, const char **value)
{
    bool has = *value != NULL;
    size_t len = has && w->out ? strnlen(*value, WIRE_MOST_TEXT) : 0;

    walk_flag(w, &has);
    if (!has) {
        *value = NULL;
        return;
    }
    walk_bytes(w, value, &len, WIRE_MOST_TEXT);
    if (!w->out && *value && memchr(*value, '\0', len)) {
        *value = NULL;
        w->bad = true;
    }
}

/* `none`: the digest may be "". */
static void walk_digest(struct walk *w, struct digest *value, bool none)
{
    static const struct digest empty;
    struct err ignored = ERR_INIT;
    const char *at;

    if (w->out) {
        buf_append(w->out, value->text, sizeof(value->text));
        return;
    }
    if (!(at = walk_take(w, sizeof(value->text))))
        return;
    if (none && memcmp(at, empty.text, sizeof(empty.text)) == 0)
        *value = empty;
    else if (at[sizeof(value->text) - 1] != '\0' || digest_parse(at, value, &ignored) < 0)
        w->bad = true;
}

static void walk_layer(struct walk *w, struct written_layer *l)
{
    walk_digest(w, &l->diff_id, false);
    walk_digest(w, &l->digest, false);
    walk_number(w, &l->size, INT64_MAX);
    walk_number(w, &l->tar_size, INT64_MAX);
    l->kind = (enum compression)walk_small(w, l->kind, COMPRESSION_ZSTD);
}

/*
 * Returns room for `count` elements. Each takes at least a byte of the message, which bounds them.
 */
static void *walk_room(struct walk *w, size_t count, size_t size)
{
    void *list = count <= w->left ? calloc(count + 1, size) : NULL;

    if (!list)
        w->bad = true;
    return list;
}

static void walk_blobs(struct walk *w, struct wire_request *r)
{
    uint64_t role = r->blob_count ? r->blobs[0].role : BLOB_MANIFEST;

    walk_number(w, &role, BLOB_LAYER);
    r->blob_count = (size_t)walk_small(w, r->blob_count, WIRE_MOST_BLOBS);
    if (!w->out && (w->bad || !(r->blobs = walk_room(w, r->blob_count, sizeof(*r->blobs)))))
        return;
    for (size_t i = 0; i < r->blob_count && !w->bad; i++) {
        r->blobs[i].role = (enum blob_role)role;
        walk_digest(w, &r->blobs[i].digest, false);
        walk_number(w, &r->blobs[i].size, UINT64_MAX); /* as the descriptor says */
        walk_text(w, &r->blobs[i].media_type);
    }
    if (!w->out && (r->blob_count == 0 || (role != BLOB_LAYER && r->blob_count > 1)))
        w->bad = true;
}

static void walk_blob(struct walk *w, struct blob *b)
{
    walk_digest(w, &b->digest, false);
    walk_bytes(w, &b->data, &b->len, WIRE_MOST_DOCUMENT);
}

/* A name goes into documents and messages: it is UTF-8 without control characters. */
static void walk_name(struct walk *w, const char **value)
{
    walk_text(w, value);
    if (w->out || !*value)
        return;
    for (const char *c = *value; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            w->bad = true;
    if (w->bad || !utf8_valid(*value, strlen(*value))) {
        *value = NULL;
        w->bad = true;
    }
}

static void walk_image(struct walk *w, struct wire_request *r)
{
    struct sink_image *image = &r->image;

    walk_name(w, &image->name);
    walk_flag(w, &image->inner);
    walk_flag(w, &image->is_index);
    walk_blob(w, &image->manifest);
    if (image->is_index)
        return;
    walk_blob(w, &image->config);
    image->layer_count = (size_t)walk_small(w, image->layer_count, WIRE_MOST_BLOBS);
    if (!w->out) {
        if (w->bad || !(r->layers = walk_room(w, image->layer_count, sizeof(*r->layers))))
            return;
        image->layers = r->layers;
    }
    for (size_t i = 0; i < image->layer_count && !w->bad; i++) {
        struct written_layer one = image->layers[i];
        walk_layer(w, &one);
        if (!w->out)
            r->layers[i] = one;
    }
}

static void walk_error(struct walk *w, struct err *err)
{
    enum { MOST_ERRNO = 4095 };
    const char *message = err->msg;

    err->kind = (enum err_kind)walk_small(w, err->kind, ERR_POLICY);
    err->sys = (int)walk_small(w, (uint64_t)(err->sys > 0 ? err->sys : 0), MOST_ERRNO);
    walk_text(w, &message);
    if (!w->out && message)
        snprintf(err->msg, sizeof(err->msg), "%s", message);
    if (!w->out && (!message || err->kind == ERR_NONE))
        w->bad = true;
}

static void walk_done(struct walk *w, struct wire_request *r)
{
    int above = r->status + 1;

    r->status = (int)walk_small(w, (uint64_t)above, WIRE_MOST_STATUS + 1) - 1;
    if (r->status < 0)
        walk_error(w, &r->err);
}

static void walk_request(struct walk *w, struct wire_request *r)
{
    r->op = (enum wire_op)walk_small(w, r->op, WIRE_DONE);
    switch (r->op) {
    case WIRE_SOURCE:
    case WIRE_DIFF_IDS:
    case WIRE_STILL:
    case WIRE_FILE:
    case WIRE_BLOBS:
        walk_number(w, &r->number, WIRE_MOST_SOURCES - 1);
        if (r->op == WIRE_FILE)
            r->file = (enum oci_file)walk_small(w, r->file, LAYOUT_INDEX_JSON);
        else if (r->op == WIRE_BLOBS)
            walk_blobs(w, r);
        return;
    case WIRE_BEGIN:
        walk_number(w, &r->number, WIRE_BESIDE);
        return;
    case WIRE_SPOOL:
    case WIRE_SINK:
    case WIRE_PUBLISH:
    case WIRE_TREE:
    case WIRE_TREE_END:
    case WIRE_TREE_NAME:
        return;
    case WIRE_HAS:
        walk_number(w, &r->number, WIRE_MOST_BLOBS);
        walk_layer(w, &r->layer);
        return;
    case WIRE_END:
        walk_layer(w, &r->layer);
        return;
    case WIRE_IMAGE:
        walk_image(w, r);
        return;
    case WIRE_DONE:
        walk_done(w, r);
        return;
    }
    w->bad = true;
}

static void walk_reply(struct walk *w, struct wire_reply *r)
{
    walk_flag(w, &r->failed);
    walk_number(w, &r->number, UINT32_MAX);
    if (r->failed) {
        walk_error(w, &r->err);
        return;
    }
    walk_number(w, &r->offset, INT64_MAX);
    walk_number(w, &r->size, INT64_MAX);
    walk_flag(w, &r->regular);
    walk_digest(w, &r->root, true);
    walk_text(w, &r->root_type);
    walk_text(w, &r->name);
    walk_text(w, &r->os);
    walk_text(w, &r->architecture);
    walk_text(w, &r->why);
    walk_bytes(w, &r->data, &r->len, WIRE_MOST_DOCUMENT);
}

void wire_encode_request(const struct wire_request *r, struct buf *out)
{
    struct walk w = {.out = out};
    struct wire_request copy = *r;

    walk_request(&w, &copy);
}

void wire_encode_reply(const struct wire_reply *r, struct buf *out)
{
    struct walk w = {.out = out};
    struct wire_reply copy = *r;

    walk_reply(&w, &copy);
}

static int walk_end(const struct walk *w, struct err *err)
{
    return w->bad || w->left ? err_set(err, ERR_FORMAT, "a malformed message") : 0;
}

int wire_decode_request(const struct buf *message, struct wire_request *out, struct err *err)
{
    struct walk w = {.at = message->data, .left = message->len};

    *out = (struct wire_request){0};
    walk_request(&w, out);
    return walk_end(&w, err);
}

int wire_decode_reply(const struct buf *message, struct wire_reply *out, struct err *err)
{
    struct walk w = {.at = message->data, .left = message->len};

    *out = (struct wire_reply){0};
    walk_reply(&w, out);
    return walk_end(&w, err);
}

void wire_request_clear(struct wire_request *r)
{
    free(r->blobs);
    free(r->layers);
}

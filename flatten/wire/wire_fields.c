#include "flatten/wire/wire.h"

#include "base/utf8.h"

#include <string.h>

/*
 * Both directions are one walk over the fields: what is written and what is read cannot part.
 */
struct walk {
    struct buf *out; /* writing; NULL: reading */
    const char *at;
    size_t left;
    bool bad;
};

static const char *take(struct walk *w, size_t len)
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

static void number(struct walk *w, uint64_t *value, uint64_t most)
{
    const char *at;

    if (w->out) {
        buf_append(w->out, value, sizeof(*value));
        return;
    }
    if (!(at = take(w, sizeof(*value))))
        return;
    memcpy(value, at, sizeof(*value));
    if (*value > most) {
        *value = 0;
        w->bad = true;
    }
}

static uint64_t small(struct walk *w, uint64_t value, uint64_t most)
{
    number(w, &value, most);
    return w->bad && !w->out ? 0 : value;
}

static void flag(struct walk *w, bool *value)
{
    *value = small(w, *value, 1);
}

/* With a NUL behind it. */
static void bytes(struct walk *w, const char **data, size_t *len, size_t most)
{
    uint64_t size = small(w, *len, most);

    if (w->out) {
        buf_append(w->out, size ? *data : "", (size_t)size);
        buf_putc(w->out, '\0');
        return;
    }
    *data = take(w, (size_t)size + 1);
    *len = (size_t)size;
    if (*data && (*data)[size] != '\0')
        w->bad = true;
    if (w->bad)
        *data = NULL, *len = 0;
}

static void text(struct walk *w, const char **value)
{
    bool has = *value != NULL;
    size_t len = has && w->out ? strnlen(*value, WIRE_MOST_TEXT) : 0;

    flag(w, &has);
    if (!has) {
        *value = NULL;
        return;
    }
    bytes(w, value, &len, WIRE_MOST_TEXT);
    if (!w->out && *value && memchr(*value, '\0', len)) {
        *value = NULL;
        w->bad = true;
    }
}

/* `none`: may be empty. */
static void digest(struct walk *w, struct digest *value, bool none)
{
    static const struct digest empty;
    struct err ignored = ERR_INIT;
    const char *at;

    if (w->out) {
        buf_append(w->out, value->text, sizeof(value->text));
        return;
    }
    if (!(at = take(w, sizeof(value->text))))
        return;
    if (none && memcmp(at, empty.text, sizeof(empty.text)) == 0)
        *value = empty;
    else if (at[sizeof(value->text) - 1] != '\0' || digest_parse(at, value, &ignored) < 0)
        w->bad = true;
}

static void layer(struct walk *w, struct written_layer *l)
{
    digest(w, &l->diff_id, false);
    digest(w, &l->digest, false);
    number(w, &l->size, INT64_MAX);
    number(w, &l->tar_size, INT64_MAX);
    l->kind = (enum compression)small(w, l->kind, COMPRESSION_ZSTD);
}

/* Room for `count` of what is read, of which the message has at least a byte each. */
static void *room(struct walk *w, size_t count, size_t size)
{
    void *list = count <= w->left ? calloc(count + 1, size) : NULL;

    if (!list)
        w->bad = true;
    return list;
}

static void blobs(struct walk *w, struct wire_request *r)
{
    uint64_t role = r->blob_count ? r->blobs[0].role : BLOB_MANIFEST;

    number(w, &role, BLOB_LAYER);
    r->blob_count = (size_t)small(w, r->blob_count, WIRE_MOST_BLOBS);
    if (!w->out && (w->bad || !(r->blobs = room(w, r->blob_count, sizeof(*r->blobs)))))
        return;
    for (size_t i = 0; i < r->blob_count && !w->bad; i++) {
        r->blobs[i].role = (enum blob_role)role;
        digest(w, &r->blobs[i].digest, false);
        number(w, &r->blobs[i].size, UINT64_MAX); /* as the descriptor says */
        text(w, &r->blobs[i].media_type);
    }
    if (!w->out && (r->blob_count == 0 || (role != BLOB_LAYER && r->blob_count > 1)))
        w->bad = true;
}

static void blob(struct walk *w, struct blob *b)
{
    digest(w, &b->digest, false);
    bytes(w, &b->data, &b->len, WIRE_MOST_DOCUMENT);
}

/* A name goes into documents and messages: words of one line. */
static void name(struct walk *w, const char **value)
{
    text(w, value);
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

static void image(struct walk *w, struct wire_request *r)
{
    struct sink_image *image = &r->image;

    name(w, &image->name);
    flag(w, &image->inner);
    flag(w, &image->is_index);
    blob(w, &image->manifest);
    if (image->is_index)
        return;
    blob(w, &image->config);
    image->layer_count = (size_t)small(w, image->layer_count, WIRE_MOST_BLOBS);
    if (!w->out) {
        if (w->bad || !(r->layers = room(w, image->layer_count, sizeof(*r->layers))))
            return;
        image->layers = r->layers;
    }
    for (size_t i = 0; i < image->layer_count && !w->bad; i++) {
        struct written_layer one = image->layers[i];
        layer(w, &one);
        if (!w->out)
            r->layers[i] = one;
    }
}

static void error(struct walk *w, struct err *err)
{
    enum { MOST_ERRNO = 4095 };
    const char *message = err->msg;

    err->kind = (enum err_kind)small(w, err->kind, ERR_POLICY);
    err->sys = (int)small(w, (uint64_t)(err->sys > 0 ? err->sys : 0), MOST_ERRNO);
    text(w, &message);
    if (!w->out && message)
        snprintf(err->msg, sizeof(err->msg), "%s", message);
    if (!w->out && (!message || err->kind == ERR_NONE))
        w->bad = true;
}

static void done(struct walk *w, struct wire_request *r)
{
    int above = r->status + 1;

    r->status = (int)small(w, (uint64_t)above, WIRE_MOST_STATUS + 1) - 1;
    if (r->status < 0)
        error(w, &r->err);
}

static void request(struct walk *w, struct wire_request *r)
{
    r->op = (enum wire_op)small(w, r->op, WIRE_DONE);
    switch (r->op) {
    case WIRE_SOURCE:
    case WIRE_DIFF_IDS:
    case WIRE_FILE:
    case WIRE_BLOBS:
        number(w, &r->number, WIRE_MOST_SOURCES - 1);
        if (r->op == WIRE_FILE)
            r->file = (enum layout_file)small(w, r->file, LAYOUT_INDEX_JSON);
        else if (r->op == WIRE_BLOBS)
            blobs(w, r);
        return;
    case WIRE_SPOOL:
    case WIRE_SINK:
    case WIRE_BEGIN:
    case WIRE_PUBLISH:
        return;
    case WIRE_END:
    case WIRE_HAS:
        layer(w, &r->layer);
        return;
    case WIRE_IMAGE:
        image(w, r);
        return;
    case WIRE_DONE:
        done(w, r);
        return;
    }
    w->bad = true;
}

static void reply(struct walk *w, struct wire_reply *r)
{
    flag(w, &r->failed);
    number(w, &r->number, UINT32_MAX);
    if (r->failed) {
        error(w, &r->err);
        return;
    }
    number(w, &r->offset, INT64_MAX);
    number(w, &r->size, INT64_MAX);
    flag(w, &r->regular);
    digest(w, &r->root, true);
    text(w, &r->root_type);
    text(w, &r->name);
    text(w, &r->os);
    text(w, &r->architecture);
    bytes(w, &r->data, &r->len, WIRE_MOST_DOCUMENT);
}

void wire_encode_request(const struct wire_request *r, struct buf *out)
{
    struct walk w = {.out = out};
    struct wire_request copy = *r;

    request(&w, &copy);
}

void wire_encode_reply(const struct wire_reply *r, struct buf *out)
{
    struct walk w = {.out = out};
    struct wire_reply copy = *r;

    reply(&w, &copy);
}

static int finish(const struct walk *w, struct err *err)
{
    return w->bad || w->left ? err_set(err, ERR_FORMAT, "a malformed message") : 0;
}

int wire_decode_request(const struct buf *message, struct wire_request *out, struct err *err)
{
    struct walk w = {.at = message->data, .left = message->len};

    *out = (struct wire_request){0};
    request(&w, out);
    return finish(&w, err);
}

int wire_decode_reply(const struct buf *message, struct wire_reply *out, struct err *err)
{
    struct walk w = {.at = message->data, .left = message->len};

    *out = (struct wire_reply){0};
    reply(&w, out);
    return finish(&w, err);
}

void wire_request_clear(struct wire_request *r)
{
    free(r->blobs);
    free(r->layers);
}

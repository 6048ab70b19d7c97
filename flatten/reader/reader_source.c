#include "flatten/reader/reader_internal.h"

#include <string.h>

/* ---- blobs ---- */

struct remote_store {
    struct blob_store base;
    struct reader *reader;
    size_t which;
};

/* The places come one by one; from where it fails, they are given back. */
static int take_places(struct reader *r, size_t count, struct blob_place *out, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        _cleanup_answer_ struct answer a = ANSWER_INIT;
        int fd = reader_next(r, &a, err) < 0 ? -1 : answer_fd(&a, err);
        if (fd < 0) {
            while (i-- > 0)
                cleanup_fd(&out[i].fd);
            return -1;
        }
        out[i] = (struct blob_place){fd, (off_t)a.reply.offset, a.reply.size};
    }
    return 0;
}

static int open_blobs(struct blob_store *base, const struct blob_request *requests, size_t count,
                      struct blob_place *out, size_t *failed, struct err *err)
{
    const struct remote_store *s = (const struct remote_store *)base;
    const struct wire_request request = {.op = WIRE_BLOBS,
                                         .number = s->which,
                                         .blobs = (struct blob_request *)(uintptr_t)requests,
                                         .blob_count = count};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    *failed = 0;
    if (count > WIRE_MOST_BLOBS)
        return err_set(err, ERR_LIMIT, "more than %d layers", WIRE_MOST_BLOBS);
    if (reader_ask(s->reader, &request, &a, err) == 0)
        return take_places(s->reader, count, out, err);
    *failed = a.reply.number < count ? (size_t)a.reply.number : 0;
    return -1;
}

static int read_file(struct blob_store *base, const char *name, size_t limit, struct buf *out,
                     struct err *err)
{
    const struct remote_store *s = (const struct remote_store *)base;
    const struct wire_request request = {.op = WIRE_FILE,
                                         .number = s->which,
                                         .file = strcmp(name, "index.json") == 0 ? WIRE_INDEX_JSON
                                                                                 : WIRE_OCI_LAYOUT};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    if (reader_ask(s->reader, &request, &a, err) < 0)
        return -1;
    if (a.reply.len > limit)
        return err_set(err, ERR_LIMIT, "%s: more than %zu bytes", name, limit);
    buf_append(out, a.reply.data, a.reply.len);
    return buf_check(out, err);
}

static void release(struct blob_store *base)
{
    free(base);
}

static struct blob_store *remote_store(struct reader *r, size_t which, struct err *err)
{
    static const struct blob_store_ops ops = {open_blobs, read_file, release};
    struct remote_store *s = malloc(sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    *s = (struct remote_store){{.ops = &ops}, r, which};
    return &s->base;
}

/* ---- the source ---- */

static int spool(void *ctx, struct err *err)
{
    struct reader *r = ctx;
    const struct wire_request request = {.op = WIRE_SPOOL};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    return reader_ask(r, &request, &a, err) < 0 ? -1 : answer_fd(&a, err);
}

static int copy_text(const char *text, char **out, struct err *err)
{
    if (text && !(*out = strdup(text)))
        return err_nomem(err);
    return 0;
}

static bool has_store(enum transport transport)
{
    return transport == TRANSPORT_OCI || transport == TRANSPORT_REGISTRY;
}

static int fill(struct source *s, struct answer *a, struct err *err)
{
    const struct wire_reply *reply = &a->reply;

    s->regular = reply->regular;
    s->root = reply->root;
    s->root_size = reply->size;
    if (copy_text(reply->root_type, &s->root_type, err) < 0 ||
        copy_text(reply->name, &s->name, err) < 0 || copy_text(reply->os, &s->os, err) < 0 ||
        copy_text(reply->architecture, &s->architecture, err) < 0)
        return -1;
    if (has_store(s->ref->transport))
        return 0;
    s->fd = answer_fd(a, err);
    return s->fd < 0 ? -1 : 0;
}

struct source *reader_source(struct reader *r, size_t which, struct err *err)
{
    const struct wire_request request = {.op = WIRE_SOURCE, .number = which};
    _cleanup_answer_ struct answer a = ANSWER_INIT;
    _cleanup_source_ struct source *s = calloc(1, sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    s->fd = -1;
    s->ref = &r->task->sources[which];
    s->spool = spool;
    s->spool_ctx = r;
    if (has_store(s->ref->transport) && !(s->store = remote_store(r, which, err)))
        return NULL;
    if (reader_ask(r, &request, &a, err) < 0 || fill(s, &a, err) < 0)
        return NULL;
    return steal_ptr(&s);
}

/* ---- what the daemon says of layers ---- */

struct image *reader_diff_ids(struct reader *r, size_t which, struct err *err)
{
    const struct wire_request request = {.op = WIRE_DIFF_IDS, .number = which};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    if (reader_ask(r, &request, &a, err) < 0)
        return NULL;
    size_t count = a.reply.len / DIGEST_SIZE;
    _cleanup_image_ struct image *image = calloc(1, sizeof(*image));
    if (!image || !(image->layers = calloc(count + 1, sizeof(*image->layers)))) {
        err_nomem(err);
        return NULL;
    }
    for (; image->layer_count < count; image->layer_count++) {
        struct layer *layer = &image->layers[image->layer_count];
        *layer = (struct layer){.number = (unsigned)image->layer_count + 1, .fd = -1};
        if (digest_parse(a.reply.data + image->layer_count * DIGEST_SIZE, &layer->diff_id, err) < 0)
            return NULL;
    }
    return steal_ptr(&image);
}

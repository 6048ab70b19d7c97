#include "flatten/reader/reader_internal.h"

#include "flatten/image/image.h"

#include <string.h>

/* ---- blobs ---- */

struct remote_store {
    struct blob_store base;
    struct reader *reader;
    size_t which;
};

static int take_place(struct reader *r, size_t count, struct arrival *arrival,
                      struct blob_place *out, struct err *err)
{
    _cleanup_answer_ struct answer a = ANSWER_INIT;
    int fd = reader_next(r, &a, err) < 0 ? -1 : answer_fd(&a, err);

    if (fd < 0)
        return -1;
    *out = (struct blob_place){fd, (off_t)a.reply.offset, a.reply.size, {arrival_ref(arrival), 0}};
    if (a.reply.number < count)
        out->arriving.blob = (size_t)a.reply.number;
    return 0;
}

/*
 * Receives the places one by one. After a failure those that came are closed. `arrival` is
 * borrowed, and NULL if all blobs are there.
 */
static int take_places(struct reader *r, size_t count, struct arrival *arrival,
                       struct blob_place *out, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (take_place(r, count, arrival, &out[i], err) == 0)
            continue;
        blob_places_close(out, i);
        return -1;
    }
    return 0;
}

/* Takes the page that tells how far the blobs have come, if there is one. */
static int take_arrival(const struct answer *a, size_t count, struct arrival **out, struct err *err)
{
    return a->fd < 0 || (*out = arrival_open(a->fd, count, err)) ? 0 : -1;
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
    _cleanup_arrival_ struct arrival *arrival = NULL;

    *failed = 0;
    if (count > WIRE_MOST_BLOBS)
        return err_set(err, ERR_LIMIT, "more than %d layers", WIRE_MOST_BLOBS);
    if (reader_ask(s->reader, &request, &a, err) == 0)
        return take_arrival(&a, count, &arrival, err) < 0
                   ? -1
                   : take_places(s->reader, count, arrival, out, err);
    *failed = a.reply.number < count ? (size_t)a.reply.number : count;
    return -1;
}

static int read_layout_file(struct blob_store *base, enum oci_file file, struct buf *out,
                            struct err *err)
{
    const struct remote_store *s = (const struct remote_store *)base;
    const struct wire_request request = {.op = WIRE_FILE, .number = s->which, .file = file};
    const struct layout_file_rule *rule = &layout_files[file];
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    if (reader_ask(s->reader, &request, &a, err) < 0)
        return -1;
    if (a.reply.len > rule->limit)
        return err_set(err, ERR_LIMIT, "%s: more than %zu bytes", rule->name, rule->limit);
    buf_append(out, a.reply.data, a.reply.len);
    return buf_check(out, err);
}

static void release_store(struct blob_store *base)
{
    free(base);
}

static struct blob_store *remote_store(struct reader *r, size_t which, struct err *err)
{
    static const struct blob_store_ops ops = {
        .open_all = open_blobs, .read = read_layout_file, .release = release_store};
    struct remote_store *s = malloc(sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    *s = (struct remote_store){{.ops = &ops}, r, which};
    return &s->base;
}

/* ---- the source ---- */

int reader_temporary_file(struct reader *r, struct err *err)
{
    const struct wire_request request = {.op = WIRE_SPOOL};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    return reader_ask(r, &request, &a, err) < 0 ? -1 : answer_fd(&a, err);
}

static int spool_from_keeper(void *ctx, struct err *err)
{
    return reader_temporary_file(ctx, err);
}

static int copy_text(const char *text, char **out, struct err *err)
{
    if (text && !(*out = strdup(text)))
        return err_nomem(err);
    return 0;
}

static int fill_registry(struct source_registry *out, const struct wire_reply *reply,
                         struct err *err)
{
    out->root = reply->root;
    out->root_size = reply->size;
    return copy_text(reply->root_type, &out->root_type, err) < 0 ||
                   copy_text(reply->name, &out->name, err) < 0
               ? -1
               : 0;
}

static int ask_still(void *ctx, size_t number, struct err *err)
{
    const struct wire_request request = {.op = WIRE_STILL, .number = number};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    return reader_ask(ctx, &request, &a, err);
}

static int fill_daemon(struct source_daemon *out, struct answer *a, struct reader *r, size_t which,
                       struct err *err)
{
    const struct wire_reply *reply = &a->reply;

    out->size = reply->size;
    out->still = ask_still;
    out->still_ctx = r;
    out->number = which;
    out->apart = r->task->walk == WALK_LAYERS;
    buf_append(&out->config, reply->data, reply->len);
    if (buf_check(&out->config, err) < 0 || copy_text(reply->why, &out->why, err) < 0)
        return -1;
    if (copy_text(reply->name, &out->name, err) < 0 || copy_text(reply->os, &out->os, err) < 0 ||
        copy_text(reply->architecture, &out->architecture, err) < 0)
        return -1;
    if (reply->root.text[0]) {
        out->blobs = (struct source_registry){
            .store = remote_store(r, which, err), .root = reply->root, .root_size = reply->size};
        return out->blobs.store ? 0 : -1;
    }
    out->fd = answer_fd(a, err);
    return out->fd < 0 ? -1 : 0;
}

static int fill_archive(struct source_archive *out, struct answer *a, struct reader *r,
                        struct err *err)
{
    out->regular = a->reply.regular;
    out->spool = spool_from_keeper;
    out->spool_ctx = r;
    out->fd = answer_fd(a, err);
    return out->fd < 0 ? -1 : 0;
}

static int fill_source(struct source *s, struct answer *a, struct reader *r, size_t which,
                       struct err *err)
{
    switch (s->ref->transport) {
    case TRANSPORT_OCI:
        s->layout.store = remote_store(r, which, err);
        return s->layout.store ? 0 : -1;
    case TRANSPORT_OCI_ARCHIVE:
    case TRANSPORT_DOCKER_ARCHIVE:
        return fill_archive(&s->archive, a, r, err);
    case TRANSPORT_DOCKER_DAEMON:
    case TRANSPORT_STORAGE:
        return fill_daemon(&s->daemon, a, r, which, err);
    case TRANSPORT_REGISTRY:
        s->registry.store = remote_store(r, which, err);
        return s->registry.store ? fill_registry(&s->registry, &a->reply, err) : -1;
    }
    return err_set(err, ERR_USAGE, "no such kind of reference");
}

struct source *reader_source(struct reader *r, size_t which, struct err *err)
{
    const struct wire_request request = {.op = WIRE_SOURCE, .number = which};
    _cleanup_answer_ struct answer a = ANSWER_INIT;
    _cleanup_source_ struct source *s = source_new(&r->task->sources[which], err);

    if (!s || reader_ask(r, &request, &a, err) < 0 || fill_source(s, &a, r, which, err) < 0)
        return NULL;
    return steal_ptr(&s);
}

/* ---- what an engine says of layers ---- */

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

#include "flatten/keeper/keeper.h"

#include "flatten/keeper/files/temporary_file.h"
#include "flatten/keeper/keeper_internal.h"
#include "flatten/keeper/sink/sink_open.h"
#include "flatten/keeper/source/source_open.h"
#include "flatten/stream/interrupt.h"
#include <string.h>

/*
 * The requests of the reader, which may be compromised. A request that no honest reader makes ends
 * the run (breach); a failure that an honest one may meet is a reply with an error.
 */
enum { MOST_REQUESTS = 1 << 20 };
static const size_t most_bytes = (size_t)256 << 20; /* of configs and manifests, all together */

int keeper_breach(struct keeper *k, struct err *err, const char *what)
{
    k->done = true;
    k->status = -1;
    return err_set(err, ERR_SYSTEM, "the process that reads images breaks the rules: %s", what);
}

/* ---- sources ---- */

/* Fills the reply; its texts belong to the source. */
static void describe_source(struct source *s, struct outcome *out)
{
    struct wire_reply *reply = &out->reply;

    switch (s->ref->transport) {
    case TRANSPORT_OCI:
        return;
    case TRANSPORT_OCI_ARCHIVE:
    case TRANSPORT_DOCKER_ARCHIVE:
        out->fd = steal_fd(&s->archive.fd);
        out->close = true;
        reply->regular = s->archive.regular;
        return;
    case TRANSPORT_DOCKER_DAEMON:
    case TRANSPORT_STORAGE:
        out->fd = steal_fd(&s->daemon.fd);
        out->close = true;
        reply->name = s->daemon.name;
        reply->os = s->daemon.os;
        reply->architecture = s->daemon.architecture;
        reply->root = s->daemon.blobs.root;
        reply->size = s->daemon.blobs.store ? s->daemon.blobs.root_size : s->daemon.size;
        reply->why = s->daemon.why;
        reply->data = s->daemon.config.data;
        reply->len = s->daemon.config.len;
        return;
    case TRANSPORT_REGISTRY:
        reply->root = s->registry.root;
        reply->size = s->registry.root_size;
        reply->root_type = s->registry.root_type;
        reply->name = s->registry.name;
        return;
    }
}

static int on_source(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    size_t which = (size_t)p->request.number;

    if (which >= k->task->source_count || k->asked[which])
        return keeper_breach(k, err, "a source that is not there");
    const struct source_choice choice = {k->task->platform,
                                         which < k->task->walked ? k->task->walk : WALK_NONE};

    k->asked[which] = true;
    struct source *s = source_open(&k->task->sources[which], &choice, err);
    if (!s)
        return -1;
    k->sources[which] = s;
    describe_source(s, out);
    return 0;
}

static struct blob_store *store_of(const struct keeper *k, const struct pending *p)
{
    const struct source *s = k->sources[p->request.number];

    return s ? source_store(s) : NULL;
}

static int on_file(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    struct blob_store *store = store_of(k, p);

    if (!store || !store->ops->read)
        return keeper_breach(k, err, "a file of what is no layout");
    if (store->ops->read(store, p->request.file, &out->data, err) < 0)
        return -1;
    out->reply.data = out->data.data;
    out->reply.len = out->data.len;
    return 0;
}

static int on_blobs(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    struct blob_store *store = store_of(k, p);
    const struct wire_request *r = &p->request;
    size_t failed = 0;

    if (!store)
        return keeper_breach(k, err, "blobs of what has none");
    k->places = calloc(r->blob_count, sizeof(*k->places));
    if (!k->places)
        return err_nomem(err);
    if (blob_store_open(store, r->blobs, r->blob_count, k->places, &failed, err) < 0) {
        out->reply.number = failed;
        return -1;
    }
    k->place_count = r->blob_count;
    if (k->places[0].arriving.all)
        out->fd = arrival_fd(k->places[0].arriving.all);
    return 0;
}

static int on_spool(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    (void)p;
    if (k->spools++ == k->task->source_count + KEEPER_UNPACK_FILES + KEEPER_SPOOLS)
        return keeper_breach(k, err, "too many temporary files");
    out->fd = temporary_file_open(err);
    out->close = true;
    return out->fd < 0 ? -1 : 0;
}

static int on_diff_ids(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    size_t which = (size_t)p->request.number;

    if (which >= k->task->source_count || !reference_is_engine(&k->task->sources[which]))
        return keeper_breach(k, err, "layers of what is in no engine");
    if (source_diff_ids(&k->task->sources[which], &out->data, err) < 0)
        return -1;
    out->reply.data = out->data.data;
    out->reply.len = out->data.len;
    return 0;
}

static int on_still(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    const struct source *s = k->sources[p->request.number];

    (void)out;
    if (!s || !reference_is_engine(s->ref) || !s->daemon.config.len)
        return keeper_breach(k, err, "a tree that was not walked");
    return source_still_there(s, err);
}

/* ---- the destination ---- */

/*
 * Puts the path of the destination before the error. A destination without a path says more itself.
 * Returns -1.
 */
static int wrap_path(const struct keeper *k, struct err *err)
{
    return k->task->destination->path ? err_wrap(err, "%s", k->task->destination->path) : -1;
}

static int on_sink(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    (void)p;
    if (!k->task->destination || k->sink || k->published)
        return keeper_breach(k, err, "a destination that is not there");
    k->sink = sink_open_beside(k->task->destination, &k->task->sources[k->task->kept_from], err);
    if (!k->sink)
        return -1;
    out->reply.number = k->sink->keeps_zstd;
    out->reply.size = k->sink->beside;
    return 0;
}

static int on_begin(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    bool beside = p->request.number == WIRE_BESIDE;
    off_t offset;

    if (!k->sink)
        return keeper_breach(k, err, "a layer for no destination");
    if (beside && (k->begun == 0 || k->begun > k->sink->beside))
        return keeper_breach(k, err, "too many layers at once");
    if (!beside)
        k->begun = 0;
    int rc = beside ? sink_begin_beside(k->sink, &out->fd, &offset, err)
                    : sink_begin_layer(k->sink, p->request.number == 1, &out->fd, &offset, err);
    if (rc < 0)
        return wrap_path(k, err);
    k->begun++;
    out->reply.number = offset < 0;
    out->reply.offset = offset < 0 ? 0 : (uint64_t)offset;
    return 0;
}

static int on_end(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    (void)out;
    if (!k->sink || k->begun == 0)
        return keeper_breach(k, err, "the end of a layer that was not begun");
    k->begun--;
    if (sink_end_layer(k->sink, &p->request.layer, err) < 0)
        return wrap_path(k, err);
    return digest_list_add(&k->layers, &p->request.layer.digest, err);
}

static int on_has(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    if (!k->sink)
        return keeper_breach(k, err, "a layer for no destination");
    int rc = sink_has_layer(k->sink, p->request.number, &p->request.layer, err);
    if (rc < 0)
        return -1;
    out->reply.number = (uint64_t)rc;
    return rc ? digest_list_add(&k->layers, &p->request.layer.digest, err) : 0;
}

/* ---- publishing ---- */

static bool is_true(const struct blob *b)
{
    struct err ignored = ERR_INIT;
    struct digest actual;

    return sha256_digest(b->data, b->len, &actual, &ignored) == 0 &&
           digest_equal(&actual, &b->digest);
}

static int on_image(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    const struct sink_image *image = &p->request.image;

    (void)out;
    if (!k->sink || k->image_count == WIRE_MOST_IMAGES ||
        p->message.len > most_bytes - k->image_bytes)
        return keeper_breach(k, err, "an image too many");
    if ((!image->is_index && !is_true(&image->config)) || !is_true(&image->manifest))
        return keeper_breach(k, err, "a digest that is wrong");
    for (size_t i = 0; i < image->layer_count; i++)
        if (!digest_list_has(&k->layers, &image->layers[i].digest))
            return keeper_breach(k, err, "a layer that was not written");
    k->image_bytes += p->message.len;
    k->images[k->image_count++] = *p;
    *p = (struct pending){.message = BUF_INIT}; /* `k` has it now */
    return 0;
}

/*
 * Sets *out to the name of the image: the one on the command line, else its own. In an engine the
 * latter gets "-flat", so that no existing image is replaced.
 */
static int choose_name(const struct keeper *k, const struct sink_image *image, char **out,
                       struct err *err)
{
    const struct reference *to = k->task->destination;
    _cleanup_free_ char *own = NULL;

    if (image->inner)
        return 0;
    if (sink_image_name(to, image->name, &own, err) < 0)
        return -1;
    if (!own || to->name || !reference_is_engine(to))
        *out = steal_ptr(&own);
    else if (!(*out = strf("%s-flat", own)))
        return err_nomem(err);
    return 0;
}

/* True if a layout stores whole names as tags: with --all-images, or a name on the command line. */
static bool has_whole_names(const struct keeper_task *task)
{
    return sink_holds_index(task->destination) && (task->all_images || task->destination->name);
}

static int publish_images(struct keeper *k, struct err *err)
{
    bool whole = has_whole_names(k->task);
    struct sink_image images[WIRE_MOST_IMAGES];
    char *names[WIRE_MOST_IMAGES] = {NULL};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < k->image_count; i++) {
        images[i] = k->images[i].request.image;
        rc = choose_name(k, &images[i], &names[i], err);
        images[i].name = names[i];
        images[i].named = k->task->destination->name || k->task->destination->by_tag;
        images[i].whole_name = whole;
    }
    if (rc == 0)
        rc = sink_publish(k->sink, images, k->image_count, err);
    for (size_t i = 0; i < k->image_count; i++)
        free(names[i]);
    return rc;
}

/*
 * True if the images fit the task: one with a name, or several with --all-images; indexes, each
 * behind its images, where the destination holds them.
 */
static bool images_fit(const struct keeper *k)
{
    bool holds_index = sink_holds_index(k->task->destination), inside = false;
    size_t named = 0;

    for (size_t i = 0; i < k->image_count; i++) {
        const struct sink_image *image = &k->images[i].request.image;
        if ((image->inner || image->is_index) && !holds_index)
            return false;
        if (!image->inner && inside != image->is_index)
            return false;
        inside = image->inner;
        named += !image->inner;
    }
    return !inside && (named == 1 || k->task->all_images);
}

int keeper_settle_sources(struct keeper *k, struct err *err)
{
    for (size_t i = 0; i < k->task->source_count; i++)
        if (k->sources[i] && source_settle(k->sources[i], err) < 0)
            return -1;
    return 0;
}

static int on_publish(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    (void)p, (void)out;
    if (!k->sink || k->published || k->image_count == 0)
        return keeper_breach(k, err, "nothing to publish");
    if (!images_fit(k))
        return keeper_breach(k, err, "not what the destination can hold");
    if (keeper_settle_sources(k, err) < 0)
        return -1;
    k->begun = 0;
    if (sink_await_layers(k->sink, err) < 0)
        return wrap_path(k, err);
    k->published = k->task->destination->path ? PUBLISHED_NO : PUBLISHED_PERHAPS;
    if (publish_images(k, err) < 0)
        return wrap_path(k, err);
    k->published = PUBLISHED_YES;
    cleanup_sink(&k->sink);
    k->sink = NULL;
    return 0;
}

/* ---- the end ---- */

static int on_done(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    (void)out;
    k->done = true;
    k->status = p->request.status;
    if (k->status >= 0)
        return 0;
    *err = p->request.err;
    if (k->sink)
        sink_explain(k->sink, err);
    if (k->tree)
        tree_unpack_explain(k->tree, err);
    return -1;
}

static keeper_handler *const handlers[] = {
    [WIRE_SOURCE] = on_source,
    [WIRE_FILE] = on_file,
    [WIRE_BLOBS] = on_blobs,
    [WIRE_SPOOL] = on_spool,
    [WIRE_DIFF_IDS] = on_diff_ids,
    [WIRE_SINK] = on_sink,
    [WIRE_BEGIN] = on_begin,
    [WIRE_END] = on_end,
    [WIRE_HAS] = on_has,
    [WIRE_IMAGE] = on_image,
    [WIRE_PUBLISH] = on_publish,
    [WIRE_STILL] = on_still,
    [WIRE_TREE] = keeper_on_tree,
    [WIRE_TREE_END] = keeper_on_tree_end,
    [WIRE_TREE_NAME] = keeper_on_tree_name,
    [WIRE_DONE] = on_done,
};

/* ---- serving ---- */

static void pending_clear(struct pending *p)
{
    wire_request_clear(&p->request);
    buf_free(&p->message);
}

static void outcome_clear(struct outcome *o)
{
    if (o->close)
        cleanup_fd(&o->fd);
    buf_free(&o->data);
}

static int send_reply(const struct keeper *k, const struct wire_reply *reply, int fd,
                      struct err *err)
{
    _cleanup_buf_ struct buf message = BUF_INIT;

    wire_encode_reply(reply, &message);
    if (wire_send(k->socket, &message, fd, err) < 0)
        return err_wrap(err, "the process that reads images");
    return 0;
}

static int send_places(struct keeper *k, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < k->place_count; i++) {
        const struct blob_place *place = &k->places[i];
        const struct wire_reply reply = {
            .number = place->arriving.blob, .offset = (uint64_t)place->offset, .size = place->size};
        if (rc == 0)
            rc = send_reply(k, &reply, place->fd, err);
        blob_place_close(&k->places[i]);
    }
    free(k->places);
    k->places = NULL;
    k->place_count = 0;
    return rc;
}

/* Serves one request. Returns 0, or -1 with the error that ends the run. */
static int answer_request(struct keeper *k, struct pending *p, struct err *err)
{
    _cleanup_(outcome_clear) struct outcome out = {.fd = -1};
    struct err reason = ERR_INIT;
    int rc = handlers[p->request.op](k, p, &out, &reason);

    if (k->done) {
        *err = reason;
        return rc;
    }
    if (rc < 0) {
        out.reply.failed = true;
        out.reply.err = reason;
    }
    if (send_reply(k, &out.reply, rc < 0 ? -1 : out.fd, err) < 0)
        return -1;
    return send_places(k, err);
}

static int serve_one(struct keeper *k, struct err *err)
{
    _cleanup_(pending_clear) struct pending p = {.message = BUF_INIT};
    struct err reason = ERR_INIT;
    int rc = wire_receive(k->socket, &p.message, NULL, &reason);

    if (rc == 0)
        return err_set(err, ERR_SYSTEM, "the process that reads images ended too early");
    if (rc < 0 || wire_decode_request(&p.message, &p.request, &reason) < 0)
        return interrupt_check(err) < 0 ? -1 : keeper_breach(k, err, reason.msg);
    return answer_request(k, &p, err);
}

static void keeper_free(struct keeper *k)
{
    for (size_t i = 0; i < WIRE_MOST_SOURCES; i++)
        cleanup_source(&k->sources[i]);
    cleanup_sink(&k->sink);
    cleanup_tree_unpack(&k->tree);
    blob_places_close(k->places, k->place_count);
    free(k->places);
    for (size_t i = 0; i < k->image_count; i++)
        pending_clear(&k->images[i]);
    digest_list_clear(&k->layers);
    free(k);
}

int keeper_serve(const struct keeper_task *task, int socket, enum keeper_published *published,
                 struct err *err)
{
    struct keeper *k = calloc(1, sizeof(*k));
    int rc = 0;

    *published = PUBLISHED_NO;
    if (!k)
        return err_nomem(err);
    k->task = task;
    k->socket = socket;
    for (size_t requests = 0; rc == 0 && !k->done; requests++)
        rc = requests < MOST_REQUESTS ? serve_one(k, err)
                                      : keeper_breach(k, err, "too many requests");
    if (rc == 0)
        rc = k->status;
    if (rc == 0 && (task->destination || task->tree) && !k->published)
        rc = keeper_breach(k, err, "it is done, and has published nothing");
    *published = k->published;
    keeper_free(k);
    return rc;
}

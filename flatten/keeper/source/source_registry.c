#include "flatten/keeper/source/source_backends.h"

#include "base/fdio.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/keeper/files/temporary_file.h"
#include "flatten/keeper/registry/registry.h"
#include "flatten/name/media_type.h"

#include <fcntl.h>
#include <string.h>

/*
 * An image in a registry. Its layers are fetched in parallel into one temporary file, a layer that
 * occurs twice only once, and the reader reads them meanwhile. The manifest that the reference
 * names is fetched first and kept: it is never asked for again.
 */
enum { MOST_LAYERS = 1024 };

static const char accept[] = "Accept: " MEDIA_TYPE_MANIFEST ", " MEDIA_TYPE_INDEX
                             ", " MEDIA_TYPE_DOCKER_MANIFEST ", " MEDIA_TYPE_DOCKER_LIST;

struct registry_store {
    struct blob_store base;
    struct registry *registry;
    struct http *http;
    const char *name;           /* borrowed: the reference, without its prefix */
    struct registry_pull *pull; /* of the layers that were asked for last; or NULL */
    struct buf root;            /* the manifest or index that the reference names */
    struct digest root_digest;
};

/* ---- manifests ---- */

/* Puts the text into a temporary file: the reader takes descriptors. */
static int place_text(const struct buf *text, struct blob_place *out, struct err *err)
{
    _cleanup_fd_ int fd = temporary_file_open(err);

    if (fd < 0 || fd_write_all(fd, text->data ? text->data : "", text->len, err) < 0)
        return -1;
    *out = (struct blob_place){.fd = steal_fd(&fd), .size = text->len};
    return 0;
}

static int get_manifest(struct registry_store *s, const char *version, size_t limit,
                        struct buf *out, struct http_reply *reply, struct err *err)
{
    static const char *const headers[] = {accept, NULL};
    _cleanup_free_ char *url = registry_url(s->registry, "manifests/%s", version);
    struct http_text text = {.limit = limit};
    const struct http_request request = {.method = "GET",
                                         .url = url,
                                         .headers = headers,
                                         .begin = http_text_begin,
                                         .take = http_text_take,
                                         .ctx = &text};

    if (!url)
        return err_nomem(err);
    int rc = registry_request(s->registry, s->http, &request, reply, err);
    *out = text.text;
    if (rc == 0 && reply->status != 200)
        rc = registry_refused(s->registry, reply, err);
    return rc < 0 ? err_wrap(err, "the manifest %s", version) : 0;
}

static int open_manifest(struct registry_store *s, const struct blob_request *request,
                         struct blob_place *out, struct err *err)
{
    _cleanup_http_reply_ struct http_reply reply = {0};
    _cleanup_buf_ struct buf text = BUF_INIT;
    size_t limit = request->size < IMAGE_JSON_LIMIT ? (size_t)request->size : IMAGE_JSON_LIMIT;

    if (digest_equal(&request->digest, &s->root_digest))
        return place_text(&s->root, out, err);
    if (get_manifest(s, request->digest.text, limit, &text, &reply, err) < 0)
        return -1;
    return place_text(&text, out, err);
}

/* ---- blobs ---- */

static int check_layer(const struct blob_request *request, struct err *err)
{
    const char *type = request->media_type;

    if (type && (strstr(type, "nondistributable") || strstr(type, ".foreign.")))
        return err_set(err, ERR_UNSUPPORTED,
                       "it is not distributable (%s): registries have no copy of it", type);
    return 0;
}

/* The blobs to fetch: each digest once. */
struct fetch_list {
    struct blob_request *blobs;
    off_t *offsets;
    size_t *of; /* for each request, the number of its blob */
    size_t count;
    uint64_t size; /* of all blobs, bytes */
};

static void fetch_list_clear(struct fetch_list *l)
{
    free(l->blobs);
    free(l->offsets);
    free(l->of);
}

static int add_blob(struct fetch_list *l, const struct blob_request *request, size_t number,
                    struct err *err)
{
    size_t at = 0;

    while (at < l->count && !digest_equal(&l->blobs[at].digest, &request->digest))
        at++;
    l->of[number] = at;
    if (at < l->count)
        return 0;
    if (request->size > (uint64_t)INT64_MAX - l->size)
        return err_set(err, ERR_LIMIT, "the sizes in the manifest are too large");
    l->blobs[at] = *request;
    l->offsets[at] = (off_t)l->size;
    l->size += request->size;
    l->count++;
    return 0;
}

static int list_blobs(struct fetch_list *l, const struct blob_request *requests, size_t count,
                      size_t *failed, struct err *err)
{
    l->blobs = calloc(count, sizeof(*l->blobs));
    l->offsets = calloc(count, sizeof(*l->offsets));
    l->of = calloc(count, sizeof(*l->of));
    if (!l->blobs || !l->offsets || !l->of)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++) {
        *failed = i;
        if (check_layer(&requests[i], err) < 0 || add_blob(l, &requests[i], i, err) < 0)
            return -1;
    }
    return 0;
}

static int place_blobs(const struct fetch_list *l, size_t count, int fd, struct arrival *arrival,
                       struct blob_place *out, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        size_t blob = l->of[i];
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (copy < 0) {
            err_sys(err, "dup");
            blob_places_close(out, i);
            return -1;
        }
        out[i] = (struct blob_place){
            copy, l->offsets[blob], l->blobs[blob].size, {arrival_ref(arrival), blob}};
    }
    return 0;
}

/*
 * Waits for the layers that were asked for before: so there is one pull at a time, however many
 * requests a compromised reader makes.
 */
static int end_pull(struct registry_store *s, struct err *err)
{
    if (s->pull && registry_pull_wait(s->pull, err) < 0)
        return -1;
    cleanup_registry_pull(&s->pull);
    s->pull = NULL;
    return 0;
}

static int settle(struct blob_store *base, struct err *err)
{
    struct registry_store *s = (struct registry_store *)base;

    return end_pull(s, err) < 0 ? err_wrap(err, "docker://%s", s->name) : 0;
}

/*
 * Starts to fetch layers: the reply does not wait for them. The reader expects a page for `count`
 * blobs, as many as it has asked for; one that occurs twice arrives once.
 */
static int begin_layers(struct registry_store *s, const struct registry_blobs *blobs, size_t count,
                        struct arrival **out, struct err *err)
{
    _cleanup_arrival_ struct arrival *arrival = arrival_new(count, err);

    if (!arrival || !(s->pull = registry_pull_start(s->registry, blobs, arrival, err)))
        return -1;
    *out = steal_ptr(&arrival);
    return 0;
}

/* Fetches a configuration. */
static int fetch_config(struct registry_store *s, const struct registry_blobs *blobs,
                        struct err *err)
{
    _cleanup_registry_pull_ struct registry_pull *pull =
        registry_pull_start(s->registry, blobs, NULL, err);

    return pull ? registry_pull_wait(pull, err) : -1;
}

static int fetch_blobs(struct registry_store *s, const struct fetch_list *list,
                       const struct blob_request *requests, size_t count, struct blob_place *out,
                       struct err *err)
{
    _cleanup_fd_ int fd = temporary_file_open(err);
    const struct registry_blobs blobs = {list->blobs, list->offsets, list->count, fd};
    _cleanup_arrival_ struct arrival *arrival = NULL;
    int rc = -1;

    if (fd >= 0)
        rc = requests[0].role == BLOB_LAYER ? begin_layers(s, &blobs, count, &arrival, err)
                                            : fetch_config(s, &blobs, err);
    return rc < 0 ? -1 : place_blobs(list, count, fd, arrival, out, err);
}

static int open_blobs(struct blob_store *base, const struct blob_request *requests, size_t count,
                      struct blob_place *out, size_t *failed, struct err *err)
{
    struct registry_store *s = (struct registry_store *)base;
    _cleanup_(fetch_list_clear) struct fetch_list list = {0};

    *failed = 0;
    if (requests[0].role == BLOB_MANIFEST)
        return open_manifest(s, &requests[0], out, err);
    if (requests[0].role == BLOB_CONFIG && requests[0].size > IMAGE_JSON_LIMIT)
        return err_set(err, ERR_LIMIT, "the config has more than %d bytes", IMAGE_JSON_LIMIT);
    if (count > MOST_LAYERS)
        return err_set(err, ERR_LIMIT, "the image has more than %d layers", MOST_LAYERS);
    if (list_blobs(&list, requests, count, failed, err) < 0)
        return -1;
    *failed = count;
    if (requests[0].role == BLOB_LAYER && end_pull(s, err) < 0)
        return -1;
    return fetch_blobs(s, &list, requests, count, out, err);
}

/* ---- the image ---- */

/*
 * Returns the media type of the reply without its parameters, for the caller to free; NULL for one
 * that says nothing about the content.
 */
static char *content_type(const struct http_reply *reply)
{
    size_t len;
    const char *type = http_header(reply, "Content-Type", 0, &len);
    char *copy = type ? strndup(type, len) : NULL;

    if (!copy)
        return NULL;
    copy[strcspn(copy, "; \t")] = '\0';
    if (strstr(copy, "manifest") || strstr(copy, "image.index") || strstr(copy, "html"))
        return copy;
    free(copy);
    return NULL;
}

/* The content must have the digest that the registry says, and the one in the reference. */
static int check_root(const struct registry_store *s, const struct http_reply *reply,
                      struct err *err)
{
    const char *actual = s->root_digest.text, *asked = registry_ref(s->registry)->digest;
    size_t len;
    const char *said = http_header(reply, "Docker-Content-Digest", 0, &len);

    if (asked && strcmp(asked, actual) != 0)
        return err_set(err, ERR_DIGEST, "the registry sends %s", actual);
    if (said && len > 7 && strncmp(said, "sha256:", 7) == 0 &&
        (len != strlen(actual) || strncmp(said, actual, len) != 0))
        return err_set(err, ERR_DIGEST, "the registry says the manifest is %.*s, and sends %s",
                       (int)len, said, actual);
    return 0;
}

/* Sets *out to HOST/NAME:TAG, as engines would call the image; NULL for a digest. */
static int choose_name(const struct registry_ref *ref, char **out, struct err *err)
{
    if (ref->tag && !(*out = strf("%s/%s:%s", ref->host, ref->repository, ref->tag)))
        return err_nomem(err);
    return 0;
}

static int find_root(struct source_registry *source, struct registry_store *s, struct err *err)
{
    const struct registry_ref *ref = registry_ref(s->registry);
    _cleanup_http_reply_ struct http_reply reply = {0};

    if (get_manifest(s, ref->digest ? ref->digest : ref->tag, IMAGE_JSON_LIMIT, &s->root, &reply,
                     err) < 0)
        return -1;
    source->root_type = content_type(&reply);
    if (source->root_type && strstr(source->root_type, "html"))
        return err_set(err, ERR_FORMAT, "it answers with a web page: is it a registry?");
    if (sha256_digest(s->root.data ? s->root.data : "", s->root.len, &s->root_digest, err) < 0 ||
        check_root(s, &reply, err) < 0)
        return -1;
    source->root = s->root_digest;
    source->root_size = s->root.len;
    return choose_name(ref, &source->name, err);
}

static void release_store(struct blob_store *base)
{
    struct registry_store *s = (struct registry_store *)base;

    cleanup_registry_pull(&s->pull);
    cleanup_http(&s->http);
    cleanup_registry(&s->registry);
    buf_free(&s->root);
    free(s);
}

int source_find_registry(struct source *source, struct err *err)
{
    static const struct blob_store_ops ops = {
        .open_all = open_blobs, .settle = settle, .release = release_store};
    const struct reference *ref = source->ref;
    struct registry_store *s = calloc(1, sizeof(*s));

    if (!s)
        return err_nomem(err);
    s->base.ops = &ops;
    s->name = ref->name;
    source->registry.store = &s->base;
    if (!(s->registry = registry_open(ref->name, &ref->registry, "pull", err)) ||
        !(s->http = registry_http(s->registry, NULL, err)) ||
        find_root(&source->registry, s, err) < 0)
        return err_wrap(err, "docker://%s", ref->name);
    return 0;
}

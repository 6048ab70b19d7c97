#include "flatten/image/image_internal.h"

#include "base/fdio.h"
#include "base/human.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/image/image_index.h"

#include <string.h>

/*
 * An OCI image (image-spec manifest.md): from a descriptor to the layers, wherever the blobs lie.
 */

enum { MOST_INDEXES = 4 }; /* depth of indexes in indexes */

struct oci_reading {
    struct blob_store *store;
    const struct image_choice *choice;
    struct json_doc *index; /* the last one followed; or NULL */
    uint64_t json_size;     /* of all documents that were parsed, bytes */
};

/* ---- blobs ---- */

/* Makes a request from a descriptor, which must have a digest and a size. */
static int request_parse(const struct json *descriptor, enum blob_role role,
                         struct blob_request *out, struct err *err)
{
    const char *text = json_text(json_get(descriptor, "digest"));

    *out = (struct blob_request){.role = role};
    if (!text || digest_parse(text, &out->digest, err) < 0)
        return err_set(err, ERR_FORMAT, "a descriptor has no sha256 digest");
    if (!json_u64(json_get(descriptor, "size"), &out->size))
        return err_set(err, ERR_FORMAT, "the descriptor of %s has no size", out->digest.text);
    out->media_type = json_text(json_get(descriptor, "mediaType"));
    return 0;
}

static int check_size(const struct blob_request *request, const struct blob_place *place,
                      struct err *err)
{
    if (place->size == request->size)
        return 0;
    return err_set(err, ERR_DIGEST, "%s has %llu bytes, not %llu as its descriptor says",
                   request->digest.text, (unsigned long long)place->size,
                   (unsigned long long)request->size);
}

static int read_place(const struct blob_place *place, struct buf *out, struct err *err)
{
    if (place->size > IMAGE_JSON_LIMIT)
        return err_set(err, ERR_LIMIT, "has more than %d bytes", IMAGE_JSON_LIMIT);
    char *end = buf_reserve(out, (size_t)place->size);
    if (!end)
        return err_nomem(err);
    if (fd_pread_exact(place->fd, end, (size_t)place->size, place->offset, err) < 0)
        return -1;
    out->len += (size_t)place->size;
    out->data[out->len] = '\0';
    return 0;
}

static struct json_doc *read_json_blob(struct oci_reading *r, const struct json *descriptor,
                                       enum blob_role role, struct digest *digest, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_(blob_place_close) struct blob_place place = {.fd = -1};
    struct blob_request request;
    struct digest actual;
    size_t failed;

    if (request_parse(descriptor, role, &request, err) < 0 ||
        blob_store_open(r->store, &request, 1, &place, &failed, err) < 0)
        return NULL;
    *digest = request.digest;
    if (check_size(&request, &place, err) < 0)
        return NULL;
    if (read_place(&place, &text, err) < 0) {
        err_wrap(err, "%s", digest->text);
        return NULL;
    }
    if (sha256_digest(text.data, text.len, &actual, err) < 0)
        return NULL;
    if (!digest_equal(&actual, digest)) {
        err_set(err, ERR_DIGEST, "blob %s has content %s", digest->text, actual.text);
        return NULL;
    }
    struct json_doc *doc = json_parse(text.data, text.len, &image_json_options, err);
    if (!doc)
        err_wrap(err, "%s", digest->text);
    r->json_size += text.len;
    return doc;
}

/* ---- from index to manifest ---- */

/* Rejects a document that some programs would read as an index and others as a manifest. */
static int check_kind(const struct json *doc, struct err *err)
{
    uint64_t version;

    if (json_get(doc, "manifests") && (json_get(doc, "layers") || json_get(doc, "config")))
        return err_set(err, ERR_FORMAT, "it is an index and a manifest at once");
    if (json_u64(json_get(doc, "schemaVersion"), &version) && version == 1)
        return err_set(err, ERR_UNSUPPORTED,
                       "a manifest of schema 1 (before Docker 1.10): push the image again");
    return 0;
}

/* Follows indexes to a manifest; *digest is the digest of the manifest. */
static struct json_doc *find_manifest(struct oci_reading *r, const struct json *descriptor,
                                      int depth, struct digest *digest, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = read_json_blob(r, descriptor, BLOB_MANIFEST, digest, err);

    if (!doc)
        return NULL;
    if (check_kind(json_root(doc), err) < 0) {
        err_wrap(err, "%s", digest->text);
        return NULL;
    }
    if (!index_is_index(descriptor, json_root(doc)))
        return steal_ptr(&doc);
    if (depth == MOST_INDEXES) {
        err_set(err, ERR_LIMIT, "indexes point to indexes more than %d deep", MOST_INDEXES);
        return NULL;
    }
    cleanup_json_doc(&r->index);
    r->index = steal_ptr(&doc);
    const struct json *next = index_choose_below(json_root(r->index), r->choice->platform, err);
    return next ? find_manifest(r, next, depth + 1, digest, err) : NULL;
}

static int request_layer(const struct json *descriptor, struct blob_request *out, struct err *err)
{
    if (request_parse(descriptor, BLOB_LAYER, out, err) < 0)
        return -1;
    if (out->media_type && strstr(out->media_type, "+encrypted"))
        return err_set(err, ERR_UNSUPPORTED, "it is encrypted");
    return 0;
}

/* Takes over a place. */
static void put_layer(struct layer *layer, const struct blob_place *place)
{
    layer->fd = place->fd;
    layer->offset = place->offset;
    layer->arriving = place->arriving;
}

/* Returns the index of the layer that is read at this turn, from 0. */
static size_t layer_at_turn(const struct oci_reading *r, size_t count, size_t turn)
{
    return r->choice->oldest_first ? turn : count - 1 - turn;
}

/* Opens the blobs of all layers. They are asked for in the order in which they are read. */
static int open_layers(const struct oci_reading *r, struct image *image,
                       const struct blob_request *requests, struct err *err)
{
    size_t count = image->layer_count, failed = 0;
    _cleanup_free_ struct blob_request *wanted = calloc(count, sizeof(*wanted));
    _cleanup_free_ struct blob_place *places = calloc(count, sizeof(*places));

    if (!wanted || !places)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        wanted[i] = requests[layer_at_turn(r, count, i)];
    if (blob_store_open(r->store, wanted, count, places, &failed, err) < 0)
        return failed < count ? err_wrap(err, "layer %zu", layer_at_turn(r, count, failed) + 1)
                              : -1;
    for (size_t i = 0; i < count; i++)
        put_layer(&image->layers[layer_at_turn(r, count, i)], &places[i]);
    for (size_t i = 0; i < count; i++)
        if (check_size(&wanted[i], &places[i], err) < 0)
            return err_wrap(err, "layer %zu", layer_at_turn(r, count, i) + 1);
    return 0;
}

static int add_layers(const struct oci_reading *r, struct image *image, struct err *err)
{
    struct json *layers = json_get(json_root(image->manifest), "layers");
    size_t count = image->layer_count;

    if (json_count(layers) != count)
        return err_set(err, ERR_FORMAT, "the manifest has %zu layer%s, the config %zu diff_id%s",
                       json_count(layers), human_s(json_count(layers)), count, human_s(count));
    _cleanup_free_ struct blob_request *requests = calloc(count, sizeof(*requests));
    if (!requests)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        if (request_layer(json_at(layers, i), &requests[i], err) < 0)
            return err_wrap(err, "layer %zu", i + 1);
    for (size_t i = 0; i < count; i++) {
        image->layers[i].digest = requests[i].digest;
        image->layers[i].size = requests[i].size;
        image->layers[i].media_type = requests[i].media_type;
    }
    for (size_t i = 0; r->choice->outline && i < count; i++)
        image->layers[i].store = r->store;
    return r->choice->outline ? 0 : open_layers(r, image, requests, err);
}

int layer_fetch(struct layer *layer, struct err *err)
{
    const struct blob_request request = {.role = BLOB_LAYER,
                                         .digest = layer->digest,
                                         .size = layer->size,
                                         .media_type = layer->media_type};
    struct blob_place place;
    size_t failed;

    if (blob_store_open(layer->store, &request, 1, &place, &failed, err) < 0)
        return err_wrap(err, "layer %u", layer->number);
    put_layer(layer, &place);
    return check_size(&request, &place, err) < 0 ||
                   arrival_await(&layer->arriving, layer->size, err) < 0
               ? err_wrap(err, "layer %u", layer->number)
               : 0;
}

/* Reads the config of an image. */
static struct image *open_config(struct oci_reading *r, const struct json *manifest,
                                 struct err *err)
{
    const struct json *descriptor = json_get(manifest, "config");
    struct digest digest;

    if (!descriptor) {
        err_set(err, ERR_FORMAT, "the manifest has no config");
        return NULL;
    }
    struct json_doc *config = read_json_blob(r, descriptor, BLOB_CONFIG, &digest, err);
    _cleanup_image_ struct image *image = config ? image_new(config, err) : NULL;
    if (!image)
        return NULL;
    /* A descriptor may lack a platform, and a tag chooses without one: the config decides. */
    if (image_check_platform(image, r->choice->platform, err) < 0)
        return NULL;
    image->config_digest = digest;
    return steal_ptr(&image);
}

static struct image *open_manifest(struct oci_reading *r, struct json *descriptor, struct err *err)
{
    struct digest digest;
    _cleanup_json_ struct json_doc *manifest = find_manifest(r, descriptor, 0, &digest, err);

    if (!manifest)
        return NULL;
    const struct json *root = json_root(manifest);
    _cleanup_image_ struct image *image = r->choice->artifact && artifact_is_one(root)
                                              ? artifact_new(root, err)
                                              : open_config(r, root, err);
    if (!image)
        return NULL;
    image->manifest = steal_ptr(&manifest);
    image->digest = digest;
    image->index = steal_ptr(&r->index);
    image->json_size = r->json_size;
    return add_layers(r, image, err) < 0 ? NULL : steal_ptr(&image);
}

struct image *image_read_descriptor(struct blob_store *store, struct json *descriptor,
                                    const struct image_choice *choice, struct err *err)
{
    struct oci_reading r = {.store = store, .choice = choice};
    struct image *image = open_manifest(&r, descriptor, err);

    cleanup_json_doc(&r.index);
    return image;
}

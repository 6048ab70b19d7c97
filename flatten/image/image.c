#include "flatten/image/image.h"

#include "flatten/exchange/image_limits.h"
#include "flatten/image/image_internal.h"

#include <string.h>

/* Bytes that a document may take in memory: 57 times the size of its text at the worst. */
enum { IMAGE_JSON_MEMORY = 64 * 1024 * 1024 };

const struct json_options image_json_options = {
    .max_bytes = IMAGE_JSON_LIMIT, .max_memory = IMAGE_JSON_MEMORY, .unique_keys = true};

size_t image_memory(const struct image *image)
{
    const struct json_doc *docs[] = {image->config, image->manifest, image->index};
    size_t sum = 0;

    for (size_t i = 0; i < sizeof(docs) / sizeof(*docs); i++)
        sum += docs[i] ? json_memory(docs[i]) : 0;
    return sum;
}

void image_close_layers(struct image *image)
{
    for (size_t i = 0; i < image->layer_count; i++) {
        cleanup_fd(&image->layers[i].fd);
        image->layers[i].fd = -1;
    }
}

void image_free(struct image *image)
{
    image_close_layers(image);
    for (size_t i = 0; i < image->other_count; i++)
        free(image->others[i]);
    free(image->others);
    free(image->layers);
    free(image->name);
    cleanup_json_doc(&image->config);
    cleanup_json_doc(&image->manifest);
    cleanup_json_doc(&image->index);
    free(image);
}

struct image *image_new(struct json_doc *config, struct err *err)
{
    _cleanup_json_ struct json_doc *owned = config;
    struct json *ids = json_path(json_root(config), "rootfs", "diff_ids", NULL);
    size_t count = json_count(ids);

    if (!json_is(ids, JSON_ARRAY) || count == 0) {
        err_set(err, ERR_FORMAT, "the image's config has no rootfs.diff_ids");
        return NULL;
    }
    _cleanup_image_ struct image *image = calloc(1, sizeof(*image));
    if (!image || !(image->layers = calloc(count, sizeof(*image->layers)))) {
        err_nomem(err);
        return NULL;
    }
    image->config = steal_ptr(&owned);
    image->layer_count = count;
    for (size_t i = 0; i < count; i++)
        image->layers[i] =
            (struct layer){.number = (unsigned)i + 1, .fd = -1, .max_size = LAYER_MAX_SIZE};
    for (size_t i = 0; i < count; i++) {
        const char *id = json_text(json_at(ids, i));
        if (!id || digest_parse(id, &image->layers[i].diff_id, err) < 0) {
            err_set(err, ERR_FORMAT,
                    "rootfs.diff_ids[%zu] of the image's config is not a sha256 "
                    "digest",
                    i);
            return NULL;
        }
    }
    return steal_ptr(&image);
}

int layer_compression(const struct layer *layer, enum compression *kind, struct err *err)
{
    enum { MAGIC = 4 };
    uint64_t size = layer->size < MAGIC ? layer->size : MAGIC;
    struct stream *raw = stream_range(layer->fd, layer->offset, size, err);
    _cleanup_stream_ struct stream *s = raw ? stream_decompress(raw, kind, err) : NULL;

    return s ? 0 : -1;
}

/* Blobs that a verifier checks are not checked here as well. */
struct stream *layer_blob(const struct layer *layer, struct err *err)
{
    struct stream *s = stream_range(layer->fd, layer->offset, layer->size, err);
    char what[32];

    if (s && layer->progress)
        s = stream_count(s, layer->progress, err);
    if (!s || !layer->digest.text[0] || layer->verifier)
        return s;
    snprintf(what, sizeof(what), "layer %u", layer->number);
    return stream_verify(s, &layer->digest, what, layer->hasher, err);
}

struct stream *layer_tar(const struct layer *layer, struct err *err)
{
    struct stream *s = layer_blob(layer, err);
    char what[48];

    if (s)
        s = stream_decompress(s, NULL, err);
    if (!s) {
        err_wrap(err, "layer %u", layer->number);
        return NULL;
    }
    snprintf(what, sizeof(what), "layer %u, uncompressed", layer->number);
    struct ahead_options options = {
        .expected = layer->diff_id,
        .what = what,
        .max_size = layer->max_size,
        .hasher = layer->hasher,
    };
    return stream_verify_ahead(s, &options, err);
}

struct stream *layer_tar_unchecked(const struct layer *layer, enum compression *kind,
                                   struct err *err)
{
    struct stream *s = stream_range(layer->fd, layer->offset, layer->size, err);

    if (s)
        s = stream_decompress(s, kind, err);
    if (!s)
        err_wrap(err, "layer %u", layer->number);
    return s;
}

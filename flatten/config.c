#include "flatten/config.h"

#include "flatten/media_type.h"

static bool is_empty_layer(const struct json *entry)
{
    const struct json *flag = json_get(entry, "empty_layer");

    return json_is(flag, JSON_BOOL) && flag->boolean;
}

/* What was a layer is history still, but has no layer of its own any more. */
static size_t empty_history(struct json_doc *doc, struct json *history)
{
    size_t merged = 0;

    for (size_t i = 0; i < json_count(history); i++) {
        struct json *entry = json_at(history, i);
        if (!json_is(entry, JSON_OBJECT) || is_empty_layer(entry))
            continue;
        json_set(doc, entry, "empty_layer", json_bool(doc, true));
        merged++;
    }
    return merged;
}

static int edit_history(struct image *image, size_t added, const char *created, struct err *err)
{
    struct json_doc *doc = image->config;
    struct json *root = json_root(doc), *history = json_get(root, "history");
    char comment[64];

    if (!history || json_is(history, JSON_NULL))
        history = json_set(doc, root, "history", json_array(doc));
    if (!json_is(history, JSON_ARRAY))
        return err_set(err, ERR_FORMAT, "the config's history is not an array");
    empty_history(doc, history);
    snprintf(comment, sizeof(comment), "%zu layers merged", image->layer_count);
    for (size_t i = 0; i < added; i++) {
        struct json *entry = json_append(doc, history, json_object(doc));
        if (created)
            json_set(doc, entry, "created", json_string(doc, created));
        json_set(doc, entry, "created_by", json_string(doc, "flatten squash"));
        json_set(doc, entry, "comment", json_string(doc, comment));
    }
    return 0;
}

int config_squash(struct image *image, const struct written_layer *layers, size_t count,
                  const char *created, struct buf *out, struct err *err)
{
    struct json_doc *doc = image->config;
    struct json *root = json_root(doc), *ids = json_array(doc);
    const char *when = created ? created : json_text(json_get(root, "created"));

    for (size_t i = 0; i < count; i++)
        json_append(doc, ids, json_string(doc, layers[i].diff_id.text));
    json_set(doc, json_get(root, "rootfs"), "diff_ids", ids);
    if (created)
        json_set(doc, root, "created", json_string(doc, created));
    if (edit_history(image, count, when, err) < 0)
        return -1;
    return json_write(doc, out, err);
}

static const char *media_type(enum compression kind)
{
    switch (kind) {
    case COMPRESSION_GZIP:
        return MEDIA_TYPE_LAYER_GZIP;
    case COMPRESSION_ZSTD:
        return MEDIA_TYPE_LAYER_ZSTD;
    case COMPRESSION_NONE:
        break;
    }
    return MEDIA_TYPE_LAYER;
}

static struct json *descriptor(struct json_doc *doc, const char *type, const struct digest *digest,
                               uint64_t size)
{
    struct json *d = json_object(doc);

    json_set(doc, d, "mediaType", json_string(doc, type));
    json_set(doc, d, "digest", json_string(doc, digest->text));
    json_set(doc, d, "size", json_number(doc, size));
    return d;
}

int manifest_make(const struct image *image, const struct digest *config, size_t config_size,
                  const struct written_layer *layers, size_t count, struct buf *out,
                  struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *root = json_root(doc);
    json_set(doc, root, "schemaVersion", json_number(doc, 2));
    json_set(doc, root, "mediaType", json_string(doc, MEDIA_TYPE_MANIFEST));
    json_set(doc, root, "config", descriptor(doc, MEDIA_TYPE_CONFIG, config, config_size));
    struct json *list = json_set(doc, root, "layers", json_array(doc));
    for (size_t i = 0; i < count; i++)
        json_append(doc, list,
                    descriptor(doc, media_type(layers[i].kind), &layers[i].digest, layers[i].size));
    const struct json *old =
        image->manifest ? json_get(json_root(image->manifest), "annotations") : NULL;
    struct json *annotations = json_is(old, JSON_OBJECT) ? json_copy(doc, old) : json_object(doc);
    const struct digest *source = image->manifest ? &image->digest : &image->config_digest;
    json_set(doc, root, "annotations", annotations);
    json_set(doc, annotations, "dev.flatbed.source.digest", json_string(doc, source->text));
    return json_write(doc, out, err);
}

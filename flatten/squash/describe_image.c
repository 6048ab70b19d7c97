#include "flatten/squash/describe_image.h"

#include "flatten/image/history.h"
#include "flatten/name/media_type.h"

#include <string.h>

/*
 * Marks the history's entries of merged layers as empty; those of the first `kept` layers stay.
 * Returns how many of these there are: a history may have fewer entries than the image has layers.
 */
static size_t empty_history(struct json_doc *doc, struct json *history, size_t kept)
{
    size_t found = 0;

    for (size_t i = 0; i < json_count(history); i++) {
        struct json *entry = json_at(history, i);
        if (!json_is(entry, JSON_OBJECT) || history_is_empty_layer(entry))
            continue;
        if (found < kept)
            found++;
        else
            json_set(doc, entry, "empty_layer", json_bool(doc, true));
    }
    return found;
}

static void add_entry(struct json_doc *doc, struct json *history, const char *created,
                      const struct layer_note *note)
{
    struct json *entry = json_append(doc, history, json_object(doc));

    if (created)
        json_set(doc, entry, "created", json_string(doc, created));
    json_set(doc, entry, "created_by", json_string(doc, note->created_by));
    json_set(doc, entry, "comment", json_string(doc, note->comment));
}

static int edit_history(struct image *image, const struct new_layers *layers, const char *created,
                        struct err *err)
{
    static const struct layer_note unknown = {"flatten squash", "a layer without history, kept"};
    struct json_doc *doc = image->config;
    struct json *root = json_root(doc), *history = json_get(root, "history");

    if (!history || json_is(history, JSON_NULL))
        history = json_set(doc, root, "history", json_array(doc));
    if (!json_is(history, JSON_ARRAY))
        return err_set(err, ERR_FORMAT, "the config's history is not an array");
    for (size_t i = empty_history(doc, history, layers->kept); i < layers->kept; i++)
        add_entry(doc, history, created, &unknown);
    for (size_t i = layers->kept; i < layers->count; i++)
        add_entry(doc, history, created, &layers->notes[i]);
    return 0;
}

int config_squash(struct image *image, const struct new_layers *layers, const char *created,
                  struct buf *out, struct err *err)
{
    struct json_doc *doc = image->config;
    struct json *root = json_root(doc), *ids = json_array(doc);
    const char *when = created ? created : json_text(json_get(root, "created"));

    for (size_t i = 0; i < layers->count; i++)
        json_append(doc, ids, json_string(doc, layers->list[i].diff_id.text));
    json_set(doc, json_get(root, "rootfs"), "diff_ids", ids);
    if (created)
        json_set(doc, root, "created", json_string(doc, created));
    if (edit_history(image, layers, when, err) < 0)
        return -1;
    return json_write(doc, out, err);
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

static struct json *layer_descriptor(struct json_doc *doc, const struct written_layer *layer)
{
    return descriptor(doc, written_layer_media_type(layer), &layer->digest, layer->size);
}

/* Copies the source's descriptor, with an OCI media type in the place of Docker's. */
static struct json *kept_descriptor(struct json_doc *doc, const struct json *old,
                                    const struct written_layer *layer)
{
    static const char oci[] = "application/vnd.oci.image.layer.";
    const char *type = json_text(json_get(old, "mediaType"));

    if (!json_is(old, JSON_OBJECT))
        return layer_descriptor(doc, layer);
    struct json *d = json_copy(doc, old);
    if (!type || strncmp(type, oci, sizeof(oci) - 1) != 0)
        json_set(doc, d, "mediaType", json_string(doc, written_layer_media_type(layer)));
    return d;
}

int manifest_make(const struct image *image, const struct digest *config, size_t config_size,
                  const struct new_layers *layers, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *root = json_root(doc);
    json_set(doc, root, "schemaVersion", json_number(doc, 2));
    json_set(doc, root, "mediaType", json_string(doc, MEDIA_TYPE_MANIFEST));
    json_set(doc, root, "config", descriptor(doc, MEDIA_TYPE_CONFIG, config, config_size));
    struct json *list = json_set(doc, root, "layers", json_array(doc));
    const struct json *source = image->manifest ? json_root(image->manifest) : NULL;
    const struct json *old_layers = json_get(source, "layers");
    for (size_t i = 0; i < layers->count; i++)
        json_append(doc, list,
                    i < layers->kept
                        ? kept_descriptor(doc, json_at(old_layers, i), &layers->list[i])
                        : layer_descriptor(doc, &layers->list[i]));
    const struct json *old = json_get(source, "annotations");
    struct json *annotations = json_is(old, JSON_OBJECT) ? json_copy(doc, old) : json_object(doc);
    const struct digest *id = image->manifest ? &image->digest : &image->config_digest;
    json_set(doc, root, "annotations", annotations);
    json_set(doc, annotations, "dev.flatbed.source.digest", json_string(doc, id->text));
    json_remove(annotations, ANNOTATION_INVENTORY); /* the source's: of other layers */
    if (layers->inventory)
        json_set(doc, annotations, ANNOTATION_INVENTORY, json_string(doc, layers->inventory));
    return json_write(doc, out, err);
}

#include "flatten/keeper/sink/sink_index.h"

#include "base/json/json.h"
#include "flatten/name/image_name.h"
#include "flatten/name/media_type.h"

/* Appends the descriptor of the image. */
static int add_descriptor(struct json_doc *doc, struct json *list, const struct sink_image *image,
                          struct err *err)
{
    _cleanup_free_ char *full_name = image->name ? image_name_full(image->name, err) : NULL;

    if (image->name && !full_name)
        return -1;
    struct json *d = json_append(doc, list, json_object(doc));
    json_set(doc, d, "mediaType",
             json_string(doc, image->is_index ? MEDIA_TYPE_INDEX : MEDIA_TYPE_MANIFEST));
    json_set(doc, d, "digest", json_string(doc, image->manifest.digest.text));
    json_set(doc, d, "size", json_number(doc, image->manifest.len));
    if (image->name) {
        struct json *annotations = json_set(doc, d, "annotations", json_object(doc));
        const char *tag = image_name_tag(image->name);
        const char *ref = sink_layout_tag(image->name, image->whole_name);
        /* containerd takes the full name from its own key, and the tag from the spec's. */
        if (tag)
            json_set(doc, annotations, "io.containerd.image.name", json_string(doc, full_name));
        json_set(doc, annotations, "org.opencontainers.image.ref.name", json_string(doc, ref));
    }
    return 0;
}

int sink_index_json(const struct sink_image *images, size_t count, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *root = json_root(doc);
    json_set(doc, root, "schemaVersion", json_number(doc, 2));
    json_set(doc, root, "mediaType", json_string(doc, MEDIA_TYPE_INDEX));
    struct json *manifests = json_set(doc, root, "manifests", json_array(doc));
    for (size_t i = 0; i < count; i++)
        if (!images[i].inner && add_descriptor(doc, manifests, &images[i], err) < 0)
            return -1;
    return json_write(doc, out, err);
}

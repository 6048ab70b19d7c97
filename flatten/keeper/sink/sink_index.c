#include "flatten/keeper/sink/sink_index.h"

#include "base/json/json.h"
#include "flatten/name/image_name.h"
#include "flatten/name/media_type.h"

#include <string.h>

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

/* ---- an index that exists ---- */

static const char *ref_name(const struct json *descriptor)
{
    return json_text(
        json_path(descriptor, "annotations", "org.opencontainers.image.ref.name", NULL));
}

static bool same_name(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool same_digest(const struct json *a, const struct json *b)
{
    const char *x = json_text(json_get(a, "digest")), *y = json_text(json_get(b, "digest"));

    return x && y && strcmp(x, y) == 0;
}

/* The name under which containerd imports the image. */
static const char *full_name(const struct json *descriptor)
{
    return json_text(json_path(descriptor, "annotations", "io.containerd.image.name", NULL));
}

static int refuse_name(const char *name, struct err *err)
{
    if (name)
        return err_set(err, ERR_USAGE,
                       "it has another image called %s: end the destination with :TAG, with that "
                       "tag to replace it (with --family: with :{tag})",
                       name);
    return err_set(err, ERR_USAGE,
                   "it has another image without a name: end the destination with :TAG");
}

/*
 * Removes the old descriptors whose name, or lack of one, the new descriptor has as well. A name
 * from the source replaces no other image, neither here nor where the layout is imported.
 */
static int remove_replaced(struct json *list, const struct json *added, bool named, struct err *err)
{
    const char *name = ref_name(added), *full = full_name(added);

    for (size_t i = json_count(list); i-- > 0;) {
        const struct json *old = json_at(list, i);
        bool same = same_name(ref_name(old), name);
        bool alike = same || (full && same_name(full_name(old), full));
        if (alike && !named && !same_digest(old, added))
            return refuse_name(same ? name : full, err);
        if (same)
            json_remove_at(list, i);
    }
    return 0;
}

int sink_index_merge(const struct buf *old, const struct buf *fresh, bool named, struct buf *out,
                     struct err *err)
{
    static const struct json_options options = {.unique_keys = true};
    _cleanup_json_ struct json_doc *doc = json_parse(old->data, old->len, &options, err);
    _cleanup_json_ struct json_doc *added = json_parse(fresh->data, fresh->len, NULL, err);

    if (!doc || !added)
        return -1;
    struct json *list = json_get(json_root(doc), "manifests");
    const struct json *fresh_list = json_get(json_root(added), "manifests");
    if (!json_is(list, JSON_ARRAY))
        return err_set(err, ERR_FORMAT, "index.json has no manifests");
    for (size_t i = 0; i < json_count(fresh_list); i++)
        if (remove_replaced(list, json_at(fresh_list, i), named, err) < 0)
            return -1;
    for (size_t i = 0; i < json_count(fresh_list); i++)
        json_append(doc, list, json_copy(doc, json_at(fresh_list, i)));
    return json_write(doc, out, err);
}

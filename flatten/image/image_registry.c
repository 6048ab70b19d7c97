#include "flatten/image/image_internal.h"

#include <string.h>

/* Makes the descriptor of the manifest or index that the reference names, as a layout has one. */
static struct json_doc *root_descriptor(const struct source_registry *r, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return NULL;
    struct json *d = json_root(doc);
    if (r->root_type)
        json_set(doc, d, "mediaType", json_string(doc, r->root_type));
    json_set(doc, d, "digest", json_string(doc, r->root.text));
    json_set(doc, d, "size", json_number(doc, r->root_size));
    if (json_failed(doc)) {
        err_nomem(err);
        return NULL;
    }
    return steal_ptr(&doc);
}

struct image *image_read_registry(const struct source_registry *r,
                                  const struct image_choice *choice, struct err *err)
{
    _cleanup_json_ struct json_doc *root = root_descriptor(r, err);
    _cleanup_image_ struct image *image =
        root ? image_read_descriptor(r->store, json_root(root), choice, err) : NULL;

    if (image && r->name && !(image->name = strdup(r->name))) {
        err_nomem(err);
        return NULL;
    }
    return steal_ptr(&image);
}

#include "flatten/image/image_internal.h"

#include "flatten/image/image_index.h"
#include "flatten/name/image_name.h"

#include <string.h>

/* A layout (image-spec image-layout.md: blobs/sha256/HEX, index.json, oci-layout). */

static int check_layout(struct blob_store *store, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (store->ops->read(store, LAYOUT_OCI_LAYOUT, &text, err) < 0)
        return err_wrap(err, "not an OCI image layout");
    _cleanup_json_ struct json_doc *doc = json_parse(text.data, text.len, NULL, err);
    const char *version = doc ? json_text(json_get(json_root(doc), "imageLayoutVersion")) : NULL;
    if (!version || strncmp(version, "1.", 2) != 0)
        return err_set(err, ERR_FORMAT, "oci-layout does not say imageLayoutVersion 1");
    return 0;
}

static struct json_doc *read_index(struct blob_store *store, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (check_layout(store, err) < 0 || store->ops->read(store, LAYOUT_INDEX_JSON, &text, err) < 0)
        return NULL;
    struct json_doc *index = json_parse(text.data, text.len, &image_json_options, err);
    if (!index)
        err_wrap(err, "index.json");
    return index;
}

int image_list_layout(struct blob_store *store, size_t **places, size_t *count, struct err *err)
{
    _cleanup_json_ struct json_doc *index = read_index(store, err);

    if (!index)
        return -1;
    const struct json *manifests = json_get(json_root(index), "manifests");
    *count = 0;
    if (!(*places = calloc(json_count(manifests) + 1, sizeof(**places))))
        return err_nomem(err);
    for (size_t i = 0; i < json_count(manifests); i++)
        if (image_is_platform(json_at(manifests, i)))
            (*places)[(*count)++] = i;
    return 0;
}

/* By its place, its tag, or for being the only one; where there are several, by platform. */
static struct json *choose_top(struct json *index, const char *tag, const char *platform,
                               struct err *err)
{
    bool several = index_count_images(index) > 1 && !tag;
    size_t place;

    if (tag && image_name_place(tag, &place)) {
        struct json *found = json_at(json_get(index, "manifests"), place);
        if (!found)
            err_set(err, ERR_USAGE, "no image %s in the layout: the first is @0", tag);
        return found;
    }
    return index_choose(index, tag, several && index_names_platform(platform) ? platform : NULL,
                        err);
}

struct image *image_read_layout(struct blob_store *store, const char *name,
                                const struct image_choice *choice, struct err *err)
{
    _cleanup_json_ struct json_doc *index = read_index(store, err);
    struct json *descriptor =
        index ? choose_top(json_root(index), name, choice->platform, err) : NULL;

    if (!descriptor)
        return NULL;
    struct image *image = image_read_descriptor(store, descriptor, choice, err);
    const char *tag = index_tag(descriptor);
    if (image && tag)
        image->name = strdup(tag);
    return image;
}

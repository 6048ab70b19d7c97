/* The depth of podman's images, from the lists of containers/storage (overlay-images,
 * overlay-layers). */
#include "shim/admin/doctor/images/image_depth.h"
#include "shim/admin/doctor/images/images.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES = 64 * 1024 * 1024 };

/* The layers of the store, in the order of their IDs. */
struct layer {
    const char *id, *parent; /* of the document */
};

struct layers {
    struct layer *list;
    size_t count;
};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct layer *)a)->id, ((const struct layer *)b)->id);
}

static struct json_doc *read_list(const char *root, const char *name)
{
    _cleanup_free_ char *path = strf("%s/%s", root, name);
    _cleanup_buf_ struct buf text = BUF_INIT;
    static const struct json_options options = {.max_bytes = LIST_BYTES};
    struct err ignored;

    if (!path || file_read(AT_FDCWD, path, LIST_BYTES, &text, &ignored) < 0)
        return NULL;
    return json_parse_buf(&text, &options, &ignored);
}

static bool list_layers(const struct json *all, struct layers *out)
{
    size_t most = json_count(all);

    out->list = calloc(most + 1, sizeof(*out->list));
    if (!out->list)
        return false;
    for (size_t i = 0; i < most; i++) {
        const struct json *of = json_at(all, i);
        const char *id = json_text(json_get(of, "id")), *parent = json_text(json_get(of, "parent"));
        if (id)
            out->list[out->count++] = (struct layer){id, parent};
    }
    qsort(out->list, out->count, sizeof(*out->list), by_id);
    return out->count > 0;
}

static const struct layer *find_layer(const struct layers *layers, const char *id)
{
    const struct layer wanted = {id, NULL};

    return id && *id ? bsearch(&wanted, layers->list, layers->count, sizeof(*layers->list), by_id)
                     : NULL;
}

/* A list that was tampered with may be a circle: no image has more layers than the store. */
static size_t depth_of(const struct layers *layers, const char *top)
{
    size_t depth = 0;

    for (const struct layer *at = find_layer(layers, top); at && depth < layers->count;
         at = find_layer(layers, at->parent))
        depth++;
    return depth;
}

static void look_at(const struct json *image, const struct layers *layers, struct image_depth *d)
{
    size_t depth = depth_of(layers, json_text(json_get(image, "layer")));
    const char *name = json_text(json_at(json_get(image, "names"), 0));
    const char *id = json_text(json_get(image, "id"));

    image_depth_add(d, name, id ? id : "", depth);
}

void images_examine_podman(const char *root, struct diagnoses *out)
{
    _cleanup_json_ struct json_doc *all = NULL, *images = NULL;
    struct layers layers = {0};
    struct image_depth d = {0};

    if (!diagnoses_want(out, "image-depth"))
        return;
    all = read_list(root, "overlay-layers/layers.json");
    images = read_list(root, "overlay-images/images.json");
    if (all && images && list_layers(json_root(all), &layers))
        for (size_t i = 0; i < json_count(json_root(images)); i++)
            look_at(json_at(json_root(images), i), &layers, &d);
    free(layers.list);
    image_depth_judge(&d, root, out);
}

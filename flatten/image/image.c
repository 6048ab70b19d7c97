#include "flatten/image/image.h"

#include "flatten/exchange/image_limits.h"
#include "flatten/image/image_internal.h"

#include <string.h>

/* A document takes up to 57 times the memory of its text. Bytes. */
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
        struct layer *layer = &image->layers[i];
        cleanup_fd(&layer->fd);
        layer->fd = -1;
        cleanup_arrival(&layer->arriving.all);
        layer->arriving.all = NULL;
    }
}

/* Puts the source and the layer before the error of the layer that did not arrive, if there is one.
 */
static bool find_lost(const struct image *image, struct err *err)
{
    for (size_t i = 0; i < image->layer_count; i++) {
        const struct layer *layer = &image->layers[i];
        if (!arrival_failed(&layer->arriving, err))
            continue;
        err_wrap(err, "layer %u", layer->number);
        if (image->from)
            image_wrap_reference(image->from, err);
        return true;
    }
    return false;
}

static int await_layers(const struct image *image, struct err *err)
{
    for (size_t i = 0; i < image->layer_count; i++) {
        const struct layer *layer = &image->layers[i];
        if (arrival_await(&layer->arriving, layer->size, err) < 0)
            return find_lost(image, err) ? -1 : err_wrap(err, "layer %u", layer->number);
    }
    return 0;
}

bool image_explain(const struct image *image, struct err *err)
{
    struct err why = ERR_INIT;
    bool lost = err->kind == ERR_SYSTEM ? find_lost(image, &why) : await_layers(image, &why) < 0;

    if (lost)
        *err = why;
    return lost;
}

int image_check_still(const struct image *image, struct err *err)
{
    const struct image_tree *tree = image->tree;
    struct err gone = ERR_INIT; /* `err` may have the error of a file that was gone */

    if (!tree)
        return await_layers(image, err);
    if (tree->still(tree->ctx, tree->number, &gone) == 0)
        return 0;
    *err = gone;
    return -1;
}

static void tree_free(struct image_tree *tree)
{
    if (tree)
        cleanup_fd(&tree->fd);
    free(tree);
}

void image_free(struct image *image)
{
    tree_free(image->tree);
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

struct image *image_new_layers(size_t count, struct err *err)
{
    _cleanup_image_ struct image *image = calloc(1, sizeof(*image));

    if (!image || !(image->layers = calloc(count, sizeof(*image->layers)))) {
        err_nomem(err);
        return NULL;
    }
    image->layer_count = count;
    for (size_t i = 0; i < count; i++)
        image->layers[i] = (struct layer){.number = (unsigned)i + 1,
                                          .fd = -1,
                                          .max_size = LAYER_MAX_SIZE,
                                          .unpack = &image->unpack};
    return steal_ptr(&image);
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
    _cleanup_image_ struct image *image = image_new_layers(count, err);
    if (!image)
        return NULL;
    image->config = steal_ptr(&owned);
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

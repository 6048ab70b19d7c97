#include "shim/admin/containers/sources.h"
#include "shim/admin/engine/ctr.h"

#include "base/base64.h"
#include "base/path.h"

#include <fcntl.h>
#include <string.h>

enum { CREATED_BY_MOST = 4096 };

/* Returns the layer of the image with that index from the bottom; NULL if the engine added it. */
static struct container_layer *layer_at(struct container_layer *about, size_t count, size_t index)
{
    return index < count ? &about[count - 1 - index] : NULL;
}

bool image_history_read(const struct json *config, struct container_layer *about, size_t count,
                        struct arena *arena)
{
    size_t layers = json_count(json_path(config, "rootfs", "diff_ids", NULL)), index = 0;
    const struct json *history = json_get(config, "history");

    if (!json_is(history, JSON_ARRAY) || layers == 0 || count < layers || count > layers + 1)
        return false;
    for (size_t i = 0; i < json_count(history) && index < layers; i++) {
        const struct json *one = json_at(history, i);
        if (json_true(json_get(one, "empty_layer")))
            continue;
        const char *text = json_text(json_get(one, "created_by"));
        struct container_layer *layer = layer_at(about, count, index++);
        if (text && *text && layer)
            layer->created_by = arena_strndup(arena, text, strnlen(text, CREATED_BY_MOST));
    }
    return true;
}

/* Returns the configuration's file in the store, as a fresh text; NULL without memory. */
static char *config_path(const struct container_found *c)
{
    _cleanup_buf_ struct buf name = BUF_INIT, path = BUF_INIT;
    struct err ignored;

    if (c->engine == CONTAINER_DOCKER) {
        buf_printf(&path, "image/overlay2/imagedb/content/sha256/%s", c->image_id);
    } else { /* containers/storage, makeBigDataBaseName */
        buf_printf(&name, "sha256:%s", c->image_id);
        buf_printf(&path, "overlay-images/%s/=", c->image_id);
        if (!name.failed)
            base64_encode(&path, name.data, name.len);
    }
    return buf_take(&path, &ignored);
}

/* Returns the configuration in the store of the container's engine; NULL if it has none. */
static struct json_doc *stored_config(const struct container_found *container)
{
    if (!container->store || !container->image_id ||
        !path_component_valid(container->image_id, strlen(container->image_id)))
        return NULL;
    _cleanup_fd_ int fd = open(container->store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_free_ char *path = config_path(container);

    return fd < 0 || !path ? NULL : container_state(fd, path);
}

/* The same in containerd, where Docker's image is known by the digest of its manifest. */
static struct json_doc *asked_config(const struct container_found *container)
{
    const struct ctr_space space = {container->address, container->space};
    _cleanup_free_ char *digest =
        container->image_id ? strf("sha256:%s", container->image_id) : NULL;
    const char *image = digest ? digest : container->image;

    return image ? ctr_image_config(&space, image) : NULL;
}

void container_root_history(const struct container_found *container, struct container_root *root)
{
    _cleanup_json_ struct json_doc *doc =
        container->address ? asked_config(container) : stored_config(container);

    if (doc)
        (void)image_history_read(json_root(doc), root->about, root->count, &root->arena);
}

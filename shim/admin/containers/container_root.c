#include "shim/admin/containers/containers.h"

#include "base/fdio.h"
#include "shim/admin/containers/sources.h"
#include "shim/admin/engine/ctr.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/host/fd_path.h"
#include "shim/mount/layers.h"
#include "shim/mount/source_wait.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>

enum { LOWER_BYTES = 256 * 1024 };

/* Opens a directory of a store. The links of the store ("l/NAME") do not lead out of it. */
static int open_beneath(int store, const char *path)
{
    return fd_open_within(store, path, O_RDONLY | O_DIRECTORY,
                          RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
}

static int add_layer(struct container_root *out, int fd, const char *name, struct err *err)
{
    if (fd < 0)
        return err_sys(err, "layer %s", name);
    int *layers = reallocarray(out->layers, out->count + 1, sizeof(*layers));
    if (layers)
        out->layers = layers;
    struct container_layer *about =
        arena_extend(&out->arena, out->about, out->count, sizeof(*about));
    if (!layers || !about) {
        close(fd);
        return err_nomem(err);
    }
    out->about = about;
    layers[out->count] = fd;
    about[out->count++] = (struct container_layer){0};
    return 0;
}

static int set_upper(struct container_root *out, int fd, const char *name, struct err *err)
{
    char path[PATH_MAX];

    out->upper = fd;
    if (fd < 0)
        return err_sys(err, "%s", name);
    out->upper_path =
        fd_path(fd, path) == 0 ? arena_strndup(&out->arena, path, strlen(path)) : name;
    return out->upper_path ? 0 : err_nomem(err);
}

/* ---- a store: LAYER/diff, LAYER/lower ---- */

static int open_lowers(int store, const char *list, struct container_root *out, struct err *err)
{
    while (*list) {
        size_t len = strcspn(list, ":\n");
        const char *name = arena_strndup(&out->arena, list, len);
        if (!name)
            return err_nomem(err);
        if (len && add_layer(out, open_beneath(store, name), name, err) < 0)
            return -1;
        list += len + (list[len] != '\0');
    }
    return 0;
}

static int open_stored(const struct container_found *c, struct container_root *out, struct err *err)
{
    const char *driver = c->engine == CONTAINER_DOCKER ? "overlay2" : "overlay";
    const char *root = arena_printf(&out->arena, "%s/%s", c->store, driver);
    const char *upper = arena_printf(&out->arena, "%s/diff", c->layer);
    const char *lower = arena_printf(&out->arena, "%s/lower", c->layer);
    _cleanup_buf_ struct buf list = BUF_INIT;

    if (!root || !upper || !lower)
        return err_nomem(err);
    _cleanup_fd_ int store = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (store < 0)
        return err_sys(err, "%s", root);
    _cleanup_fd_ int layer = open_beneath(store, c->layer);
    if (layer < 0)
        return err_sys(err, "%s/%s", root, c->layer);
    if (set_upper(out, open_beneath(store, upper), upper, err) < 0)
        return -1;
    if (file_read(layer, "lower", LOWER_BYTES, &list, err) < 0)
        return err_missing(err) ? 0 : -1; /* an image without layers */
    return open_lowers(store, list.data ? list.data : "", out, err);
}

/* ---- a mount, or a snapshot ---- */

static int open_mounted(const char *options, struct container_root *out, struct err *err)
{
    struct layers layers;

    if (layers_read(options, &out->arena, &layers, err) < 0)
        return -1;
    out->users = layers.users;
    if (!layers.upper)
        return err_set(err, ERR_UNSUPPORTED, "it has no upper directory");
    if (layers.upper[0] != '/')
        return err_set(err, ERR_UNSUPPORTED, "it was mounted with relative paths");
    if (!source_answers(layers.upper, ENGINE_STORE_WAIT))
        return err_set(err, ERR_UNSUPPORTED, "%s does not answer", layers.upper);
    if (set_upper(out, open(layers.upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC), layers.upper, err) <
        0)
        return -1;
    for (size_t i = 0; i < layers.count; i++)
        if (add_layer(out, open(layers.lower[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                      layers.lower[i], err) < 0)
            return -1;
    return 0;
}

/* Opens the snapshot that containerd shows for a container that is not mounted. */
static int open_snapshot(const struct container_found *c, struct container_root *out,
                         struct err *err)
{
    const struct ctr_space space = {c->address, c->space};
    const char *options = ctr_options(&space, c->snapshotter, c->id, &out->arena, err);

    return options ? open_mounted(options, out, err) : -1;
}

int container_root_open(const struct container_found *container, struct container_root *out,
                        struct err *err)
{
    out->users = container->users;
    if (container->super)
        return open_mounted(container->super, out, err);
    return container->address ? open_snapshot(container, out, err)
                              : open_stored(container, out, err);
}

void container_root_close(struct container_root *root)
{
    cleanup_fd(&root->upper);
    for (size_t i = 0; i < root->count; i++)
        close(root->layers[i]);
    free(root->layers);
    arena_free(&root->arena);
    *root = (struct container_root)CONTAINER_ROOT_INIT;
}

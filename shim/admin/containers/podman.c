/* The containers of podman, buildah and CRI-O: overlay-containers/containers.json in a storage. */
#include "shim/admin/containers/sources.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/host/trust.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A containers-storage. */
struct storage {
    const char *root;
    bool users; /* its overlays are mounted with userxattr, if they are not seen */
    bool fuse;  /* by a program; the storage keeps the answer in a file */
};

static bool has_program(int root)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    return file_read(root, "overlay/.has-mount-program", NAME_MAX, &text, &ignored) == 0 &&
           text.data && strncmp(text.data, "true", 4) == 0;
}

/* Returns the name of the image in the metadata, a JSON text in the JSON; NULL if it has none. */
static const char *image_name(struct container_list *list, const struct json *container,
                              bool *failed)
{
    const char *metadata = json_text(json_get(container, "metadata"));
    struct err ignored;
    _cleanup_json_ struct json_doc *doc =
        metadata ? json_parse(metadata, strlen(metadata), NULL, &ignored) : NULL;

    return doc ? container_text(list, json_text(json_get(json_root(doc), "image-name")), failed)
               : NULL;
}

static int add_one(struct container_list *list, const struct storage *storage,
                   const struct json *container, const struct overlays *mounts, struct err *err)
{
    const char *id = json_text(json_get(container, "id"));
    const char *layer = json_text(json_get(container, "layer"));
    const char *name = json_text(json_at(json_get(container, "names"), 0));
    bool failed = false;

    if (!id || !layer || !path_component_valid(layer, strlen(layer)))
        return 0;
    struct container_found *c = container_add(list);
    if (!c)
        return err_nomem(err);
    const struct overlay_seen *seen = overlays_find(mounts, layer);
    c->engine = CONTAINER_PODMAN;
    c->store = container_text(list, storage->root, &failed);
    c->id = container_text(list, id, &failed);
    c->name = container_text(list, name ? name : id, &failed);
    c->layer = container_text(list, layer, &failed);
    c->image_id = container_text(list, json_text(json_get(container, "image")), &failed);
    c->image = image_name(list, container, &failed);
    c->running = seen != NULL;
    c->users = seen ? seen->users : storage->users;
    if (storage->fuse)
        c->problem = "it is on fuse-overlayfs, which keeps deleted files in another way";
    return failed ? err_nomem(err) : 0;
}

int podman_add(struct container_list *list, const char *root, const struct overlays *mounts,
               struct err *err)
{
    /* Containers that end with the next start of the host have a list of their own. */
    static const char *const files[] = {"overlay-containers/containers.json",
                                        "overlay-containers/volatile-containers.json"};
    _cleanup_fd_ int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return errno == EACCES ? container_silent(list, root, err) : 0;
    const struct storage storage = {root, st.st_uid != 0 || trust_rootless(), has_program(fd)};
    for (size_t f = 0; f < sizeof(files) / sizeof(*files); f++) {
        _cleanup_json_ struct json_doc *doc = container_state(fd, files[f]);
        if (!doc && faccessat(fd, files[f], F_OK, 0) == 0 && container_silent(list, root, err) < 0)
            return -1;
        const struct json *all = doc ? json_root(doc) : NULL;
        for (size_t i = 0; json_is(all, JSON_ARRAY) && i < json_count(all); i++)
            if (add_one(list, &storage, json_at(all, i), mounts, err) < 0)
                return -1;
    }
    return 0;
}

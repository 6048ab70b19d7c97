/* Docker's containers: containers/ID/config.v2.json, image/overlay2/layerdb/mounts/ID/mount-id. */
#include "shim/admin/containers/sources.h"

#include "base/fdio.h"
#include "base/path.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum { ID_DIGITS = 64 };

/* Returns the directory of a container in overlay2, in the arena; NULL if it cannot be read. */
static const char *mount_id(int root, const char *id, struct arena *arena)
{
    _cleanup_free_ char *path = strf("image/overlay2/layerdb/mounts/%s/mount-id", id);
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (!path || file_read(root, path, NAME_MAX, &text, &ignored) < 0 || !text.data)
        return NULL;
    buf_truncate(&text, strcspn(text.data, "\n"));
    return path_component_valid(text.data, text.len) ? arena_strndup(arena, text.data, text.len)
                                                     : NULL;
}

/* Finds the files of a container: in Docker's store, or a snapshot that containerd has mounted. */
static void find_files(struct container_list *list, int root, const char *driver,
                       const struct overlays *mounts, struct container_found *c, bool *failed)
{
    const struct overlay_seen *seen;

    if (driver && strcmp(driver, "overlay2") == 0) {
        c->layer = mount_id(root, c->id, &list->arena);
        seen = c->layer ? overlays_find(mounts, c->layer) : NULL;
        c->users = seen && seen->users;
        if (!c->layer)
            c->problem = "Docker has no files of it";
        return;
    }
    seen = overlays_of_task(mounts, c->id);
    c->super = seen ? container_text(list, seen->super, failed) : NULL;
    c->users = seen && seen->users;
    c->snapshotter = container_text(list, driver, failed);
    if (!seen)
        c->problem = c->running ? "it is on no overlay that is mounted"
                                : "it is stopped, and containerd, which knows its files, does not "
                                  "run, or has no client ctr";
}

/* Adds a container whose state cannot be read, so that its user cannot hide it by large labels. */
static int add_unread(struct container_list *list, int fd, const char *root, const char *id,
                      const char *path, struct err *err)
{
    bool failed = false;

    if (faccessat(fd, path, F_OK, 0) < 0)
        return 0;
    struct container_found *c = container_add(list);
    if (!c)
        return err_nomem(err);
    c->engine = CONTAINER_DOCKER;
    c->store = container_text(list, root, &failed);
    c->id = c->name = container_text(list, id, &failed);
    c->running = true;
    c->problem = "its config.v2.json is too large, or damaged";
    return failed ? err_nomem(err) : 0;
}

static int add_one(struct container_list *list, int fd, const char *root, const char *id,
                   const struct overlays *mounts, struct err *err)
{
    _cleanup_free_ char *path = strf("containers/%s/config.v2.json", id);
    _cleanup_json_ struct json_doc *doc = path ? container_state(fd, path) : NULL;
    bool failed = false;

    if (!doc)
        return path ? add_unread(list, fd, root, id, path, err) : err_nomem(err);
    const struct json *state = json_root(doc),
                      *running = json_path(state, "State", "Running", NULL);
    const char *name = json_text(json_get(state, "Name"));
    const char *image = json_text(json_get(state, "Image"));
    struct container_found *c = container_add(list);
    if (!c)
        return err_nomem(err);
    c->engine = CONTAINER_DOCKER;
    c->store = container_text(list, root, &failed);
    c->id = container_text(list, id, &failed);
    c->name = container_text(list, name ? name + (*name == '/') : id, &failed);
    c->image = container_text(list, json_text(json_path(state, "Config", "Image", NULL)), &failed);
    if (image && strncmp(image, "sha256:", 7) == 0)
        c->image_id = container_text(list, image + 7, &failed);
    c->running = json_true(running);
    find_files(list, fd, json_text(json_get(state, "Driver")), mounts, c, &failed);
    return failed ? err_nomem(err) : 0;
}

int docker_add(struct container_list *list, const char *root, const struct overlays *mounts,
               struct err *err)
{
    _cleanup_fd_ int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int containers = fd < 0 ? -1 : fd_open_directory(fd, "containers");
    DIR *dir = containers < 0 ? NULL : fdopendir(containers);
    const struct dirent *e;
    int rc = 0;

    if (containers < 0)
        return errno == EACCES ? container_silent(list, root, err) : 0;
    if (!dir) {
        close(containers);
        return err_nomem(err);
    }
    while (rc == 0 && (e = readdir(dir)))
        if (strlen(e->d_name) == ID_DIGITS && path_component_valid(e->d_name, ID_DIGITS))
            rc = add_one(list, fd, root, e->d_name, mounts, err);
    closedir(dir);
    return rc;
}

#include "shim/admin/containers/containers.h"

#include "base/fdio.h"
#include "shim/admin/containers/sources.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/host/trust.h"
#include "shim/mount/mount_table.h"
#include "shim/mount/source_wait.h"

#include <dirent.h>
#include <string.h>

enum { WAIT = 5000 }; /* milliseconds */

const char *const container_engine_names[CONTAINER_ENGINES] = {"docker", "podman", "containerd",
                                                               "overlay"};

struct container_found *container_add(struct container_list *list)
{
    struct container_found *grown =
        arena_extend(&list->arena, list->list, list->count, sizeof(*grown));

    if (!grown)
        return NULL;
    list->list = grown;
    grown[list->count] = (struct container_found){0};
    return &grown[list->count++];
}

const char *container_text(struct container_list *list, const char *text, bool *failed)
{
    const char *copy = text ? arena_strndup(&list->arena, text, strlen(text)) : NULL;

    *failed = *failed || (text && !copy);
    return copy;
}

int container_silent(struct container_list *list, const char *path, struct err *err)
{
    const char *copy = arena_strndup(&list->arena, path, strlen(path));

    list->silent = arena_extend(&list->arena, list->silent, list->silent_count, sizeof(char *));
    if (!list->silent || !copy)
        return err_nomem(err);
    list->silent[list->silent_count++] = copy;
    return 0;
}

struct json_doc *container_state(int dirfd, const char *path)
{
    static const struct json_options options = {.max_bytes = STATE_BYTES};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (file_read(dirfd, path, STATE_BYTES, &text, &ignored) < 0)
        return NULL;
    return json_parse_buf(&text, &options, &ignored);
}

/* Returns false for a directory that does not answer. */
static bool answers(const char *path)
{
    _cleanup_free_ char *name = strf("%s/.flatbed-containers", path);
    struct err ignored;

    return !name || source_wait(name, NULL, WAIT, &ignored) <= 0;
}

/* Adds the containers of a store of any kind. */
static int add_store(struct container_list *list, const struct containers_where *where,
                     const char *root, const struct overlays *mounts, struct err *err)
{
    if (!answers(root))
        return container_silent(list, root, err);
    if (where->engines[CONTAINER_DOCKER] && docker_add(list, root, mounts, err) < 0)
        return -1;
    return where->engines[CONTAINER_PODMAN] ? podman_add(list, root, mounts, err) : 0;
}

/* Docker with userns-remap keeps everything in DATA-ROOT/UID.GID. */
static int add_remapped(struct container_list *list, const struct containers_where *where,
                        const char *root, const struct overlays *mounts, struct err *err)
{
    DIR *dir = opendir(root);
    const struct dirent *e;
    int rc = 0;

    while (dir && rc == 0 && (e = readdir(dir))) {
        size_t uid = strspn(e->d_name, "0123456789");
        if (uid == 0 || e->d_name[uid] != '.' || !e->d_name[uid + 1] ||
            e->d_name[uid + 1 + strspn(e->d_name + uid + 1, "0123456789")])
            continue;
        _cleanup_free_ char *path = strf("%s/%s", root, e->d_name);
        rc = path ? add_store(list, where, path, mounts, err) : err_nomem(err);
    }
    if (dir)
        closedir(dir);
    return rc;
}

/* Adds the stores of this host: those of root, or the user's own. */
static int add_usual(struct container_list *list, const struct containers_where *where,
                     const struct overlays *mounts, struct err *err)
{
    static const char *const below[] = {".local/share/docker", ".local/share/containers/storage"};
    const char *home = getenv("HOME"), *docker = engine_docker_root(&list->arena);

    if (!trust_rootless())
        return add_store(list, where, docker, mounts, err) < 0 ||
                       add_store(list, where, engine_podman_root(&list->arena), mounts, err) < 0
                   ? -1
                   : add_remapped(list, where, docker, mounts, err);
    for (size_t i = 0; i < 2 && home && home[0] == '/'; i++) {
        _cleanup_free_ char *path = strf("%s/%s", home, below[i]);
        if (!path)
            return err_nomem(err);
        if (add_store(list, where, path, mounts, err) < 0)
            return -1;
    }
    return 0;
}

int containers_list(const struct containers_where *where, struct container_list *out,
                    struct err *err)
{
    _cleanup_overlays_ struct overlays mounts = {0};

    *out = (struct container_list){0};
    if (overlays_read(&mounts, err) < 0 || add_usual(out, where, &mounts, err) < 0)
        return -1;
    for (size_t i = 0; i < where->store_count; i++)
        if (add_store(out, where, where->stores[i], &mounts, err) < 0)
            return -1;
    return where->engines[CONTAINER_CONTAINERD] ? containerd_add(out, &mounts, err) : 0;
}

int containers_add_mount(struct container_list *list, const char *point, struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    struct mount_table table;
    bool failed = false;

    if (mount_table_read(&arena, &table, err) < 0)
        return -1;
    const struct mount_entry *m = mount_table_overlay_at(&table, point);
    if (!m)
        return err_set(err, ERR_USAGE, "no overlay is mounted at '%s'", point);
    struct container_found *c = container_add(list);
    if (!c)
        return err_nomem(err);
    c->engine = CONTAINER_MOUNT;
    c->running = true;
    c->id = c->name = container_text(list, point, &failed);
    c->super = container_text(list, m->super, &failed);
    c->users = overlay_is_users(m->super);
    return failed ? err_nomem(err) : 0;
}

void containers_free(struct container_list *list)
{
    arena_free(&list->arena);
    *list = (struct container_list){0};
}

#include "shim/admin/containers/containers.h"

#include "base/fdio.h"
#include "shim/admin/containers/sources.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/mount/mount_table.h"
#include "shim/mount/source_wait.h"

#include <string.h>
#include <unistd.h>

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

/* A list that is being made. */
struct addition {
    struct container_list *list;
    const struct containers_where *where;
    const struct overlays *mounts;
};

/* Adds the containers of a store of any kind. */
static int add_store(void *ctx, const char *root, struct err *err)
{
    const struct addition *a = ctx;

    if (!source_answers(root, ENGINE_STORE_WAIT))
        return container_silent(a->list, root, err);
    if (a->where->engines[CONTAINER_DOCKER] && docker_add(a->list, root, a->mounts, err) < 0)
        return -1;
    return a->where->engines[CONTAINER_PODMAN] ? podman_add(a->list, root, a->mounts, err) : 0;
}

/* The same of a store that the user named: one that is missing is noted. */
static int add_named_store(struct addition *a, const char *root, struct err *err)
{
    if (source_answers(root, ENGINE_STORE_WAIT) && access(root, F_OK) < 0)
        return container_silent(a->list, root, err);
    return add_store(a, root, err);
}

int containers_list(const struct containers_where *where, struct container_list *out,
                    struct err *err)
{
    _cleanup_overlays_ struct overlays mounts = {0};
    struct addition addition = {out, where, &mounts};

    *out = (struct container_list){0};
    if (overlays_read(&mounts, err) < 0 || engine_each_store(add_store, &addition, err) < 0)
        return -1;
    for (size_t i = 0; i < where->store_count; i++)
        if (add_named_store(&addition, where->stores[i], err) < 0)
            return -1;
    if (where->engines[CONTAINER_CONTAINERD] && containerd_add(out, &mounts, err) < 0)
        return -1;
    return containerd_ask(out, where, err);
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

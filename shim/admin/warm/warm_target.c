#include "shim/admin/warm/warm_target.h"

#include "base/path.h"
#include "shim/admin/engine/engine_image.h"
#include "shim/mount/mount_table.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void warm_target_close(struct warm_target *target)
{
    target_close(&target->process);
    containers_free(&target->containers);
}

static int add_chain(struct warm_target *t, const struct chain *chain)
{
    warm_place_of_chain(chain, &t->places[t->count++]);
    return 0;
}

/* ---- a container ---- */

/* Returns the path by which this mount namespace shows the root of a mount of another one, in the
 * arena; NULL if it shows it nowhere. */
static const char *host_path(const struct mount_table *host, const struct mount_entry *m,
                             struct arena *arena)
{
    const struct mount_entry *best = NULL;

    for (size_t i = 0; i < host->count; i++) {
        const struct mount_entry *e = &host->list[i];
        if (e->major == m->major && e->minor == m->minor && path_is_beneath(m->root, e->root) &&
            (!best || strlen(e->root) < strlen(best->root)))
            best = e;
    }
    if (!best)
        return NULL;
    const char *rest = m->root + (strcmp(best->root, "/") == 0 ? 0 : strlen(best->root));
    const char *point = strcmp(best->point, "/") == 0 ? "" : best->point;
    return arena_printf(arena, "%s%s%s", point, *rest && *rest != '/' ? "/" : "", rest);
}

static bool is_of_kernel(const char *point)
{
    return path_is_beneath(point, "/proc") || path_is_beneath(point, "/sys") ||
           path_is_beneath(point, "/dev");
}

/* Adds the mounts that can be recorded as volumes. */
static int add_volumes(struct warm_target *t, const struct mount_table *inside, struct arena *arena,
                       struct err *err)
{
    struct mount_table host;
    struct err ignored;

    if (mount_table_read(arena, &host, err) < 0)
        return -1;
    for (size_t i = 0; i < inside->count && t->count < WARM_TARGET_PLACES; i++) {
        const struct mount_entry *m = &inside->list[i];
        const char *path = NULL;
        if (strcmp(m->point, "/") != 0 && !m->super && !is_of_kernel(m->point))
            path = host_path(&host, m, arena);
        if (!path ||
            warm_place_of_volume(*path ? path : "/", arena, &t->places[t->count], &ignored) < 0)
            continue;
        t->count++;
        t->volumes[t->volume_count++] = (struct warm_volume){path, m->point};
    }
    return 0;
}

static int find_container(const struct container_found *c, struct arena *arena,
                          struct warm_target *t, struct err *err)
{
    struct mount_table *inside = arena_alloc(arena, sizeof(*inside));
    struct chain *chain = arena_alloc(arena, sizeof(*chain));
    char table[64];

    if (!inside || !chain)
        return err_nomem(err);
    if (target_open(c, &t->process, err) < 0)
        return -1;
    snprintf(table, sizeof(table), "/proc/%d/mountinfo", (int)t->process.pid);
    if (mount_table_read_at(AT_FDCWD, table, arena, inside, err) < 0)
        return -1;
    const struct mount_entry *root = mount_table_overlay_at(inside, "/");
    if (!root)
        return err_set(err, ERR_UNSUPPORTED, "the root of container '%s' is no overlay", c->name);
    if (layers_read(root->super, arena, &t->layers, err) < 0 ||
        chain_find(&t->layers, "/", arena, chain, err) < 0)
        return err_wrap(err, "container '%s'", c->name);
    add_chain(t, chain);
    return add_volumes(t, inside, arena, err);
}

/* ---- an image, a volume ---- */

static int find_image(const char *image, struct arena *arena, struct warm_target *t,
                      struct err *err)
{
    _cleanup_engine_image_ struct engine_image found = {0};
    struct chain *chain = arena_alloc(arena, sizeof(*chain));

    if (!chain)
        return err_nomem(err);
    if (engine_image_find(image, NULL, arena, &found, err) < 0 ||
        chain_of_paths(found.layers, found.count, false, arena, chain, err) < 0)
        return err->kind == ERR_USAGE
                   ? err_set(err, ERR_USAGE, "there is no running container or image '%s'", image)
                   : -1;
    return add_chain(t, chain);
}

int warm_target_find(const char *operand, const char *const *stores, size_t store_count,
                     struct arena *arena, struct warm_target *out, struct err *err)
{
    const struct containers_where where = {
        .engines = {true, true, true}, .stores = stores, .store_count = store_count};
    struct err several = ERR_INIT;

    *out = (struct warm_target)WARM_TARGET_INIT;
    if (operand[0] == '/') {
        if (warm_place_of_volume(operand, arena, &out->places[0], err) < 0)
            return -1;
        out->count = 1;
        return 0;
    }
    if (containers_list(&where, &out->containers, err) < 0)
        return -1;
    const struct container_found *c = target_choose(&out->containers, operand, &several);
    if (!c)
        return find_image(operand, arena, out, err);
    return find_container(c, arena, out, err);
}

#include "shim/admin/zfs/places.h"

#include "shim/admin/engine/engine_stores.h"

#include <string.h>

int zfs_places_add(struct zfs_places *places, const char *path, enum zfs_use use,
                   struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->list[i].use == use && strcmp(places->list[i].path, path) == 0)
            return 0;
    struct zfs_place *list = arena_extend(arena, places->list, places->count, sizeof(*list));
    const char *kept = arena_strndup(arena, path, strlen(path));
    if (!list || !kept)
        return err_nomem(err);
    list[places->count++] = (struct zfs_place){kept, use};
    places->list = list;
    return 0;
}

int zfs_places_stores(struct zfs_places *places, struct arena *arena, struct err *err)
{
    const char *const roots[] = {engine_docker_root(arena), engine_containerd_root(arena),
                                 engine_podman_root(arena)};

    for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
        if (zfs_places_add(places, roots[i], ZFS_IMAGES, arena, err) < 0)
            return -1;
    return 0;
}

static int add_volume(struct zfs_places *places, const struct policy_volume *v, struct arena *arena,
                      struct err *err)
{
    const char *source = v->source.text, *variable = source ? strchr(source, '{') : NULL;
    size_t len = variable ? (size_t)(variable - source) : source ? strlen(source) : 0;
    bool read_only = v->access != ACCESS_RW;

    if (len == 0 || source[0] != '/')
        return 0;
    while (len > 1 && (source[len - 1] == '/' || (variable && source[len] != '/')))
        len--;
    char *path = arena_strndup(arena, source, len);
    const char *words = arena_printf(arena, "%s %s", v->name, path ? path : "");
    if (!path || !words)
        return err_nomem(err);
    return zfs_places_add(places, path, zfs_guess_use(words, read_only), arena, err);
}

int zfs_places_volumes(struct zfs_places *places, const struct policy *policy, struct arena *arena,
                       struct err *err)
{
    for (size_t i = 0; i < policy->volume_count; i++)
        if (add_volume(places, &policy->volumes[i], arena, err) < 0)
            return -1;
    return 0;
}

int zfs_places_word(struct zfs_places *places, const char *word, struct arena *arena,
                    struct err *err)
{
    enum zfs_use use = ZFS_SCRATCH;
    const char *path = zfs_parse_use(word, &use);

    if (!path) {
        path = word;
        use = zfs_guess_use(word, false);
    }
    if (path[0] != '/')
        return err_set(err, ERR_USAGE,
                       "%s: expected an absolute path, or USE=PATH with a use of "
                       "images, models, datasets, scratch or logs",
                       word);
    return zfs_places_add(places, path, use, arena, err);
}

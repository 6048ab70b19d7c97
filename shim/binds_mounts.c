/* What is mounted at and below a source, and where users can have an engine mount something. */
#include "base/path.h"
#include "shim/binds_look.h"

#include <string.h>

/* ---- the folders of volumes ---- */

/* DATA of a container's root at DATA/STORE/…, as the engines' storage drivers have it. */
static const char *engine_data(const char *root, size_t *len)
{
    static const char *const stores[] = {"/overlay2/", "/overlay/",      "/fuse-overlayfs/",
                                         "/btrfs/",    "/zfs/",          "/aufs/",
                                         "/vfs/",      "/devicemapper/", "/rootfs/"};

    *len = 0;
    for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++)
        for (const char *at = strstr(root, stores[i]); at; at = strstr(at + 1, stores[i]))
            if ((size_t)(at - root) > *len)
                *len = (size_t)(at - root);
    return *len ? root : NULL;
}

int binds_find_volumes(const struct spec *spec, struct arena *arena, struct volume_folders *out,
                       struct err *err)
{
    const char *root = json_text(json_path(spec->root, "root", "path", NULL));
    size_t len;
    const char *data = root && path_is_clean_absolute(root) ? engine_data(root, &len) : NULL;
    _cleanup_free_ char *own = data ? strf("%.*s/volumes", (int)len, data) : NULL;

    *out = (struct volume_folders){
        .path = {"/var/lib/docker/volumes", "/var/lib/containers/storage/volumes"}};
    if (!data)
        return 0;
    out->root = root;
    out->path[2] = own ? arena_strndup(arena, own, strlen(own)) : NULL;
    return out->path[2] ? 0 : err_nomem(err);
}

bool binds_unsteady(const struct volume_folders *volumes, const char *path)
{
    if (volumes->root && path_is_beneath(volumes->root, path))
        return true;
    for (size_t i = 0; i < VOLUME_FOLDERS && volumes->path[i]; i++)
        if (path_is_beneath(path, volumes->path[i]) || path_is_beneath(volumes->path[i], path))
            return true;
    return false;
}

/* ---- file systems whose name does not tell what they show ---- */

/* Mounted for a volume, as its user wanted it. */
static bool is_volumes_own(const struct volume_folders *volumes, const struct mount_entry *m)
{
    if (strcmp(m->type, "tmpfs") == 0)
        return false;
    for (size_t i = 0; i < VOLUME_FOLDERS && volumes->path[i]; i++)
        if (path_is_beneath(m->point, volumes->path[i]) && strcmp(m->point, volumes->path[i]) != 0)
            return true;
    return false;
}

bool binds_is_opaque(const struct volume_folders *volumes, const struct mount_entry *m,
                     const char *name)
{
    if (strcmp(m->type, "overlay") == 0)
        return strcmp(m->point, "/") != 0;
    /* What it shows is somewhere else as well, and has been given that name. */
    return path_is_beneath(name, m->point) && is_volumes_own(volumes, m);
}

/* ---- beneath a source ---- */

static int add_below(const struct volume_folders *volumes, const struct mount_table *table,
                     const struct mount_entry *m, struct arena *arena, struct bind_source *s,
                     struct err *err)
{
    _cleanup_buf_ struct buf name = BUF_INIT;
    struct bind_below *below;

    s->below = arena_extend(arena, s->below, s->below_count, sizeof(*s->below));
    if (!s->below || !mount_table_name(table, m->id, m->point, &name))
        return err_nomem(err);
    below = &s->below[s->below_count++];
    *below = (struct bind_below){.path = arena_strndup(arena, name.data, name.len)};
    if (!below->path)
        return err_nomem(err);
    if (binds_is_opaque(volumes, m, below->path))
        below->opaque = m->point;
    return 0;
}

int binds_find_below(const struct volume_folders *volumes, const struct mount_table *table,
                     struct arena *arena, struct bind_source *s, struct err *err)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct mount_entry *m = &table->list[i];
        if (strcmp(m->point, s->found) != 0 && path_is_beneath(m->point, s->found) &&
            add_below(volumes, table, m, arena, s, err) < 0)
            return -1;
    }
    return 0;
}

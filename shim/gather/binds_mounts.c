#include "shim/gather/binds_mounts.h"

#include "base/path.h"

#include <string.h>

bool binds_is_init(const char *path)
{
    static const char *const names[] = {"docker-init", "tini", "tini-static", "catatonit"};

    if (strncmp(path, "/usr/", 5) != 0)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(strrchr(path, '/') + 1, names[i]) == 0)
            return true;
    return false;
}

/* ---- file systems that could show anything ---- */

/* True for a mount that a volume's options asked for. */
static bool is_volumes_own(const struct engine_directories *engine, const struct mount_entry *m)
{
    if (strcmp(m->type, "tmpfs") == 0)
        return false;
    for (size_t i = 0; i < VOLUME_DIRECTORIES && engine->volumes[i]; i++)
        if (path_is_beneath(m->point, engine->volumes[i]) &&
            strcmp(m->point, engine->volumes[i]) != 0)
            return true;
    return false;
}

const struct mount_entry *binds_find_opaque(const struct engine_directories *engine,
                                            const struct mount_table *table,
                                            const struct mount_entry *m, const char *name)
{
    if (strcmp(m->type, "overlay") == 0)
        return strcmp(m->point, "/") != 0 ? m : NULL;
    /* Engines mount a part of a volume (volume-subpath) at another place first. A source with a
     * name outside of the volume is judged by that name, unless the volume shows other owners. */
    for (size_t i = 0; i < table->count; i++) {
        const struct mount_entry *same = &table->list[i];
        if (same->major == m->major && same->minor == m->minor &&
            (path_is_beneath(name, same->point) || (m->idmapped && same->idmapped)) &&
            is_volumes_own(engine, same))
            return same;
    }
    return NULL;
}

/* ---- beneath a source ---- */

static int add_below(const struct engine_directories *engine, const struct mount_table *table,
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
    const struct mount_entry *opaque = binds_find_opaque(engine, table, m, below->path);
    if (opaque)
        below->opaque = opaque->point;
    return 0;
}

int binds_find_below(const struct engine_directories *engine, const struct mount_table *table,
                     struct arena *arena, struct bind_source *s, struct err *err)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct mount_entry *m = &table->list[i];
        if (strcmp(m->point, s->found) != 0 && path_is_beneath(m->point, s->found) &&
            add_below(engine, table, m, arena, s, err) < 0)
            return -1;
    }
    return 0;
}

#include "shim/admin/containers/overlays.h"

#include "shim/mount/mounts_of_all.h"

#include <string.h>

/* Returns the value of "KEY=…" among the options, unescaped; NULL without it, or without memory. */
static const char *option_value(const char *super, const char *key, struct arena *arena)
{
    size_t len = strlen(key);

    for (const char *at = super; *at; at += strcspn(at, ",")) {
        at += *at == ',';
        if (strncmp(at, key, len) == 0)
            return mount_table_unescape(at + len, strcspn(at + len, ","), arena);
    }
    return NULL;
}

/* Returns the last two components of a path. */
static const char *tail_of(const char *path)
{
    const char *end = strrchr(path, '/');
    const char *start = end ? memrchr(path, '/', (size_t)(end - path)) : NULL;

    return start ? start + 1 : path;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), part = strlen(end);

    return len >= part && strcmp(text + len - part, end) == 0;
}

bool overlay_is_users(const char *super)
{
    const char *found = strstr(super, ",userxattr");

    return found && (found[10] == ',' || !found[10]);
}

static void add(struct overlays *out, const struct mount_entry *m)
{
    const char *upper = option_value(m->super, "upperdir=", &out->arena);

    if (!upper)
        return;
    out->list = arena_extend(&out->arena, out->list, out->count, sizeof(*out->list));
    const char *point = arena_strndup(&out->arena, m->point, strlen(m->point));
    bool snapshot = ends_with(upper, "/fs");
    const char *super = snapshot ? arena_strndup(&out->arena, m->super, strlen(m->super)) : NULL;
    if (!out->list || !point || (snapshot && !super)) {
        out->failed = true;
        return;
    }
    out->list[out->count++] = (struct overlay_seen){
        .key = tail_of(upper),
        .point = point,
        .super = super,
        .users = overlay_is_users(m->super),
    };
}

static void visit(void *context, const struct mount_table *table)
{
    struct overlays *out = context;

    for (size_t i = 0; i < table->count && !out->failed; i++)
        if (strcmp(table->list[i].type, "overlay") == 0)
            add(out, &table->list[i]);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct overlay_seen *)a)->key, ((const struct overlay_seen *)b)->key);
}

int overlays_read(struct overlays *out, struct err *err)
{
    *out = (struct overlays){0};
    if (mounts_of_all(visit, out, err) < 0)
        return -1;
    if (out->failed)
        return err_nomem(err);
    if (out->count)
        qsort(out->list, out->count, sizeof(*out->list), by_key);
    return 0;
}

const struct overlay_seen *overlays_find(const struct overlays *all, const char *id)
{
    _cleanup_free_ char *key = NULL;

    if (all->count == 0 || asprintf(&key, "%s/diff", id) < 0)
        return NULL;
    const struct overlay_seen wanted = {.key = key};
    return bsearch(&wanted, all->list, all->count, sizeof(*all->list), by_key);
}

const struct overlay_seen *overlays_of_task(const struct overlays *all, const char *id)
{
    _cleanup_free_ char *plain = NULL, *rootfs = NULL;

    if (asprintf(&plain, "/%s", id) < 0 || asprintf(&rootfs, "/%s/rootfs", id) < 0)
        return NULL;
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].super &&
            (ends_with(all->list[i].point, plain) || ends_with(all->list[i].point, rootfs)))
            return &all->list[i];
    return NULL;
}

bool overlay_task(const char *point, const char **space, size_t *space_len, const char **id,
                  size_t *id_len)
{
    static const char before[] = "/io.containerd.runtime.v2.task/";
    const char *found = strstr(point, before);

    if (!found)
        return false;
    *space = found + strlen(before);
    *space_len = strcspn(*space, "/");
    if ((*space)[*space_len] != '/')
        return false;
    *id = *space + *space_len + 1;
    *id_len = strcspn(*id, "/");
    return *space_len && *id_len && strcmp(*id + *id_len, "/rootfs") == 0;
}

void overlays_free(struct overlays *all)
{
    arena_free(&all->arena);
}

#include "shim/admin/zfs/store/difference.h"

#include <string.h>

const char *const zfs_change_names[] = {"added", "removed", "changed"};

static int order(const struct zfs_item *a, const struct zfs_item *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int add(struct zfs_difference *out, struct zfs_changed changed, struct arena *arena,
               struct err *err)
{
    struct zfs_changed *list = arena_extend(arena, out->list, out->count, sizeof(*list));
    uint64_t *bytes = changed.change == ZFS_REMOVED ? &out->removed : &out->added;

    if (!list)
        return err_nomem(err);
    if (__builtin_add_overflow(*bytes, changed.item->bytes, bytes))
        *bytes = UINT64_MAX;
    list[out->count++] = changed;
    out->list = list;
    return 0;
}

/* Returns which list has the next item: negative for `before` alone, 0 for both. */
static int next_side(const struct zfs_items *before, size_t i, const struct zfs_items *after,
                     size_t k)
{
    if (i == before->count)
        return 1;
    return k == after->count ? -1 : order(&before->list[i], &after->list[k]);
}

int zfs_compare(const struct zfs_items *before, const struct zfs_items *after, struct arena *arena,
                struct zfs_difference *out, struct err *err)
{
    size_t i = 0, k = 0;

    *out = (struct zfs_difference){0};
    while (i < before->count || k < after->count) {
        int side = next_side(before, i, after, k);
        struct zfs_changed changed = {.change = ZFS_MOVED};
        if (side < 0)
            changed = (struct zfs_changed){ZFS_REMOVED, &before->list[i], NULL};
        else if (side > 0)
            changed = (struct zfs_changed){ZFS_ADDED, &after->list[k], NULL};
        else if (strcmp(before->list[i].id, after->list[k].id) != 0)
            changed = (struct zfs_changed){ZFS_MOVED, &after->list[k], before->list[i].id};
        i += side <= 0;
        k += side >= 0;
        if (changed.item && add(out, changed, arena, err) < 0)
            return -1;
    }
    return 0;
}

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

int zfs_compare(const struct zfs_items *before, const struct zfs_items *after, struct arena *arena,
                struct zfs_difference *out, struct err *err)
{
    size_t i = 0, k = 0;

    *out = (struct zfs_difference){0};
    while (i < before->count || k < after->count) {
        const struct zfs_item *was = i < before->count ? &before->list[i] : NULL;
        const struct zfs_item *is = k < after->count ? &after->list[k] : NULL;
        int side = !was ? 1 : !is ? -1 : order(was, is);
        struct zfs_changed changed = {side < 0   ? ZFS_REMOVED
                                      : side > 0 ? ZFS_ADDED
                                                 : ZFS_MOVED,
                                      side < 0 ? was : is, side == 0 ? was->id : NULL};
        i += side <= 0;
        k += side >= 0;
        if (side == 0 && strcmp(was->id, is->id) == 0)
            continue;
        if (add(out, changed, arena, err) < 0)
            return -1;
    }
    return 0;
}

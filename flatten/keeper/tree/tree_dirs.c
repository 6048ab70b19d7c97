#include "flatten/keeper/tree/tree_dirs.h"

#include "base/err.h"

#include <string.h>

int tree_dirs_add(struct tree_dirs *d, const struct wire_entry *e, struct err *err)
{
    d->arena.limit = TREE_DIRS_MOST;
    struct wire_entry *list = arena_extend(&d->arena, d->list, d->count, sizeof(*list));
    char *path = arena_strndup(&d->arena, e->path, strlen(e->path));
    char *xattrs = e->xattrs_size ? arena_strndup(&d->arena, e->xattrs, e->xattrs_size) : NULL;

    if (!list || !path || (e->xattrs_size && !xattrs))
        return err_set(err, ERR_LIMIT, "the attributes of all directories take more than 1 GiB");
    list[d->count] = *e;
    list[d->count].path = path;
    list[d->count].xattrs = xattrs;
    d->list = list;
    d->count++;
    return 0;
}

void tree_dirs_clear(struct tree_dirs *d)
{
    arena_free(&d->arena);
    d->list = NULL;
    d->count = 0;
}

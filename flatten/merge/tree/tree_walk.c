#include "flatten/merge/tree/tree_walk.h"

#include "flatten/merge/tree/symlink_budget.h"

#include <string.h>

struct walk {
    const struct tree *tree;
    const struct tree_links *links;
    struct symlink_budget budget;
};

static uint32_t walk_path(struct walk *w, uint32_t at, const char *path, size_t len, bool follow);

/*
 * Recurses through walk_path: no deeper than the budget has links. The target is copied, as the
 * next link on the way takes its place.
 */
static uint32_t walk_name(struct walk *w, uint32_t dir, const char *name, size_t len, bool follow)
{
    uint32_t node = tree_find(w->tree, dir, name, len);
    const char *found = follow && node != TREE_NONE ? w->links->target(w->links->ctx, node) : NULL;
    struct err ignored;

    if (!found)
        return node;
    size_t target_len = strlen(found);
    if (symlink_budget_spend(&w->budget, target_len, &ignored) < 0)
        return TREE_NONE;
    _cleanup_free_ char *target = strdup(found);
    return target ? walk_path(w, dir, target, target_len, true) : TREE_NONE;
}

static uint32_t walk_path(struct walk *w, uint32_t at, const char *path, size_t len, bool follow)
{
    const char *end = path + len;

    if (len > 0 && *path == '/')
        at = TREE_ROOT;
    while (path < end && at != TREE_NONE) {
        const char *slash = memchr(path, '/', (size_t)(end - path));
        size_t name = (size_t)((slash ? slash : end) - path);
        if (name == 2 && path[0] == '.' && path[1] == '.')
            at = at == TREE_ROOT ? at : tree_parent(w->tree, at);
        else if (name > 1 || (name == 1 && path[0] != '.'))
            at = walk_name(w, at, path, name, follow || slash);
        path += name + (slash != NULL);
    }
    return at;
}

uint32_t tree_walk(const struct tree *tree, const struct tree_links *links, uint32_t from,
                   const char *path, size_t len, bool follow)
{
    struct walk w = {.tree = tree, .links = links};

    return walk_path(&w, from, path, len, follow);
}

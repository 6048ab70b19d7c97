#include "shim/admin/leftovers/stale_trees.h"

#include "shim/admin/leftovers/named_cache.h"
#include "shim/admin/leftovers/restack_list.h"
#include "shim/host/trust.h"

#include <string.h>

enum { MEMORY_LIMIT = 64 * 1024 * 1024 };

static int add_tree(const struct restack_cache *cache, const struct restack_item *tree,
                    struct stale_list *out, struct err *err)
{
    struct stale_item *item = stale_add(out);

    if (!item)
        return err_nomem(err);
    item->engine = STALE_FLATBED;
    item->kind = STALE_TREE;
    item->parent = arena_strndup(&out->arena, cache->path, strlen(cache->path));
    item->name = arena_strndup(&out->arena, tree->key, strlen(tree->key));
    item->why = "its layers are gone";
    item->changed = tree->used;
    item->bytes = tree->bytes;
    return item->parent && item->name ? 0 : err_nomem(err);
}

/* Adds the trees that no container can use, and sets `leaves` of these alone. */
static int choose_trees(const struct restack_cache *cache, const struct stale_limits *limits,
                        struct restack_list *trees, struct stale_list *out, struct err *err)
{
    const struct restack_limits all = {
        .bytes = UINT64_MAX, .seconds = INT64_MAX, .now = limits->now};

    restack_list_judge(trees, &all);
    for (size_t i = 0; i < trees->count; i++) {
        struct restack_item *tree = &trees->items[i];
        if (limits->now - tree->used < limits->older)
            tree->leaves = NULL;
        if (tree->leaves && add_tree(cache, tree, out, err) < 0)
            return -1;
    }
    return 0;
}

/* Sets what became of the items from `from` on, which are those of `trees` with `leaves`. */
static void remove_trees(const struct restack_cache *cache, const struct stale_limits *limits,
                         struct restack_list *trees, struct stale_list *out, size_t from)
{
    struct err why = ERR_INIT;

    for (size_t i = from; i < out->count && limits->log; i++)
        limits->log(&out->list[i]);
    int rc = restack_list_trim(cache, trees, &why);
    for (size_t i = from; i < out->count; i++) {
        struct stale_item *item = &out->list[i];
        for (size_t k = 0; k < trees->count && rc == 0; k++)
            if (strcmp(trees->items[k].key, item->name) == 0)
                item->removed = trees->items[k].leaves != NULL;
        if (!item->removed)
            item->kept = rc < 0 ? "the cache is in use" : "it is in use";
    }
}

int stale_trees(const char *path, const struct stale_limits *limits, struct stale_list *out,
                struct err *err)
{
    _cleanup_restack_cache_ struct restack_cache cache = RESTACK_CACHE_INIT;
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct restack_list trees = {0};
    struct err why = ERR_INIT;
    size_t from = out->count;

    if (trust_rootless())
        return 0;
    if (named_cache_open(path, false, &cache, &why) < 0)
        return stale_problem(out, path ? path : "the cache of restack", why.msg, err);
    if (cache.fd < 0)
        return 0;
    if (restack_list_read(&cache, &arena, &trees, &why) < 0)
        return stale_problem(out, cache.path, why.msg, err);
    if (choose_trees(&cache, limits, &trees, out, err) < 0)
        return -1;
    if (limits->remove && out->count > from)
        remove_trees(&cache, limits, &trees, out, from);
    return 0;
}

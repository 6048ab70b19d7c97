#include "shim/admin/leftovers/stale_staged.h"

#include "shim/admin/engine/engine_stores.h"
#include "shim/admin/stage/stage_target.h"
#include "shim/host/process/child_ask.h"
#include "shim/host/trust.h"
#include "shim/policy/read/policy_read.h"
#include "shim/policy/registry_source.h"
#include "shim/stage/cache/stage_room.h"

#include <fcntl.h>
#include <string.h>

enum { MEMORY_LIMIT = 32 * 1024 * 1024 };

struct search {
    const struct stale_limits *limits;
    struct stale_list *out;
};

/* ---- which copies ---- */

static void look_in_child(const void *asked, void *answer)
{
    struct stat st;

    *(int *)answer = lstat(asked, &st) == 0 ? EEXIST : errno;
}

/* Returns true if the source is not there, and false if it does not answer. */
static bool is_gone(const char *source)
{
    struct err ignored;
    int answer = 0;

    return child_ask(look_in_child, source, &answer, sizeof(answer), ENGINE_STORE_WAIT, &ignored) ==
               0 &&
           answer == ENOENT;
}

/*
 * Returns why a copy is of no use, in the arena; NULL if it may be of use. No registry is asked for
 * what came from it.
 */
static const char *why_stale(const struct stage_item *item, struct arena *arena)
{
    if (item->mounted || item->state == STAGE_COPYING)
        return NULL;
    if (item->replaced)
        return "a newer copy took its place";
    if (item->state != STAGE_READY)
        return "the copy was interrupted";
    if (item->pinned || registry_source_is(item->record.source))
        return NULL;
    return is_gone(item->record.source)
               ? arena_printf(arena, "its source %s is gone", item->record.source)
               : NULL;
}

static int64_t last_use(const struct stage_cache *cache, const struct stage_item *item)
{
    struct stat st;

    if (item->state == STAGE_READY)
        return item->used > (int64_t)item->record.made ? item->used : (int64_t)item->record.made;
    return fstatat(cache->fd, item->name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mtim.tv_sec
                                                                         : INT64_MAX;
}

static int add_copy(struct search *s, const struct stage_cache *cache,
                    const struct stage_item *copy, struct err *err)
{
    struct arena *arena = &s->out->arena;
    const char *why = why_stale(copy, arena);
    int64_t changed = last_use(cache, copy);
    struct err problem = ERR_INIT;

    if (!why || (!copy->replaced && s->limits->now - changed < s->limits->older))
        return 0;
    struct stale_item *item = stale_add(s->out);
    if (!item)
        return err_nomem(err);
    item->engine = STALE_FLATBED;
    item->kind = STALE_STAGED;
    item->parent = arena_strndup(arena, cache->path, strlen(cache->path));
    item->name = arena_strndup(arena, copy->name, strlen(copy->name));
    item->why = why;
    item->changed = changed;
    if (!item->parent || !item->name)
        return err_nomem(err);
    stale_measure(cache->fd, item);
    if (!s->limits->remove)
        return 0;
    if (s->limits->log)
        s->limits->log(item);
    item->removed = stage_remove(cache, copy, &problem) == 0;
    if (!item->removed)
        item->kept = arena_strndup(arena, problem.msg, strlen(problem.msg));
    return item->removed || item->kept ? 0 : err_nomem(err);
}

/* ---- all of them ---- */

static int search_cache(void *context, const struct policy_stage *rules, struct err *err)
{
    struct search *s = context;
    _cleanup_stage_cache_ struct stage_cache cache = STAGE_CACHE_INIT;
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct stage_items items = {0};
    struct err why = ERR_INIT;

    if (stage_cache_open(rules->cache.text, false, &cache, &why) < 0)
        return err_missing(&why) ? 0 : stale_problem(s->out, rules->cache.text, why.msg, err);
    if (stage_list(&cache, &arena, &items, &why) < 0)
        return stale_problem(s->out, rules->cache.text, why.msg, err);
    for (size_t i = 0; i < items.count; i++)
        if (add_copy(s, &cache, &items.list[i], err) < 0)
            return -1;
    return 0;
}

int stale_staged(const char *policy_path, const struct stale_limits *limits, struct stale_list *out,
                 struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    struct search search = {limits, out};
    struct err why = ERR_INIT;

    if (!policy)
        return -1;
    if (trust_rootless())
        return 0;
    if (policy_open(policy, policy_path, &why) < 0 || policy_decode(policy, &why) < 0)
        return stale_problem(out, policy_path ? policy_path : policy_default_path, why.msg, err);
    return stage_caches(policy, search_cache, &search, err);
}

#include "shim/admin/stage/stage_change.h"

#include "base/fdio.h"
#include "shim/audit/audit.h"

#include <string.h>
#include <unistd.h>

/* ---- the copies of one source ---- */

static bool is_of(const struct stage_item *item, const struct stage_target *t)
{
    const char *source = item->record.source;

    return item->state == STAGE_READY && !item->replaced && source &&
           (strcmp(source, t->path) == 0 || (t->real && strcmp(source, t->real) == 0));
}

static int set_pin(const struct stage_cache *cache, const struct stage_item *item, bool pin,
                   struct err *err)
{
    _cleanup_fd_ int fd = fd_open_directory(cache->fd, item->name);

    if (fd < 0)
        return err_sys(err, "%s/%s", cache->path, item->name);
    if (pin ? stage_touch(fd, "pinned") < 0 : unlinkat(fd, "pinned", 0) < 0 && errno != ENOENT)
        return err_sys(err, "%s/%s/pinned", cache->path, item->name);
    return 0;
}

int stage_change_copies(const struct stage_target *target, enum stage_change change,
                        struct arena *arena, size_t *count, struct err *err)
{
    _cleanup_stage_cache_ struct stage_cache cache = STAGE_CACHE_INIT;
    struct stage_items items;

    *count = 0;
    if (stage_cache_open(target->volume->stage.cache.text, false, &cache, err) < 0)
        return err_missing(err) ? 0 : -1;
    if (stage_list(&cache, arena, &items, err) < 0)
        return -1;
    for (size_t i = 0; i < items.count; i++) {
        const struct stage_item *item = &items.list[i];
        if (!is_of(item, target))
            continue;
        if (change == STAGE_DROP ? stage_remove(&cache, item, err) < 0
                                 : set_pin(&cache, item, change == STAGE_PIN, err) < 0)
            return err_wrap(err, "the copy of %s", item->record.source);
        ++*count;
    }
    return 0;
}

/* ---- all caches ---- */

struct trim {
    bool dry;
    const char *metrics;
    size_t count;
};

/* Counts evictions, and the room that is left. Failures are ignored: the files are gone. */
static void count_evicted(const struct trim *t, const struct stage_cache *cache, size_t evicted)
{
    _cleanup_arena_ struct arena arena = {0};
    struct stage_items items;
    struct err ignored;

    if (t->dry || !t->metrics || stage_list(cache, &arena, &items, &ignored) < 0)
        return;
    const struct audit_copy copy = {
        .evicted = evicted, .cache = cache->path, .room = stage_taken(&items)};
    (void)!audit_metrics_copy(t->metrics, &copy, &ignored);
}

static int trim_cache(void *context, const struct policy_stage *rules, struct err *err)
{
    struct trim *t = context;
    const struct stage_limits limits = {rules->max, rules->per_owner, rules->free};
    const struct stage_need none = {.account = (uid_t)-1, .name = ""};
    _cleanup_stage_cache_ struct stage_cache cache = STAGE_CACHE_INIT;
    _cleanup_arena_ struct arena arena = {0};
    struct stage_items items;
    struct err why = ERR_INIT;
    size_t evicted = 0;

    if (stage_cache_open(rules->cache.text, false, &cache, &why) < 0) {
        if (err_missing(&why))
            return 0;
        *err = why;
        return -1;
    }
    if (stage_list(&cache, &arena, &items, err) < 0)
        return -1;
    t->count += stage_sweep(&cache, &items, t->dry);
    /* A copy that a container uses stays, however short the room is. */
    if (stage_make_room(&cache, &limits, &none, t->dry, &evicted, &why) < 0 &&
        why.kind != ERR_LIMIT) {
        *err = why;
        return -1;
    }
    t->count += evicted;
    count_evicted(t, &cache, evicted);
    return 0;
}

int stage_change_trim(const struct policy *policy, bool dry, size_t *count, struct err *err)
{
    struct trim trim = {.dry = dry, .metrics = policy->audit.metrics.text};

    if (stage_caches(policy, trim_cache, &trim, err) < 0)
        return -1;
    *count += trim.count;
    return 0;
}

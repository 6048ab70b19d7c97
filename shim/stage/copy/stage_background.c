/* Copies a source in the background, while containers start. */
#include "shim/audit/audit.h"
#include "shim/host/process/background.h"
#include "shim/policy/registry_source.h"
#include "shim/stage/copy/stage_copy.h"
#include "shim/stage/copy/stage_fetch.h"

enum { MEMORY_LIMIT = 64 * 1024 * 1024 };

struct background {
    const char *cache;
    struct stage_source source;
    const struct policy_stage *rules;
    const char *metrics;
};

static void count_result(const struct background *b, const struct stage_cache *cache,
                         const struct stage_copy_result *result, bool failed)
{
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct audit_copy copy = {
        .result = failed              ? "failed"
                  : result->unchanged ? "unchanged"
                                      : "made",
        .bytes = failed || result->unchanged ? 0 : result->record.totals.bytes,
        .evicted = result->evicted,
        .cache = cache->path,
    };
    struct stage_items items;
    struct err err = ERR_INIT;

    if (!b->metrics)
        return;
    if (stage_list(cache, &arena, &items, &err) == 0)
        copy.room = stage_taken(&items);
    if (audit_metrics_copy(b->metrics, &copy, &err) < 0)
        audit_syslog_warning(err.msg);
}

static int copy_source(const struct background *b, struct err *err)
{
    _cleanup_stage_cache_ struct stage_cache cache = STAGE_CACHE_INIT;
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct stage_copy_result result;
    bool busy = false;

    if (stage_cache_open(b->cache, true, &cache, err) < 0)
        return -1;
    int rc =
        registry_source_is(b->source.path)
            ? stage_fetch(&cache, b->source.path, b->rules, &arena, &result, &busy, err)
            : stage_copy(&cache, &b->source, b->rules, NULL, NULL, &arena, &result, &busy, err);
    if (busy)
        return 0;
    count_result(b, &cache, &result, rc < 0);
    return rc;
}

static void run_copy(int fd, void *subject)
{
    struct background *b = subject;
    struct err err = ERR_INIT;

    b->source.fd = fd;
    if (copy_source(b, &err) < 0 && err_wrap(&err, "%s is not staged", b->source.path) < 0)
        audit_syslog_warning(err.msg);
}

int stage_copy_in_background(const char *cache, const struct stage_source *source,
                             const struct policy_stage *rules, const char *metrics, struct err *err)
{
    struct background subject = {cache, *source, rules, metrics};

    return background_start("flatbed-stage", source->fd, run_copy, &subject, err);
}

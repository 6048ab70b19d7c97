/* Copies a source in the background, while containers start. */
#include "shim/audit/audit.h"
#include "shim/host/background.h"
#include "shim/policy/registry_source.h"
#include "shim/stage/copy/stage_copy.h"
#include "shim/stage/copy/stage_fetch.h"

enum { MEMORY_LIMIT = 64 * 1024 * 1024 };

struct background {
    const char *cache;
    struct stage_source source;
    const struct policy_stage *rules;
};

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
            ? stage_fetch(&cache, b->source.path, b->rules, &arena, &busy, err)
            : stage_copy(&cache, &b->source, b->rules, NULL, NULL, &arena, &result, &busy, err);
    return busy ? 0 : rc;
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
                             const struct policy_stage *rules, struct err *err)
{
    struct background subject = {cache, *source, rules};

    return background_start("flatbed-stage", source->fd, run_copy, &subject, err);
}

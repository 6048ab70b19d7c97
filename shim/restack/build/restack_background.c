/* Builds a tree in the background, while containers start. */
#include "shim/audit/audit.h"
#include "shim/host/process/background.h"
#include "shim/restack/build/restack_build.h"

enum { MEMORY_LIMIT = 1024 * 1024 * 1024 };

struct background {
    const char *cache;
    const struct chain *chain;
};

static int build_tree(const struct background *b, struct err *err)
{
    _cleanup_restack_cache_ struct restack_cache cache = RESTACK_CACHE_INIT;
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct restack_built built;

    if (restack_cache_open(b->cache, true, &cache, err) < 0)
        return -1;
    return restack_build(&cache, b->chain, false, &arena, &built, err);
}

/* The cache says why there is no tree; syslog does if it cannot be written. */
static void run_build(int fd, void *subject)
{
    struct err err = ERR_INIT;

    (void)fd;
    if (build_tree(subject, &err) < 0 && err.kind != ERR_LIMIT)
        audit_syslog_warning(err.msg);
}

int restack_build_in_background(const char *cache, const struct chain *chain, struct err *err)
{
    struct background subject = {cache, chain};

    return background_start("flatbed-restack", -1, run_build, &subject, err);
}

/*
 * Runs `flatten unpack`, which reads registries: in a clean environment, with the credentials of
 * root (HOME), without a terminal. It ends with this process.
 */
#ifndef SHIM_UNPACK_RUN_H
#define SHIM_UNPACK_RUN_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct unpack_order {
    const char *source;    /* "docker://…" */
    const char *directory; /* the new directory */
    const char *temporary; /* the directory for temporary files */
    bool resolve;          /* only ask for the digest */
    bool verify;           /* read the directory again and compare */
    uint64_t max_size;     /* of an unpacked layer, bytes; 0: no limit */
};

struct unpack_result {
    const char *digest; /* of the manifest; in the arena */
    uint64_t packed;    /* bytes of the layers as the registry has them */
};

/* Called about once a second while it runs. -1 ends it. */
typedef int unpack_watch(void *context, struct err *err);

/*
 * Runs it. `watch` may be NULL. A failure has the message of flatten; the directory has not
 * appeared then.
 */
int unpack_run(const struct unpack_order *order, unpack_watch *watch, void *context,
               struct arena *arena, struct unpack_result *out, struct err *err) must_check;

#endif

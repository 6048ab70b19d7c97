/* An image in the store of an engine with a driver for overlayfs: what Docker's and podman's share.
 */
#ifndef FLATTEN_ENGINE_STORE_H
#define FLATTEN_ENGINE_STORE_H

#include "base/json/json.h"
#include "flatten/exchange/keeper_task.h"
#include "flatten/exchange/source.h"

struct engine_store {
    const char *root;   /* a directory, as the engine says; NULL: it does not */
    const char *driver; /* its name, and that of the directory in the root */
    const char *config; /* the image's configuration, relative to the root */
    struct digest id;   /* of the configuration */
};

/*
 * Starts a walk of the image's layers (walk.h), of a `kind` but WALK_NONE, and reads its
 * configuration, which its digest proves. `facts`: the inspected image, whose layers are
 * ROOT/DRIVER/NAME/diff. Returns 0, or -1 with the reason why that cannot be; `d` is then as it
 * was, but for `place`.
 */
int engine_store_walk(const struct engine_store *store, const struct json *facts,
                      enum walk_kind kind, struct source_daemon *d, struct err *why) must_check;

#endif

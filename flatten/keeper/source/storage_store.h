/* The store of podman, where an image can be read without podman. */
#ifndef FLATTEN_STORAGE_STORE_H
#define FLATTEN_STORAGE_STORE_H

#include "base/json/json.h"
#include "flatten/exchange/keeper_task.h"
#include "flatten/exchange/source.h"

/*
 * Starts a walk of the image's layers (walk.h), of a `kind` but WALK_NONE, and reads its
 * configuration. `facts`: the inspected image. Returns 0, or -1 with the reason why that cannot be.
 */
int storage_store_walk(struct source_daemon *d, const struct reference *ref,
                       const struct json *facts, enum walk_kind kind, struct err *why) must_check;

#endif

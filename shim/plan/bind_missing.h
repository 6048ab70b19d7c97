/* The restrictions that the options of a user's bind mount lack. Pure. */
#ifndef SHIM_BIND_MISSING_H
#define SHIM_BIND_MISSING_H

#include "base/buf.h"
#include "shim/plan/operation/operation.h"

/*
 * Appends to `out` what must be added to the options, as words for people, and sets
 * bind->is_private; `deny_propagation` is for all binds, restricted or not. Returns how many they
 * are.
 */
size_t bind_put_missing(struct plan_bind *bind, const struct json *options, bool deny_propagation,
                        struct buf *out);

#endif

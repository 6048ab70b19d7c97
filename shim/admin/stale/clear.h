/* Removal of what is stale in a store, with its proofs. */
#ifndef SHIM_STALE_CLEAR_H
#define SHIM_STALE_CLEAR_H

#include "shim/admin/stale/state.h"

/*
 * Removes the items from the index `from` on, which are those of this store: takes the engine's
 * locks, finds all again, renames what is still stale, frees the locks, and removes what was
 * renamed. An item that stays says why in `kept`.
 */
void stale_clear(const struct layer_store *store, const struct stale_limits *limits,
                 struct stale_list *list, size_t from);

#endif

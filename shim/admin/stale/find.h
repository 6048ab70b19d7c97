/* The directories of a store that nothing names. */
#ifndef SHIM_STALE_FIND_H
#define SHIM_STALE_FIND_H

#include "shim/admin/stale/state.h"

/*
 * Adds the directories of a store that neither its engine nor a mount names, unmeasured, and what
 * removals left. The directories are listed before the state is read: one that is made meanwhile is
 * not among them. Fails if anything cannot be read.
 */
int stale_find(const struct layer_store *store, struct stale_list *out, struct err *err) must_check;

#endif

/* The owners of several images as one list. */
#ifndef FLATTEN_FAMILY_OWNERS_H
#define FLATTEN_FAMILY_OWNERS_H

#include "flatten/carve/owners/owners.h"

/*
 * Joins the owners of several images: now[i][owner] is where lists[i]->list[owner] is in out->list.
 * A version that differs is unknown, and of two tiers the one that changes less often counts. The
 * texts stay in `lists`. The caller frees out->list, also after a failure.
 */
int family_owners_join(const struct owners *const *lists, size_t count, struct owners *out,
                       uint32_t **now, struct err *err) must_check;

#endif

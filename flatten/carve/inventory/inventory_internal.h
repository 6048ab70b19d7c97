/* The parts of an inventory's text (inventory.h) that its writer and its reader share. */
#ifndef FLATTEN_INVENTORY_INTERNAL_H
#define FLATTEN_INVENTORY_INTERNAL_H

#include "flatten/carve/inventory/inventory.h"

enum { INVENTORY_VERSION = 2, INVENTORY_BLOCK = 512 };

/* The byte of an entry: */
enum {
    INVENTORY_KIND = 3,    /* enum layout_kind */
    INVENTORY_LINK = 4,    /* a further name of a file */
    INVENTORY_OWN = 8,     /* it has an identity of its own, next among the digests */
    INVENTORY_SHARED = 16, /* it shares one with the last entry that has INVENTORY_FIRST, or has */
    INVENTORY_FIRST = 32,  /* that itself: the digest is the next one */
};

/* The digest that entries share: add their identities in order, then end. */
int inventory_share_add(struct sha256 *sha256, const struct layout_identity *identity,
                        struct err *err) must_check;
int inventory_share_end(struct sha256 *sha256, struct layout_identity *out,
                        struct err *err) must_check;

/* True if the identity is known. */
static inline bool inventory_has_identity(const struct layout_identity *i)
{
    return i->part[0] || i->part[1];
}

#endif

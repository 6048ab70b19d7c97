#include "flatten/carve/inventory/inventory_internal.h"

#include <stdlib.h>

void inventory_clear(struct inventory *i)
{
    free(i->diff_ids);
    free(i->entries);
    free(i->groups);
    *i = (struct inventory){0};
}

int inventory_share_add(struct sha256 *sha256, const struct layout_identity *identity,
                        struct err *err)
{
    return sha256_update(sha256, identity->part, sizeof(identity->part), err);
}

int inventory_share_end(struct sha256 *sha256, struct layout_identity *out, struct err *err)
{
    return sha256_finish_bytes(sha256, out->part, sizeof(out->part), err);
}

/* Lists what the layers of a carved image have, for its inventory (inventory.h). */
#ifndef FLATTEN_INVENTORY_LIST_H
#define FLATTEN_INVENTORY_LIST_H

#include "flatten/carve/inventory/inventory.h"
#include "flatten/carve/spool/spool.h"
#include "flatten/exchange/written_layer.h"

/* A carved image, whose layers have been written. Borrowed, all of it. */
struct inventory_source {
    const struct spool *spool;
    const struct layout_identity *identities; /* by record of the spool */
    const struct owners *owners;
    const uint16_t *by_record; /* by record: the new layer that has the file, or CARVE_ELSEWHERE */
    const uint16_t *described; /* by node: as layout.described */
    const struct layout_previous *previous; /* with layers that are kept; or NULL */
    const uint16_t *kept;                   /* by kept layer: its index among the previous ones */
    size_t kept_count;
    const struct written_layer *layers; /* kept ones first, the state layer last */
    size_t layer_count;
};

/*
 * Lists all layers but the newest, the state layer. An entry of a kept layer has an identity if the
 * new version has the same. The caller clears *out with inventory_clear, also after a failure.
 */
int inventory_list(const struct inventory_source *source, struct inventory *out,
                   struct err *err) must_check;

#endif

/*
 * The mean number of layers that the lookup of an existing path looks into, when the layers are
 * mounted one over the other: the kernel looks a name up in each layer that has the parent
 * directory, newest first, until it finds a file, an opaque directory or a whiteout
 * (fs/overlayfs/namei.c). flatten analyze counts the same, with much more beside
 * (flatten/analyze/lookups); this is for a merge, which reads the layers for another purpose.
 */
#ifndef FLATTEN_LAYER_PROBES_H
#define FLATTEN_LAYER_PROBES_H

#include "flatten/merge/tree/tree.h"

enum layer_probe_kind { PROBE_DIR, PROBE_OPAQUE_DIR, PROBE_FILE, PROBE_WHITEOUT };

/* A path of a layer, implied directories included. */
struct layer_probe {
    uint32_t node;
    uint16_t layer; /* from 1, oldest first */
    uint8_t kind;   /* enum layer_probe_kind */
};

struct layer_probes {
    struct layer_probe *probes;
    size_t probe_count, probe_cap;
};

/* Frees what it owns. */
void layer_probes_clear(struct layer_probes *p);

/*
 * Adds a path. Those of a layer come together, directories before what is in them, and each once;
 * layers come in either order.
 */
int layer_probes_add(struct layer_probes *p, uint32_t node, unsigned layer,
                     enum layer_probe_kind kind, struct err *err) must_check;

/* Sets *mean, over all visible paths but the root; 1 if there is none. */
int layer_probes_mean(const struct layer_probes *all, const struct tree *tree, unsigned layers,
                      double *mean, struct err *err) must_check;

#endif

/* Names of layers, for people who read the history of an image. */
#ifndef FLATTEN_LAYOUT_LABEL_H
#define FLATTEN_LAYOUT_LABEL_H

#include "flatten/carve/layout/layout_bins.h"

/*
 * Labels the layers that hold the groups: layers[group->layer].label is the caller's to free.
 * `update`: they hold what changed, whatever its tier.
 */
int layout_label(struct layout_groups *g, const struct layout_bins *bins, bool update,
                 struct layout_layer *layers, struct err *err) must_check;

#endif

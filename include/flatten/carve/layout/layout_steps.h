/*
 * The steps of a layout (layout.c) that a version of an image (like/) and several images (family/)
 * share with it.
 */
#ifndef FLATTEN_LAYOUT_STEPS_H
#define FLATTEN_LAYOUT_STEPS_H

#include "flatten/carve/layout/layout_bins.h"

/*
 * Appends layers for the chosen files of the groups to out, whose by_file is there. `update`: for
 * the labels.
 */
int layout_append(struct layout_groups *g, const struct layout_wishes *wishes, bool update,
                  struct layout *out, struct err *err) must_check;

/* Checks the options and gives defaults their values; `total`: bytes of the image. */
int layout_wishes_of(const struct layout_options *options, uint64_t total,
                     struct layout_wishes *out, struct err *err) must_check;

/*
 * Sets what lookups cost, and the directories of the state layer: `in_state`, by node, has 1 for
 * those that it describes although one layer alone has them; NULL: none.
 */
int layout_count_lookups(const struct layout_input *in, const uint8_t *in_state, struct layout *out,
                         struct err *err) must_check;

/* Returns the bytes of all files. */
uint64_t layout_total(const struct layout_input *in);

#endif

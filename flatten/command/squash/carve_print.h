/* Prints the layers of a carved image. */
#ifndef FLATTEN_CARVE_PRINT_H
#define FLATTEN_CARVE_PRINT_H

#include "flatten/command/squash/squash_command.h"

/* Appends how many layers there are now; `like`: kept layers are of the previous version. */
void print_carved_layers(const struct squash_job *job, bool like, struct buf *out);

/* Appends a line for each layer, then the largest, the cost of lookups, and that of pulls. */
void print_carved_text(const struct squash_job *job, bool like, struct buf *out);

/* Appends the members "carved", a list of the layers, "lookups" and "pull". */
void print_carved_json(const struct squash_job *job, bool like, struct buf *out);

#endif

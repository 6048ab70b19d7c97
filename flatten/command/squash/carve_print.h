/* Prints the layers of a carved image. */
#ifndef FLATTEN_CARVE_PRINT_H
#define FLATTEN_CARVE_PRINT_H

#include "flatten/command/squash/squash_command.h"

/* Appends how many layers there are now; `like`: kept layers are of the previous version. */
void print_carved_layers(const struct squash_job *job, bool like, struct buf *out);

/* Appends a line for each new layer, and one about the cost of lookups. */
void print_carved_text(const struct squash_job *job, struct buf *out);

/* Appends the members "carved", a list of the new layers, and "lookups". */
void print_carved_json(const struct squash_job *job, struct buf *out);

#endif

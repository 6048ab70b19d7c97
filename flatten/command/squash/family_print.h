/* Prints what flatten carve --family has laid out: bytes, and which images share a layer. */
#ifndef FLATTEN_FAMILY_PRINT_H
#define FLATTEN_FAMILY_PRINT_H

#include "flatten/command/squash/squash_command.h"

/* Appends a line: the bytes of all images apart and together, and how many layers are shared. */
void print_family_text(const struct squash_run *run, struct buf *out);

/* Appends the member "family" with the same, to members before it. */
void print_family_json(const struct squash_run *run, struct buf *out);

/* Appends which images share the layer, "  [in v1 and v2]", unless it is in one alone. */
void print_family_sharers(const struct squash_run *run, const struct squash_job *job, size_t layer,
                          struct buf *out);

/* Appends the member "images" with the names of those that have the layer, behind others. */
void print_family_sharers_json(const struct squash_run *run, const struct squash_job *job,
                               size_t layer, struct buf *out);

#endif

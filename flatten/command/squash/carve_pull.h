/* Prints what pulls of an image cost, before and after it was carved (pull_cost.h). */
#ifndef FLATTEN_CARVE_PULL_H
#define FLATTEN_CARVE_PULL_H

#include "flatten/command/squash/squash_command.h"

/* Returns how many layers of the source are kept below those of the layout (--keep-base). */
size_t carve_first_layer(const struct squash_job *job);

/*
 * Returns about how many bytes the layer of the layout takes in a registry: those of its blob if it
 * was written and compressed, else its unpacked bytes in proportion to the source's.
 */
uint64_t carve_packed(const struct squash_job *job, size_t layer);

/* Appends a table of bytes and seconds, and the rates. `like`: for a host of that version, too. */
void print_pulls_text(const struct squash_job *job, bool like, struct buf *out);

/* Appends the same for three streams, in one line without its end. */
void print_pulls_line(const struct squash_job *job, bool like, struct buf *out);

/* Appends the member "pull". */
void print_pulls_json(const struct squash_job *job, bool like, struct buf *out);

#endif

/* Prints the layers of a carved image. */
#ifndef FLATTEN_CARVE_PRINT_H
#define FLATTEN_CARVE_PRINT_H

#include "flatten/command/squash/squash_command.h"

/* Appends how many layers there are now; `like`: kept layers are of the previous version. */
void print_carved_layers(const struct squash_job *job, bool like, struct buf *out);

/* Appends a line for each layer, then the largest, the cost of lookups, and that of pulls; with
 * --stable-times how many times were taken. */
void print_carved_text(const struct squash_run *run, const struct squash_job *job, struct buf *out);

/* Appends "lookups search 1.38 layers on average (source: 1.33)"; without `like` what helps. */
void print_carved_probes(const struct squash_job *job, bool like, struct buf *out);

/* Appends "12 files and 1 directory got their time of the previous version". */
void print_carved_times(const struct squash_job *job, struct buf *out);

/* Appends the members "carved", a list of the layers, "lookups", "stable_times" and "pull". In a
 * family each layer has the member "images". */
void print_carved_json(const struct squash_run *run, const struct squash_job *job, struct buf *out);

#endif

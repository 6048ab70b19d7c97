/* flatten carve --family: several sources, whose images share layers (flatten/carve/family.h). */
#ifndef FLATTEN_SQUASH_FAMILY_H
#define FLATTEN_SQUASH_FAMILY_H

#include "flatten/command/squash/squash_command.h"

/* Opens the source run->family.sources[which] as run->source and run->from, in order from 0. */
int squash_family_open(struct squash_run *run, size_t which, struct err *err) must_check;

/* Checks the newest entry's name at the destination: each image has one of its own. */
int squash_family_check_name(const struct squash_run *run, struct err *err) must_check;

/* Appends the entry's name at the destination, or at its source. Returns false if it has none. */
bool squash_family_put_name(const struct squash_run *run, const struct squash_entry *entry,
                            struct buf *out);

/* Lays out the images that were read, and writes their layers; without a sink only the former. */
int squash_family_write(struct squash_run *run, struct sink *sink, struct err *err) must_check;

#endif

/*
 * Rejects entries that no engine could unpack, and entries that would cost too much: a few bytes of
 * an archive can name any size.
 */
#ifndef FLATTEN_LAYER_LIMITS_H
#define FLATTEN_LAYER_LIMITS_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "flatten/stream/stream.h"

#include <archive_entry.h>
#include <stdbool.h>
#include <stdint.h>

/* The data of an entry, by libarchive's reading of its header. */
struct layer_map {
    bool sparse;   /* there are holes */
    uint64_t data; /* bytes outside of them, which the archive should have if this is a file */
};

struct layer_map layer_map_of(struct archive_entry *header);

/*
 * Checks the entry, whose clean path is `path`. The size of a sparse file is spent from the budget,
 * which may be NULL. `map` NULL: a file with its data.
 */
int layer_limits_check(const struct buf *path, struct archive_entry *header,
                       const struct layer_map *map, struct unpack_budget *unpack,
                       struct err *err) must_check;

#endif

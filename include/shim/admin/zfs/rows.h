/* The lines that `zfs get -Hp -o name,property,value` prints. */
#ifndef SHIM_ZFS_ROWS_H
#define SHIM_ZFS_ROWS_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

struct zfs_row {
    const char *name, *property, *value; /* in the arena */
};

struct zfs_rows {
    struct zfs_row *list;
    size_t count;
};

/* Parses the text. ERR_FORMAT if a line has not three fields. */
int zfs_rows_parse(const char *text, size_t len, struct arena *arena, struct zfs_rows *out,
                   struct err *err) must_check;

/* Returns the value of a property of that name, or NULL. */
const char *zfs_rows_value(const struct zfs_rows *rows, const char *name, const char *property);

/* Returns a value as a number of bytes or seconds; 0 for NULL, "none" or "-". */
uint64_t zfs_number(const char *value);

/* Reads the entries of the table of deduplication from `zpool status -D`; 0 if it does not say. */
uint64_t zfs_dedup_entries(const char *text);

#endif

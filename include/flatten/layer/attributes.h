/*
 * A compact copy of an entry's header, for where many must be kept: kind, mode, owner, mtime,
 * device number and extended attributes, but neither path, links nor size. It takes about 80 bytes,
 * libarchive's entry more than 2,000.
 */
#ifndef FLATTEN_ATTRIBUTES_H
#define FLATTEN_ATTRIBUTES_H

#include "base/cleanup.h"
#include "base/err.h"

#include <archive_entry.h>
#include <stdint.h>

/* The most bytes that all attributes kept at once may take: a small archive may imply many. */
#define ATTRIBUTES_MOST ((uint64_t)1 << 30)

struct attributes;

/* Copies the header of an entry. The caller frees it with attributes_free; NULL without memory. */
struct attributes *attributes_of(struct archive_entry *entry, struct err *err) must_check;

/* The same, but with the xattrs of `of` in place of the entry's. */
struct attributes *attributes_with_xattrs(struct archive_entry *entry, const struct attributes *of,
                                          struct err *err) must_check;

/* Sets the mtime. */
void attributes_set_time(struct attributes *a, int64_t seconds, uint32_t nanoseconds);

/* Returns the bytes of memory that it takes. */
size_t attributes_size(const struct attributes *a);

/* Frees it. */
void attributes_free(struct attributes *a);

DEFINE_CLEANUP(attributes, struct attributes, attributes_free)

/* Returns a new entry with these attributes, which the caller frees; NULL without memory. */
struct archive_entry *attributes_entry(const struct attributes *a, struct err *err) must_check;

#endif

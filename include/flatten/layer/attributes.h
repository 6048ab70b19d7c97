/*
 * What is kept of an entry's header where many must be kept: kind, mode, owner, mtime, device
 * number and extended attributes, but neither path, links nor size. About 80 bytes, where
 * libarchive's entry takes more than 2,000.
 */
#ifndef FLATTEN_ATTRIBUTES_H
#define FLATTEN_ATTRIBUTES_H

#include "base/cleanup.h"
#include "base/err.h"

#include <archive_entry.h>
#include <stdint.h>

/* Memory for all that are kept at once: a small archive may have much of it. */
#define ATTRIBUTES_MOST ((uint64_t)1 << 30) /* bytes */

struct attributes;

/* The caller frees it with attributes_free; NULL without memory. */
struct attributes *attributes_of(struct archive_entry *entry, struct err *err) must_check;
/* The entry's, which has no xattrs of its own, with those of another. */
struct attributes *attributes_with_xattrs(struct archive_entry *entry, const struct attributes *of,
                                          struct err *err) must_check;
/* Bytes of memory, of which names and extended attributes may be many. */
size_t attributes_size(const struct attributes *a);
void attributes_free(struct attributes *a);

DEFINE_CLEANUP(attributes, struct attributes, attributes_free)

/* A fresh entry that has them, which the caller frees. */
struct archive_entry *attributes_entry(const struct attributes *a, struct err *err) must_check;

#endif

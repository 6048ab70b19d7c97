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

struct attributes;

/* The caller frees it with attributes_free; NULL without memory. */
struct attributes *attributes_of(struct archive_entry *entry, struct err *err) must_check;
/* Bytes of memory, of which names and extended attributes may be many. */
size_t attributes_size(const struct attributes *a);
void attributes_free(struct attributes *a);

DEFINE_CLEANUP(attributes, struct attributes, attributes_free)

/* A fresh entry that has them, which the caller frees. */
struct archive_entry *attributes_entry(const struct attributes *a, struct err *err) must_check;

#endif

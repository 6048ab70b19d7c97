/*
 * The part of a file that is in the page cache, by mincore(2), window by window: nothing is read.
 * The page cache belongs to the file, so a layer's file shows what was read of it through an
 * overlay.
 */
#ifndef SHIM_RESIDENCY_H
#define SHIM_RESIDENCY_H

#include "shim/warm/record/warm_record.h"

enum { RESIDENCY_CHUNK = 128 * 1024, RESIDENCY_RANGES = 1024 };

/* Returns how many bytes of a range are cached, in whole pages; 0 if it cannot be found out. */
uint64_t residency_bytes(int fd, uint64_t start, uint64_t len);

/*
 * Finds the chunks of a file of `size` bytes in which a page is cached; neighbours become one
 * range, and the last of RESIDENCY_RANGES ends where the cached part ends. In the arena.
 */
int residency_ranges(int fd, uint64_t size, struct arena *arena, const struct warm_range **out,
                     size_t *count, struct err *err) must_check;

/* Returns the physical position of a byte of a file on its disk (FIEMAP), or its inode's number
 * where the file system does not tell. */
uint64_t residency_position(int fd, uint64_t offset);

#endif

/*
 * Blocks that files share (reflink), as the file system tells by FIEMAP (Linux,
 * Documentation/filesystems/fiemap.rst). No content is read.
 */
#ifndef SHIM_EXTENTS_H
#define SHIM_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if files on the file system of the open directory can share blocks. */
bool extents_may_share(int fd);

/*
 * Returns how many bytes of a regular file are in blocks that another file has, too. 0 for what is
 * no regular file, or if the file system does not tell.
 */
uint64_t extents_shared(int dirfd, const char *name);

#endif

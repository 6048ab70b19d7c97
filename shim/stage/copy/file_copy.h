/* Copies the content and the attributes of one file. */
#ifndef SHIM_FILE_COPY_H
#define SHIM_FILE_COPY_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Told how many bytes were copied; it may sleep. */
struct copy_meter {
    void (*count)(void *context, uint64_t bytes);
    void *context;
};

/*
 * Copies `size` bytes from one file to another, which is empty: within the kernel if it can, holes
 * as holes. `buffer` has `room` bytes. ERR_UNSUPPORTED if the source ends before.
 */
int content_copy(int from, uint64_t size, bool sparse, int to, void *buffer, uint64_t room,
                 const struct copy_meter *meter, struct err *err)
    __attribute__((warn_unused_result));

/*
 * Appends ACLs and "user." attributes of an open file or directory. A file system without them has
 * none.
 */
int xattrs_read(int fd, struct buf *out, struct err *err) __attribute__((warn_unused_result));

/* Sets what xattrs_read appended; what the target's file system does not have is left out. */
int xattrs_write(int fd, const char *data, size_t len, struct err *err)
    __attribute__((warn_unused_result));

/* Sets owner, mode and time of an open file or directory, in this order. */
int attributes_set(int fd, const struct statx *st, struct err *err)
    __attribute__((warn_unused_result));

#endif

/* Temporary files without a name, for content that cannot be read twice where it comes from. */
#ifndef FLATTEN_TEMPORARY_FILE_H
#define FLATTEN_TEMPORARY_FILE_H

#include "flatten/stream/stream.h"

/*
 * Opens an empty file without a name in TMPDIR, by default /var/tmp; or returns -1. It is gone when
 * its last descriptor is closed, however the process ends.
 */
int temporary_file_open(struct err *err) must_check;

/* False if the file system of TMPDIR is known to have less room than that. */
bool temporary_file_has_room(uint64_t bytes);

/* Copies a stream to its end into such a file. A stream of more than `most` bytes is ERR_LIMIT. */
int temporary_file_copy(struct stream *s, int fd, uint64_t most, struct err *err) must_check;

#endif

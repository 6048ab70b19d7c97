/* Temporary copies of what cannot be read twice: streams, and archives that are compressed whole.
 */
#ifndef FLATTEN_TEMPORARY_FILE_H
#define FLATTEN_TEMPORARY_FILE_H

#include "flatten/stream/stream.h"

/*
 * An empty unnamed file in TMPDIR (default /var/tmp), or -1. Nothing is left behind, however the
 * process ends.
 */
int temporary_file_open(struct err *err) must_check;

/* True unless it is known that the file system there has less room than that. */
bool temporary_file_has_room(uint64_t bytes);

/* Copies a stream to its end into such a file; one of more than `most` bytes is ERR_LIMIT. */
int temporary_file_copy(struct stream *s, int fd, uint64_t most, struct err *err) must_check;

#endif

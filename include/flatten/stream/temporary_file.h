/* Temporary copies of what cannot be read twice: streams, and archives that are compressed whole.
 */
#ifndef FLATTEN_SPOOL_H
#define FLATTEN_SPOOL_H

#include "flatten/stream/stream.h"

/*
 * An empty unnamed file in TMPDIR (default /var/tmp), or -1. Nothing is left behind, however the
 * process ends.
 */
int spool_file(struct err *err) must_check;

/* True unless it is known that the file system there has less room than that. */
bool spool_has_room(uint64_t bytes);

/* Copies a stream to its end into such a file; one of more than `most` bytes is ERR_LIMIT. */
int spool_stream(struct stream *s, int fd, uint64_t most, struct err *err) must_check;

#endif

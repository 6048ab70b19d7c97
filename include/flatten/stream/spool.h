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

/*
 * ERR_SYSTEM with ENOSPC if that directory's file system is known to have less room than `bytes`;
 * the message names the directory and both sizes.
 */
int spool_check_room(uint64_t bytes, struct err *err) must_check;

/*
 * Replaces an error of writing to `fd`, a spool_file, by that message if it is for want of room:
 * the room is then what has been written. `bytes` is an estimate of what was to be written, or 0.
 * Returns -1.
 */
int spool_explain_room(int fd, uint64_t bytes, struct err *err);

/* Copies a stream to its end into such a file; one of more than `most` bytes is ERR_LIMIT. */
int spool_stream(struct stream *s, int fd, uint64_t most, struct err *err) must_check;

#endif

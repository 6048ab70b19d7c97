/* Temporary files without a name, for content that cannot be read twice where it comes from. */
#ifndef FLATTEN_TEMPORARY_FILE_H
#define FLATTEN_TEMPORARY_FILE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdint.h>

/*
 * Opens an empty file without a name in TMPDIR, by default /var/tmp; or returns -1. It is gone when
 * its last descriptor is closed, however the process ends.
 */
int temporary_file_open(struct err *err) must_check;

/*
 * Fails with ERR_SYSTEM (ENOSPC) if the file system of that directory is known to have less room
 * than `bytes`. The message names the directory and both sizes.
 */
int temporary_file_check_room(uint64_t bytes, struct err *err) must_check;

/*
 * Explains an error of writing to `fd`, a temporary file: if it is for want of room, that message
 * replaces it, with what was written for the room. `bytes`: an estimate of what was to be written,
 * or 0. Returns -1.
 */
int temporary_file_explain_room(int fd, uint64_t bytes, struct err *err);

#endif

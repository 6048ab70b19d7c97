/* Writes the generated files of an account, for the low-level runtime to mount. */
#ifndef SHIM_ACCOUNT_FILES_H
#define SHIM_ACCOUNT_FILES_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

/*
 * Writes one file, readable by all, to a path directly in the tmpfs of pin_begin (pin.h). It is
 * gone with the last mount of it, so nothing is to be removed when the container is deleted, or
 * after a crash. Fails if the file is there already.
 */
int account_file_write(const char *path, const char *text, struct err *err) must_check;

#endif

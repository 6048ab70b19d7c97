/* The creation time of a new image (image-spec config.md "created": RFC 3339, section 5.6). */
#ifndef FLATTEN_TIMESTAMP_H
#define FLATTEN_TIMESTAMP_H

#include "base/cleanup.h"
#include "base/err.h"

enum { TIMESTAMP_SIZE = 64 };

/*
 * Parses `text` (RFC 3339, or seconds since 1970), or if that is NULL the environment variable
 * SOURCE_DATE_EPOCH (reproducible-builds.org). Returns 1 with the time in RFC 3339, 0 if there is
 * neither, or -1 with ERR_USAGE.
 */
int timestamp_choose(const char *text, char out[TIMESTAMP_SIZE], struct err *err) must_check;

#endif

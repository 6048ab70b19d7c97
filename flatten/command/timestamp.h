/* The creation time of a new image (image-spec config.md "created": RFC 3339, section 5.6). */
#ifndef FLATTEN_TIMESTAMP_H
#define FLATTEN_TIMESTAMP_H

#include "base/cleanup.h"
#include "base/err.h"

enum { TIMESTAMP_SIZE = 64 };

/*
 * Takes `text` (RFC 3339, or seconds since 1970), or without it the environment's SOURCE_DATE_EPOCH
 * (reproducible-builds.org). 1 with the time in `out`; 0 if neither is given; -1 if malformed.
 */
int timestamp_choose(const char *text, char out[TIMESTAMP_SIZE], struct err *err) must_check;

#endif

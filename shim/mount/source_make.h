/* Makes one missing component of a source. */
#ifndef SHIM_SOURCE_MAKE_H
#define SHIM_SOURCE_MAKE_H

#include "shim/mount/source.h"

/*
 * Makes the first component of `missing->rest` in the directory `missing->fd`: as the user, or as
 * root if only root may (source.h). ERR_SYSTEM, or ERR_POLICY if it cannot be made safely.
 */
int source_make_next(const struct source *missing, const struct source_make *make,
                     struct err *err) must_check;

#endif

/*
 * The difference of two texts as patch(1) takes it. Meant for small edits of configuration files:
 * it is correct for any two texts, and short where little was changed.
 */
#ifndef BASE_DIFF_H
#define BASE_DIFF_H

#include "base/buf.h"

/*
 * Appends a unified diff with three lines around it; nothing if they are the same. NULL for a text
 * means that there is no such file.
 */
void diff_unified(const char *path, const struct buf *before, const struct buf *after,
                  struct buf *out);

#endif

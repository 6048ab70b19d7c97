/*
 * Paths as text: no file system is asked. Names are bytes; they need not be UTF-8.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Appends the clean relative form of a path to `out`: leading, doubled and trailing slashes and "."
 * go, "x/.." cancels. "" is the root itself. A path that leaves its root through "..", that holds a
 * NUL, or that is longer than PATH_LIMIT is ERR_FORMAT.
 */
enum { PATH_LIMIT = 64 * 1024 };
int path_clean(const char *path, size_t len, struct buf *out, struct err *err) must_check;

/* True for a single component that names something: not "", ".", "..", and without '/' or NUL. */
bool path_component_valid(const char *name, size_t len);

/* True if path starts with '/' and is in clean form ("/" itself included). */
bool path_is_clean_absolute(const char *path);

/*
 * True if `path` is `dir` or lies beneath it, by components: "/srv/data2" is not beneath
 * "/srv/data". Both are clean and of the same kind (absolute or relative); "/" holds everything.
 */
bool path_is_beneath(const char *path, const char *dir);

#endif

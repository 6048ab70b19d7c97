/*
 * Paths as text: no file system is asked. Names are bytes; they need not be UTF-8.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* The longest path, in bytes. */
enum { PATH_LIMIT = 64 * 1024 };
/*
 * Appends the clean relative form of a path to `out`: leading, doubled and trailing slashes and "."
 * are dropped, "x/.." cancels. "" is the root itself. Fails with ERR_FORMAT if the path leaves its
 * root through "..", holds a NUL, or is longer than PATH_LIMIT bytes.
 */
int path_clean(const char *path, size_t len, struct buf *out, struct err *err) must_check;

/*
 * Returns true for a single component that names something: not "", ".", "..", and without '/' or
 * NUL.
 */
bool path_component_valid(const char *name, size_t len);

/* Returns true if path starts with '/' and is in clean form ("/" itself included). */
bool path_is_clean_absolute(const char *path);

/* Returns true if a component is "..", or ends with "..": such a path may lead out of its text. */
bool path_has_parents(const char *path);

/*
 * Returns true if `path` is `dir` or lies beneath it, by components: "/srv/data2" is not beneath
 * "/srv/data". Both are clean and of the same kind (absolute or relative); "/" holds everything.
 */
bool path_is_beneath(const char *path, const char *dir);

/* Returns the number of components of a clean path, with the root of an absolute one; 0 for "". */
size_t path_depth(const char *path);

/*
 * Returns the directory of a path, as dirname(3) of one without trailing slashes: "." if there is
 * no slash. The caller frees it; NULL without memory. *name is the last component, within path.
 */
char *path_parent(const char *path, const char **name) must_check;

/* Returns the directory for temporary files: TMPDIR if that is absolute, else /var/tmp. Borrowed.
 */
const char *temporary_dir(void);

#endif

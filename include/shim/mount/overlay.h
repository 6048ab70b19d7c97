/*
 * The options of an overlay mount (kernel, Documentation/filesystems/overlayfs.rst): a shared pool
 * below, a private side above.
 *
 * The private side is one directory with "upper" and "work". `index=on` makes the kernel refuse a
 * second mount of it (EBUSY), which would otherwise be undefined behaviour. Pure.
 */
#ifndef SHIM_OVERLAY_H
#define SHIM_OVERLAY_H

#include "base/arena.h"
#include "base/json/json.h"

#define OVERLAY_UPPER "upper"
#define OVERLAY_WORK  "work"

/*
 * Returns "KEY=DIR[/SUB]" in the arena, with a backslash before what separates options or
 * directories. `sub` may be NULL. NULL without memory.
 */
char *overlay_option(const char *key, const char *dir, const char *sub,
                     struct arena *arena) must_check;

/* Appends the options of an overlay of `pool` and the two directories in `source` to a list of
 * `doc`. */
int overlay_options(const char *pool, const char *source, struct json_doc *doc, struct json *list,
                    struct err *err) must_check;

#endif

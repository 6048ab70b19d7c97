/*
 * The runtime behind this one: finding it, asking which it is, and becoming it.
 *
 * Names are looked for in a fixed list of folders, never in PATH. This program itself is passed
 * over (by device and inode of /proc/self/exe), and a counter in the environment ends chains of
 * wrappers that lead back here.
 */
#ifndef SHIM_LOWLEVEL_H
#define SHIM_LOWLEVEL_H

#include "base/cleanup.h"
#include "base/err.h"

#include <limits.h>
#include <stddef.h>

/* Which of the two it is: they read command lines differently. */
enum lowlevel_flavor { FLAVOR_UNKNOWN, FLAVOR_RUNC, FLAVOR_CRUN };

struct lowlevel {
    char path[PATH_MAX];
};

/* What is used when no policy names any. */
extern const char *const lowlevel_defaults[];
enum { LOWLEVEL_DEFAULTS = 2 };

/*
 * The first of `names` that is an executable regular file and not this program. A name with a
 * slash must be absolute. ERR_POLICY names what was looked for when there is none.
 */
int lowlevel_find(const char *const *names, size_t count, struct lowlevel *out,
                  struct err *err) must_check;

/*
 * The one of `names` that has a container called by one of the words, going by its state folder
 * (ROOT/ID/state.json is runc's, ROOT/ID/status crun's; ROOT is /run/runc or /run/crun when NULL).
 * Used when no policy says which runtime started a container. 0, or -1 when none has: no error.
 */
int lowlevel_find_owner(const char *root, int argc, char *const argv[], struct lowlevel *out);

/*
 * What its `--version` says: a line that begins with "runc version" or "crun version". Starts a
 * process, for at most two seconds. ERR_UNSUPPORTED if it is neither.
 */
int lowlevel_ask_flavor(struct lowlevel *low, enum lowlevel_flavor *out,
                        struct err *err) must_check;

/*
 * Becomes it, with argv[0] replaced by its path (crun chooses handlers by that name). Returns only
 * on failure.
 */
int lowlevel_exec(struct lowlevel *low, int argc, char *const argv[], struct err *err) must_check;

/* How many wrappers of this kind are in the chain, this one included. */
long lowlevel_depth(void);

/* Counts this wrapper in the environment; ERR_POLICY when there are too many. */
int lowlevel_enter(struct err *err) must_check;

#endif

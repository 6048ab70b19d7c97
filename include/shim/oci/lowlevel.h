/*
 * The low-level runtime, runc or crun: finding it, asking which it is, and becoming it.
 *
 * Names are searched in a fixed list of directories, never in PATH. This program itself is skipped
 * (by device and inode of /proc/self/exe), and a counter in the environment ends chains of wrappers
 * that lead back here.
 */
#ifndef SHIM_LOWLEVEL_H
#define SHIM_LOWLEVEL_H

#include "base/cleanup.h"
#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The kind of a low-level runtime: the two read command lines differently. */
enum lowlevel_flavor { FLAVOR_UNKNOWN, FLAVOR_RUNC, FLAVOR_CRUN };

struct lowlevel {
    char path[PATH_MAX];
};

/* The names to look for if no policy names any. */
extern const char *const lowlevel_defaults[];
enum { LOWLEVEL_DEFAULTS = 2 };

/*
 * Finds the first of `names` that is an executable regular file and not this program. A name with a
 * slash must be absolute. ERR_POLICY lists what was tried.
 */
int lowlevel_find(const char *const *names, size_t count, struct lowlevel *out,
                  struct err *err) must_check;

/*
 * Finds the runtime that has a container called by the first of the words that names one, by its
 * state directory (runc
 * keeps ROOT/ID/state.json, crun ROOT/ID/status; ROOT is /run/runc or /run/crun if NULL). Used if
 * no policy says which runtime started a container. Returns 0, or -1 if none has it: no error.
 */
int lowlevel_find_owner(const char *root, int argc, char *const argv[], struct lowlevel *out);

/*
 * Asks the runtime for its `--version` and looks for a line that begins with "runc version" or
 * "crun version". Starts a process, for at most two seconds. ERR_UNSUPPORTED if it is neither.
 */
int lowlevel_ask_flavor(struct lowlevel *low, enum lowlevel_flavor *out,
                        struct err *err) must_check;

/* The runtime's own words about itself. */
struct lowlevel_version {
    enum lowlevel_flavor flavor;
    char text[48]; /* "1.1.5+ds1" */
};

/* As lowlevel_ask_flavor, with the version. */
int lowlevel_ask_version(struct lowlevel *low, struct lowlevel_version *out,
                         struct err *err) must_check;

/*
 * Returns true for a program named as runc's are, or, diverted, "runc." and more. A script is of
 * no runtime: it can become any.
 */
bool lowlevel_is_runc(const struct lowlevel *low);

/*
 * Returns true for a runc that makes the directories of mount points through links which a user can
 * swap meanwhile (CVE-2024-45310): before 1.1.14, and before 1.2.0-rc.3. Distributions may have
 * mended an older one. Pure.
 */
bool lowlevel_follows_links(const struct lowlevel_version *version);

/*
 * Returns true for a runc that looks supplementary groups up as names in the container's
 * /etc/group: before 1.3.0-rc.1. Pure.
 */
bool lowlevel_names_groups(const struct lowlevel_version *version);

/*
 * Executes the runtime in place of this process, with argv[0] replaced by its path (crun chooses
 * handlers by that name). Returns only on failure.
 */
int lowlevel_exec(struct lowlevel *low, int argc, char *const argv[], struct err *err) must_check;

/* Returns how many wrappers of this kind are in the chain, including this one. */
long lowlevel_depth(void);

/* Counts this wrapper in the environment. ERR_POLICY if there are too many. */
int lowlevel_enter(struct err *err) must_check;

#endif

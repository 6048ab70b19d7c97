/*
 * Directories below /run/flatbed, for what later calls need to know. They are owned by root: a
 * rootless runtime has none (XDG_RUNTIME_DIR is writable by the user, and could not be trusted).
 */
#ifndef SHIM_RUNDIR_H
#define SHIM_RUNDIR_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/*
 * Opens /run/flatbed/KIND, or the directory NAME in it (NULL: none), and makes it if `make`. All
 * directories on the way must be owned by root and not writable by others: ERR_POLICY. Returns a
 * descriptor that the caller closes. ERR_UNSUPPORTED for a rootless runtime.
 */
int rundir_open(const char *kind, const char *name, bool make, struct err *err) must_check;

/* Returns true if there is no DIRECTORY/NAME in /run/flatbed/KIND. Faster than opening them. */
bool rundir_lacks(const char *kind, const char *directory, const char *name);

/*
 * Opens /run/flatbed/KIND, made if it is missing, and locks it exclusively; closing the descriptor
 * releases the lock. Only root can open the directory and so hold the lock. ERR_LIMIT after ten
 * seconds.
 */
int rundir_lock(const char *kind, struct err *err) must_check;

/*
 * Locks an open directory of rundir_open exclusively, until the descriptor is closed. ERR_LIMIT
 * after ten seconds.
 */
int rundir_hold(int dirfd, struct err *err) must_check;

/* As rundir_hold, but returns false at once if another process holds the lock. */
bool rundir_try_hold(int dirfd);

/* The longest name, in bytes. */
enum { RUNDIR_NAME = 200 };
/*
 * Appends any text as part of a file's name: bytes other than letters, digits and "-_." become %XX,
 * and so does a leading dot. ERR_LIMIT if the name would be longer than RUNDIR_NAME.
 */
int rundir_escape(const char *text, struct buf *out, struct err *err) must_check;

/* Appends the text that rundir_escape made the name of. Returns false if it made no such name. */
bool rundir_unescape(const char *name, size_t len, struct buf *out);

/*
 * Appends the content of a file, which must be owned by root and not writable by others:
 * ERR_POLICY.
 */
int rundir_read(int dirfd, const char *name, size_t limit, struct buf *out,
                struct err *err) must_check;

/* Replaces a file (mode 0600) atomically, without fsync. */
int rundir_write(int dirfd, const char *name, const struct buf *text, struct err *err) must_check;

#endif

/*
 * Folders below /run/flatbed for what a later call wants to know. Root's alone: a rootless runtime
 * has none. (XDG_RUNTIME_DIR would be the user's word on what the runtime believes.)
 */
#ifndef SHIM_RUNDIR_H
#define SHIM_RUNDIR_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/*
 * A descriptor of /run/flatbed/KIND, or of the folder NAME in it (NULL: none), with `make` made
 * where it is missing. Every folder on the way must be root's, and writable to nobody else.
 */
int rundir_open(const char *kind, const char *name, bool make, struct err *err) must_check;

/* True if there is no FOLDER/NAME in /run/flatbed/KIND, which is seen without opening them. */
bool rundir_lacks(const char *kind, const char *folder, const char *name);

/*
 * A descriptor of /run/flatbed/KIND, made where it is missing, with an exclusive lock that goes
 * with it. Whoever can open a file can lock it: nobody but root can hold this one, and he for ten
 * seconds.
 */
int rundir_lock(const char *kind, struct err *err) must_check;

/*
 * Appends any text as part of a file's name: what is not a letter, a digit or one of "-_." becomes
 * %XX, and a leading dot too. ERR_LIMIT if the name would be longer than RUNDIR_NAME.
 */
enum { RUNDIR_NAME = 200 };
int rundir_escape(const char *text, struct buf *out, struct err *err) must_check;

/* Reads a file that is root's, and writable to nobody else. */
int rundir_read(int dirfd, const char *name, size_t limit, struct buf *out,
                struct err *err) must_check;

/* Replaces a file (mode 0600) atomically. It is not made to survive a crash. */
int rundir_write(int dirfd, const char *name, const struct buf *text, struct err *err) must_check;

#endif

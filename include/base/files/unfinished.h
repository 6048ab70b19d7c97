/*
 * Unfinished results of a program, and the removal of those that a run which was killed (SIGKILL, a
 * crash of the host) has left behind.
 *
 * A lock (flock(2)) tells whether the run that writes is gone: the kernel frees it with the last
 * descriptor, however the process ends. An archive and a new layout lie beside their destination,
 * among files of others, so each has a lock of its own and a name that says so; a layout that
 * exists has one lock for all that is in it. Nothing is removed on network file systems, where
 * locks may not show the runs of other hosts.
 */
#ifndef BASE_UNFINISHED_H
#define BASE_UNFINISHED_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { UNFINISHED_NAME = 40 };

/*
 * Makes an empty directory in `parent` for a new layout. Writes its name, and returns a descriptor
 * of it that holds its lock, or -1.
 */
int unfinished_dir_make(int parent, char name[UNFINISHED_NAME], struct err *err) must_check;

/*
 * The same for a tree of files, which may hold anything: only this user can enter the directory,
 * and it has a mark by which a later run knows that all of it may be removed.
 */
int unfinished_tree_make(int parent, char name[UNFINISHED_NAME], struct err *err) must_check;

/* Removes such a directory, `dir`, with all that is in it. Errors are ignored. */
void unfinished_tree_remove(int parent, const char *name, int dir);

/*
 * Locks the file `fd`, which has the name `from` in `parent`, and then renames it to `name`, which
 * is written. Returns a duplicate of the descriptor, for the caller to hold the lock with until the
 * file has its final name, or -1.
 */
int unfinished_file_rename(int parent, const char *from, int fd, char name[UNFINISHED_NAME],
                           struct err *err) must_check;

/* Takes something unfinished: its name, and a descriptor that has its lock. */
typedef void unfinished_visit(void *ctx, int parent, const char *name, int fd,
                              const struct stat *st);

/*
 * Visits the archives, layouts and trees in `parent` that runs of any user have left unfinished:
 * those with a name that a run chooses, whose lock is free. Errors are ignored.
 */
void unfinished_each(int parent, unfinished_visit *visit, void *ctx);

/* Returns false for a file system that other hosts may write to, where locks tell nothing. */
bool unfinished_is_told(int dir);

/* A visit: removes it, if it is this user's. What has files that no run makes stays. */
void unfinished_remove(void *ctx, int parent, const char *name, int fd, const struct stat *st);

/* unfinished_each with unfinished_remove. */
void unfinished_remove_beside(int parent);

/*
 * Removes temporary files (atomic_file.h) in `dir`, to which runs write only under a lock that the
 * caller holds. Errors are ignored.
 */
void unfinished_remove_inside(int dir);

#endif

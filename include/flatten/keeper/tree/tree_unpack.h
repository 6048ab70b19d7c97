/*
 * The tree of an image in a new directory. A process of its own, the tree writer, makes the files:
 * it can reach nothing but the directory (Landlock, and as root chroot(2)), never follows a
 * symbolic link, and reads the tree from a pipe (wire_tree.h), whose other end is the reader's.
 *
 * The tree is made in a directory beside its place that only this user can enter (unfinished.h),
 * and renamed when it is complete and on the disk. A tree that is freed before leaves nothing.
 */
#ifndef FLATTEN_TREE_UNPACK_H
#define FLATTEN_TREE_UNPACK_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct tree_unpack;

/*
 * Checks that `path` is no directory with content, nor anything else, and starts the tree writer.
 * Without `owners` all files belong to this user, files are not set-user-ID or set-group-ID, and
 * devices and attributes that this user may not make are left out. ERR_USAGE for a path that is
 * taken. Removes first the leftovers of runs that were killed. The caller frees it with
 * tree_unpack_free.
 */
struct tree_unpack *tree_unpack_start(const char *path, bool owners, struct err *err) must_check;

/* Returns the pipe for the tree, which becomes the caller's. Once. */
int tree_unpack_pipe(struct tree_unpack *t);

/*
 * Waits until the whole tree is written. Sets *left_out to the number of devices and attributes
 * that were left out, and returns a socket that answers one request for a walk of the tree
 * (walk_here, walk.h), borrowed; or -1 with the error of the tree writer.
 */
int tree_unpack_finish(struct tree_unpack *t, uint64_t *left_out, struct err *err) must_check;

/* Replaces *err by the error of the tree writer, if the pipe is broken. */
void tree_unpack_explain(struct tree_unpack *t, struct err *err);

/* Gives the tree its name, in place of an empty directory. ERR_USAGE if that is not empty. */
int tree_unpack_publish(struct tree_unpack *t, struct err *err) must_check;

/* Ends the tree writer, and removes what is not published. */
void tree_unpack_free(struct tree_unpack *t);

DEFINE_CLEANUP(tree_unpack, struct tree_unpack, tree_unpack_free)

#endif

/*
 * Copies a tree: content with its holes, names of one inode as hard links, symbolic links as they
 * are, FIFOs, owners, modes, times, ACLs and user attributes. Device nodes and sockets are left
 * out.
 */
#ifndef SHIM_TREE_COPY_H
#define SHIM_TREE_COPY_H

#include "shim/stage/copy/survey.h"

/* Called from time to time by one thread at a time: bytes and files so far. */
typedef void copy_progress_fn(void *context, uint64_t bytes, uint64_t files);

struct copy_options {
    const struct user_ids *user; /* who reads; NULL: root */
    bool fresh;                  /* `to` is empty: no interrupted copy was in it */
    uint64_t bandwidth;          /* bytes a second; 0: no limit */
    copy_progress_fn *progress;  /* or NULL */
    void *context;
};

/*
 * Copies the tree beneath `from` (tree_walk) into the empty directory `to`, or goes on with an
 * interrupted copy: a file that is there with its size and time is not read again. *out: the
 * survey of what was copied. ERR_UNSUPPORTED: a file changed while it was read. Nothing is synced.
 */
int tree_copy(int from, int to, const struct copy_options *options, struct stage_totals *out,
              struct err *err) __attribute__((warn_unused_result));

#endif

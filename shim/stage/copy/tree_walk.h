/*
 * Visits a tree with several threads at once: over a network most of the time is spent waiting for
 * the answer to one small question.
 *
 * Nothing leads out of the tree: names are looked up beneath its top, without symbolic links and
 * without entering other file systems.
 */
#ifndef SHIM_TREE_WALK_H
#define SHIM_TREE_WALK_H

#include "base/err.h"
#include "shim/stage/copy/reader_ids.h"

#include <stdbool.h>
#include <sys/stat.h>

enum { TREE_THREADS = 16, TREE_BUFFER = 1024 * 1024 };

/* One thread of a walk. */
struct tree_thread {
    struct reader_ids ids;
    unsigned char *buffer; /* TREE_BUFFER bytes, for the visitor */
    int kept;        /* a directory that the visitor keeps open from one entry to the next … */
    char *kept_path; /* … and its path; -1 and NULL: none. The walk closes and frees both */
};

/* Something in the tree. */
struct tree_entry {
    int fd;           /* a directory: itself, open for reading; else that which has it … */
    const char *name; /* … by this name */
    const char *path; /* from the top of the tree */
    struct statx st;
};

/*
 * The visitor. Both functions are called by all threads at once, with the ids of root; a directory
 * before what is in it. They return 0, or -1 with the error that ends the walk.
 */
struct tree_visitor {
    int (*directory)(void *context, struct tree_thread *thread, const struct tree_entry *entry,
                     struct err *err);
    int (*entry)(void *context, struct tree_thread *thread, const struct tree_entry *entry,
                 struct err *err);
    void *context;
};

/*
 * Walks the tree beneath `top`, an open directory (O_PATH is enough), and reads it as `user`, or as
 * root with NULL. ERR_SYSTEM with EACCES or EPERM: something may not be read so. ERR_UNSUPPORTED:
 * another file system is mounted in it. Fails also with the first error of the visitor.
 */
int tree_walk(int top, const struct user_ids *user, const struct tree_visitor *visitor,
              struct err *err) __attribute__((warn_unused_result));

/* As statx(2) of a name in a directory ("": the descriptor itself), as the server has it now. */
int tree_stat(int dirfd, const char *name, struct statx *out);

#endif

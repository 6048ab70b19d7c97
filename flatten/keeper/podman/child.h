/* A program that runs while the keeper waits for it. */
#ifndef FLATTEN_CHILD_H
#define FLATTEN_CHILD_H

#include "base/buf.h"
#include "base/err.h"

struct child {
    char *const *argv; /* argv[0] is looked up in PATH */
    int in, out;       /* its standard input and output; -1: /dev/null */
    struct buf *text;  /* gets its output instead of `out`, if that is not NULL */
    size_t limit;      /* bytes of `text` */
};

/*
 * Runs the program until it ends, and appends the end of its standard error to *said, without
 * control characters. Returns its exit status. Returns -1 with ERR_SYSTEM if it cannot be started,
 * dies of a signal, or the keeper is interrupted: then the program gets SIGTERM. It dies with the
 * keeper.
 */
int child_run(const struct child *c, struct buf *said, struct err *err) must_check;

#endif

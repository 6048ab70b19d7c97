/*
 * A file that a command has the low-level runtime read: --process of exec, --resources of update.
 * It is read once, whatever it is (a file, a link, a pipe such as /dev/stdin), and handed on as a
 * private copy. So nobody can replace what was judged, and a pipe that was read is not empty for
 * the low-level runtime.
 */
#ifndef SHIM_HANDED_FILE_H
#define SHIM_HANDED_FILE_H

#include "base/buf.h"
#include "base/err.h"

enum { HANDED_FILE_BYTES = 16 * 1024 * 1024 };

/* Appends the whole content. Links are followed, and a pipe is waited for, as the runtimes do. */
int handed_file_read(const char *path, struct buf *out, struct err *err) must_check;

/*
 * Makes a copy that lives in memory. *fd is open across execve(2), so that the low-level runtime
 * can read /proc/self/fd/N; the number is high, out of the way of --preserve-fds.
 */
int handed_file_copy(const struct buf *text, int *fd, struct err *err) must_check;

#endif

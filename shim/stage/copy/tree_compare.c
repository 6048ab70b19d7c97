#include "shim/stage/copy/tree_compare.h"

#include "base/cleanup.h"
#include "base/fdio.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>

enum { PIECE = TREE_BUFFER / 2 };

/* Reads up to PIECE bytes, less only at the end of the file. */
static ssize_t read_piece(int fd, unsigned char *buffer, off_t at)
{
    size_t got = 0;

    while (got < PIECE) {
        ssize_t n = pread(fd, buffer + got, PIECE - got, at + (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

/* Returns 1 if both files have the same content, 0 if not. */
static int same_content(int a, int b, unsigned char *buffer)
{
    for (off_t at = 0;; at += PIECE) {
        ssize_t left = read_piece(a, buffer, at), right = read_piece(b, buffer + PIECE, at);
        if (left < 0 || right < 0)
            return -1;
        if (left != right || memcmp(buffer, buffer + PIECE, (size_t)left) != 0)
            return 0;
        if (left < PIECE)
            return 1;
    }
}

/* The pages of the copy must come from its disk, not from what was just written. */
static int open_cold(int to, const char *path)
{
    int fd = fd_open_within(to, path, O_RDONLY | O_NOFOLLOW,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);

    if (fd >= 0)
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    return fd;
}

static int compare_entry(void *context, struct tree_thread *thread, const struct tree_entry *e,
                         struct err *err)
{
    const int *to = context;

    if (!S_ISREG(e->st.stx_mode))
        return 0;
    if (reader_ids_take(&thread->ids) < 0)
        return err_sys(err, "cannot read as the user");
    _cleanup_fd_ int source =
        openat(e->fd, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    reader_ids_leave(&thread->ids);
    _cleanup_fd_ int copy = source < 0 ? -1 : open_cold(*to, e->path);
    int same = copy < 0 ? -1 : same_content(source, copy, thread->buffer);
    if (same < 0)
        return err_sys(err, "%s", e->path);
    return same ? 0
                : err_set(err, ERR_UNSUPPORTED, "the copy of %s differs from the source", e->path);
}

static int pass_directory(void *context, struct tree_thread *thread, const struct tree_entry *entry,
                          struct err *err)
{
    (void)context, (void)thread, (void)entry, (void)err;
    return 0;
}

int tree_compare(int from, int to, const struct user_ids *user, struct err *err)
{
    const struct tree_visitor visitor = {pass_directory, compare_entry, &to};

    return tree_walk(from, user, &visitor, err);
}

#include "flatten/keeper/tree/tree_input.h"

#include "base/fdio.h"
#include "flatten/wire/wire_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tree_input_init(struct tree_input *in, int pipe, struct err *err)
{
    *in = (struct tree_input){.pipe = pipe, .block = malloc(WIRE_TREE_BUFFER)};
    return in->block ? 0 : err_nomem(err);
}

void tree_input_clear(struct tree_input *in)
{
    free(in->block);
    in->block = NULL;
}

/* Checks the result of a read of the pipe. Returns 1 to go on, 0 to try again, or -1. */
static int check_count(ssize_t n, struct err *err)
{
    if (n < 0 && errno == EINTR)
        return 0;
    if (n < 0)
        return err_sys(err, "cannot take over the content");
    return n > 0 ? 1 : err_set(err, ERR_SYSTEM, "the process that reads images ended too early");
}

/* Fills the block, which is empty, with what the pipe has. */
static int fill_block(struct tree_input *in, struct err *err)
{
    int rc;

    do {
        ssize_t n = read(in->pipe, in->block, WIRE_TREE_BUFFER);
        rc = check_count(n, err);
        in->at = 0;
        in->end = n > 0 ? (size_t)n : 0;
    } while (rc == 0);
    return rc < 0 ? -1 : 0;
}

/* Returns how many of the bytes are in the block. */
static size_t held(const struct tree_input *in, uint64_t wanted)
{
    size_t have = in->end - in->at;

    return wanted < have ? (size_t)wanted : have;
}

int tree_input_read(struct tree_input *in, void *out, size_t len, struct err *err)
{
    for (char *to = out; len > 0;) {
        if (in->at == in->end && fill_block(in, err) < 0)
            return -1;
        size_t n = held(in, len);
        memcpy(to, in->block + in->at, n);
        in->at += n;
        to += n;
        len -= n;
    }
    return 0;
}

/* Moves bytes from the pipe, without a copy of this process. Returns the number, 0 or -1. */
static ssize_t move_bytes(const struct tree_input *in, int fd, uint64_t offset, uint64_t len,
                          struct err *err)
{
    loff_t at = (loff_t)offset;
    ssize_t n = splice(in->pipe, NULL, fd, &at, (size_t)len, SPLICE_F_MOVE);
    int rc = check_count(n, err);

    return rc <= 0 ? rc : n;
}

int tree_input_copy(struct tree_input *in, int fd, uint64_t offset, uint64_t len, struct err *err)
{
    enum { LITTLE = 1 << 15 }; /* bytes: what follows it is worth a read of the whole block */

    while (len > 0) {
        size_t n = held(in, len);
        ssize_t moved = 0;
        if (n > 0 && fd_pwrite_all(fd, in->block + in->at, n, (off_t)offset, err) < 0)
            return -1;
        in->at += n;
        if (n == 0 && len >= LITTLE)
            moved = move_bytes(in, fd, offset, len, err);
        else if (n == 0)
            moved = fill_block(in, err);
        if (moved < 0)
            return -1;
        offset += n + (size_t)moved;
        len -= n + (size_t)moved;
    }
    return 0;
}

#include "shim/admin/doctor/disk/file_system.h"

#include "base/fdio.h"
#include "shim/admin/doctor/disk/seconds.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { STEP = 4 * 1024 * 1024 };

static int open_nameless(int dirfd, struct err *err)
{
    int fd = openat(dirfd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0)
        err_set(err, ERR_UNSUPPORTED, "no file without a name can be made there");
    return fd;
}

/* Fills a file with bytes that no file system compresses or leaves out. */
static int fill(int fd, uint64_t bytes, struct err *err)
{
    _cleanup_free_ uint64_t *step = malloc(STEP);
    uint64_t x = 88172645463325252u;

    if (!step)
        return err_nomem(err);
    for (uint64_t at = 0; at < bytes; at += STEP) {
        for (size_t i = 0; i < STEP / sizeof(*step); i++) { /* xorshift64 */
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            step[i] = x;
        }
        if (fd_write_all(fd, step, STEP, err) < 0)
            return -1;
    }
    return 0;
}

/* Copies in steps, as overlayfs does, until a second is over. */
static int copy(int from, int to, uint64_t bytes, double start, struct copy_cost *out,
                struct err *err)
{
    for (out->bytes = 0; out->bytes < bytes && seconds_now() - start < 1; out->bytes += STEP)
        if (fd_copy_range(from, (off_t)out->bytes, STEP, to, (off_t)out->bytes, err) < 0)
            return -1;
    return fdatasync(to) < 0 ? err_sys(err, "fdatasync") : 0;
}

int copy_cost_measure(int dirfd, uint64_t bytes, struct copy_cost *out, struct err *err)
{
    _cleanup_fd_ int from = open_nameless(dirfd, err);
    _cleanup_fd_ int to = from < 0 ? -1 : open_nameless(dirfd, err);

    *out = (struct copy_cost){0};
    if (to < 0 || fill(from, bytes, err) < 0)
        return -1;
    double start = seconds_now();
    out->shares = ioctl(to, FICLONE, from) == 0;
    if (out->shares)
        out->bytes = bytes;
    else if (copy(from, to, bytes, start, out, err) < 0)
        return -1;
    out->seconds = seconds_now() - start;
    return 0;
}

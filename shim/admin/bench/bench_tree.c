#include "shim/admin/bench/bench_internal.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

enum { SMALL = 1024, BLOCK = 1 << 20 };

static int make_dir(const char *path, struct err *err)
{
    return mkdir(path, 0755) < 0 ? err_sys(err, "%s", path) : 0;
}

static int make_file(const char *path, const char *data, size_t len, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    return fd < 0 ? err_sys(err, "%s", path) : fd_write_all(fd, data, len, err);
}

static int make_layer(unsigned layer, struct err *err)
{
    static const char data[SMALL] = "what a small file holds";
    char path[BENCH_PATH];

    snprintf(path, sizeof(path), "%u", layer);
    if (make_dir(path, err) < 0)
        return -1;
    for (int d = 0; d < BENCH_DIRS; d++) {
        snprintf(path, sizeof(path), "%u/d%d", layer, d);
        if (make_dir(path, err) < 0)
            return -1;
        for (int f = 0; layer == 0 && f < BENCH_FILES; f++) {
            snprintf(path, sizeof(path), "0/d%d/f%d", d, f);
            if (make_file(path, data, sizeof(data), err) < 0)
                return -1;
        }
    }
    return 0;
}

int bench_make_layers(struct err *err)
{
    for (unsigned layer = 0; layer < bench_layers[BENCH_60]; layer++)
        if (make_layer(layer, err) < 0)
            return -1;
    /* An overlay without an upper layer needs two layers; this one is empty. */
    return make_dir("none", err) < 0 ? -1 : make_dir(BENCH_MOUNTPOINT, err);
}

/*
 * Fills a block with random bytes: some file systems do not store zeros, or store equal blocks
 * once.
 */
static void fill(uint64_t *block, uint64_t *state)
{
    for (size_t i = 0; i < BLOCK / sizeof(*block); i++) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        block[i] = *state;
    }
}

int bench_make_large(uint64_t bytes, struct err *err)
{
    _cleanup_free_ uint64_t *block = malloc(BLOCK);
    uint64_t state = 88172645463325252U;

    if (!block)
        return err_nomem(err);
    if (make_dir("large", err) < 0)
        return -1;
    _cleanup_fd_ int fd = open(BENCH_LARGE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return err_sys(err, "%s", BENCH_LARGE);
    for (uint64_t at = 0; at < bytes; at += BLOCK) {
        fill(block, &state);
        if (fd_write_all(fd, block, BLOCK, err) < 0)
            return -1;
    }
    return fsync(fd) < 0 ? err_sys(err, "%s", BENCH_LARGE) : 0;
}

bool bench_can_clone(void)
{
    _cleanup_fd_ int from = open(BENCH_LARGE, O_RDONLY | O_CLOEXEC);
    _cleanup_fd_ int to = open("clone", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool can = from >= 0 && to >= 0 && ioctl(to, FICLONE, from) == 0;

    unlink("clone");
    return can;
}

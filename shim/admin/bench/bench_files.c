#include "shim/admin/bench/bench_internal.h"

#include "base/clock.h"

#include <fcntl.h>

enum { CHUNK = 128 * 1024 };

#define LARGE_MOUNTED BENCH_MOUNTPOINT "/file"

/* Reads a file to its end. Returns its size, or -1 and errno. */
static int64_t read_file(const char *path, char *chunk)
{
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    int64_t bytes = 0;
    ssize_t got = fd < 0 ? -1 : 1;

    while (got > 0) {
        got = read(fd, chunk, CHUNK);
        bytes += got > 0 ? got : 0;
    }
    return got < 0 ? -1 : bytes;
}

static int read_large(uint64_t expected, double *out, struct err *err)
{
    _cleanup_free_ char *chunk = malloc(CHUNK);

    if (!chunk)
        return err_nomem(err);
    double start = clock_seconds();
    int64_t bytes = read_file(LARGE_MOUNTED, chunk);
    if (bytes < 0)
        return err_sys(err, "the large file");
    if ((uint64_t)bytes != expected)
        return err_set(err, ERR_SYSTEM, "the large file is not as long as it was");
    *out = clock_seconds() - start;
    return 0;
}

static int read_small(double *out, struct err *err)
{
    char path[BENCH_PATH];
    _cleanup_free_ char *chunk = malloc(CHUNK);
    double start = bench_cpu();

    if (!chunk)
        return err_nomem(err);
    for (int d = 0; d < BENCH_DIRS; d++)
        for (int f = 0; f < BENCH_FILES; f++) {
            snprintf(path, sizeof(path), BENCH_MOUNTPOINT "/d%d/f%d", d, f);
            if (read_file(path, chunk) < 0)
                return err_sys(err, "%s", path);
        }
    *out = (bench_cpu() - start) / (BENCH_DIRS * BENCH_FILES);
    return 0;
}

/* Times the first change of a file: on an overlay, copy-up. */
static int change_large(double *out, struct err *err)
{
    double start = clock_seconds();
    _cleanup_fd_ int fd = open(LARGE_MOUNTED, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || pwrite(fd, "x", 1, 0) != 1)
        return err_sys(err, "changing the large file");
    *out = clock_seconds() - start;
    return 0;
}

struct samples {
    double small[2][BENCH_MOST_RUNS], bulk[2][BENCH_MOST_RUNS], change[2][BENCH_MOST_RUNS];
};

/* Measures once. The first reading of each only warms the caches. */
static int run_once(int overlay, unsigned run, uint64_t bytes, struct samples *s, struct err *err)
{
    double unused;

    if (bench_mount(overlay ? 1 : 0, err) < 0 || read_small(&unused, err) < 0 ||
        read_small(&s->small[overlay][run], err) < 0 || bench_unmount(err) < 0)
        return -1;
    if (bench_mount_large(overlay, err) < 0 || read_large(bytes, &unused, err) < 0 ||
        read_large(bytes, &s->bulk[overlay][run], err) < 0 ||
        change_large(&s->change[overlay][run], err) < 0)
        return -1;
    return bench_unmount(err);
}

int bench_files(const struct bench_options *o, struct bench_result *out, struct err *err)
{
    static struct samples s;

    for (unsigned run = 0; run < o->runs; run++)
        for (int overlay = 0; overlay < 2; overlay++)
            if (run_once(overlay, run, out->bytes, &s, err) < 0)
                return -1;
    for (int overlay = 0; overlay < 2; overlay++) {
        double bulk = bench_median(s.bulk[overlay], o->runs);
        out->small[overlay] = bench_median(s.small[overlay], o->runs);
        out->bulk[overlay] = bulk > 0 ? (double)out->bytes / bulk : 0;
    }
    out->bind_write = bench_median(s.change[0], o->runs);
    out->copy_up = bench_median(s.change[1], o->runs);
    out->reflink = bench_can_clone();
    return 0;
}

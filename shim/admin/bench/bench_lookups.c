#include "shim/admin/bench/bench_internal.h"

#include "base/clock.h"
#include "base/fdio.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

/* ---- the work that is timed ---- */

static void name_file(char path[BENCH_PATH], int d, int f, const char *suffix)
{
    snprintf(path, BENCH_PATH, BENCH_MOUNTPOINT "/d%d/f%d%s", d, f, suffix);
}

static void name_dir(char path[BENCH_PATH], int d)
{
    snprintf(path, BENCH_PATH, BENCH_MOUNTPOINT "/d%d", d);
}

static unsigned look_up(const char *suffix, bool wanted)
{
    char path[BENCH_PATH];
    struct stat st;
    unsigned good = 0;

    for (int d = 0; d < BENCH_DIRS; d++)
        for (int f = 0; f < BENCH_FILES; f++) {
            name_file(path, d, f, suffix);
            good += (stat(path, &st) == 0) == wanted;
        }
    return good;
}

/* Returns how many names the directories have, including "." and "..". */
static unsigned count_names(void)
{
    char path[BENCH_PATH];
    unsigned names = 0;

    for (int d = 0; d < BENCH_DIRS; d++) {
        name_dir(path, d);
        DIR *dir = opendir(path);
        while (dir && readdir(dir))
            names++;
        if (dir)
            closedir(dir);
    }
    return names;
}

/* Does the operation on all files. Fails unless all files, and no others, were found. */
static int do_lookups(enum bench_op op, struct err *err)
{
    unsigned files = BENCH_DIRS * BENCH_FILES;
    bool good = op == BENCH_STAT      ? look_up("", true) == files
                : op == BENCH_MISSING ? look_up("?", false) == files
                                      : count_names() == files + 2 * BENCH_DIRS;

    return good ? 0 : err_set(err, ERR_SYSTEM, "a mount does not show what its layers hold");
}

/* Looks up the directories, so that only the names in them are timed. */
static void find_dirs(void)
{
    char path[BENCH_PATH];
    struct stat st;

    for (int d = 0; d < BENCH_DIRS; d++) {
        name_dir(path, d);
        if (stat(path, &st) < 0)
            return; /* do_lookups will fail */
    }
}

/* ---- states ---- */

int bench_drop_caches(bool pages, struct err *err)
{
    _cleanup_fd_ int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return err_sys(err, "dropping caches: /proc/sys/vm/drop_caches");
    sync();
    return fd_write_all(fd, pages ? "3" : "2", 1, err);
}

/* Returns the clock to measure with: wall time for a disk, else processor time. */
static double clock_of(enum bench_state state)
{
    return state == BENCH_DISK ? clock_seconds() : bench_cpu();
}

static int timed(enum bench_op op, enum bench_state state, double *out, struct err *err)
{
    unsigned count = op == BENCH_READDIR ? BENCH_DIRS : BENCH_DIRS * BENCH_FILES;
    double start;

    if (state >= BENCH_DENTRIES && bench_drop_caches(state == BENCH_DISK, err) < 0)
        return -1;
    if (state != BENCH_WARM)
        find_dirs();
    start = clock_of(state);
    if (do_lookups(op, err) < 0)
        return -1;
    *out = (clock_of(state) - start) / count;
    return 0;
}

/* ---- runs ---- */

/* Fills the dentries of the layers themselves, whatever was dropped before. */
static int warm_layers(unsigned layers, enum bench_op op, struct err *err)
{
    if (bench_mount(layers, err) < 0 || do_lookups(op, err) < 0)
        return -1;
    return bench_unmount(err);
}

/* Measures all states: a fresh mount for each cold state; warm is right after the first. */
static int measure_states(const struct bench_options *o, unsigned layers, enum bench_op op,
                          double out[BENCH_STATES], struct err *err)
{
    if (warm_layers(layers, op, err) < 0)
        return -1;
    for (int state = BENCH_MOUNT; state <= (o->drop ? BENCH_DISK : BENCH_MOUNT); state++) {
        if (bench_mount(layers, err) < 0 || timed(op, state, &out[state], err) < 0)
            return -1;
        if (state == BENCH_MOUNT && timed(op, BENCH_WARM, &out[BENCH_WARM], err) < 0)
            return -1;
        if (bench_unmount(err) < 0)
            return -1;
    }
    return 0;
}

/*
 * Measures all shapes in turn, so that other load on the machine meets them all; the first run only
 * warms.
 */
int bench_lookups(const struct bench_options *o, struct bench_result *out, struct err *err)
{
    static double found[BENCH_OPS][BENCH_SHAPES][BENCH_STATES][BENCH_MOST_RUNS];
    double one[BENCH_STATES] = {0};

    for (unsigned run = 0; run <= o->runs; run++)
        for (int op = 0; op < BENCH_OPS; op++)
            for (int shape = 0; shape < BENCH_SHAPES; shape++) {
                if (measure_states(o, bench_layers[shape], op, one, err) < 0)
                    return -1;
                for (int state = 0; run > 0 && state < BENCH_STATES; state++)
                    found[op][shape][state][run - 1] = one[state];
            }
    for (int op = 0; op < BENCH_OPS; op++)
        for (int shape = 0; shape < BENCH_SHAPES; shape++)
            for (int state = 0; state < BENCH_STATES; state++)
                out->seconds[op][state][shape] = bench_median(found[op][shape][state], o->runs);
    return 0;
}

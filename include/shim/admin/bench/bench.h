/*
 * Measures what overlayfs costs on this host: overlay mounts of 1 (a flattened image), 5, 20 and 60
 * layers against a bind mount; lookups and listings in several states of the caches, copy-up,
 * reads.
 *
 * A child does the work in a mount namespace of its own (without root also in a user namespace), in
 * a temporary directory that is removed afterwards, even if the child is killed. No other mounts
 * are touched.
 */
#ifndef SHIM_BENCH_H
#define SHIM_BENCH_H

#include "base/buf.h"
#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum bench_op { BENCH_STAT, BENCH_MISSING, BENCH_READDIR, BENCH_OPS };

/* The caches that are cold when the clock starts. */
enum bench_state {
    BENCH_WARM,     /* none: the same was done just before */
    BENCH_MOUNT,    /* the mount is new: no dentries of the overlay, but of its layers */
    BENCH_DENTRIES, /* the kernel's dentries and inodes were dropped, too */
    BENCH_DISK,     /* and the page cache */
    BENCH_STATES,
};

enum bench_shape { BENCH_BIND, BENCH_FLAT, BENCH_5, BENCH_20, BENCH_60, BENCH_SHAPES };

extern const char *const bench_op_key[BENCH_OPS], *const bench_state_key[BENCH_STATES];
extern const unsigned bench_layers[BENCH_SHAPES]; /* of the overlay; 0: a bind mount */

enum { BENCH_MOST_RUNS = 101, BENCH_MOST_MEGABYTES = 65536 };

struct bench_options {
    const char *dir; /* on the file system to measure */
    unsigned runs;
    unsigned megabytes; /* of the file that is copied up and read */
    bool drop;          /* measure BENCH_DENTRIES and BENCH_DISK; slows the whole host down */
};

/* Medians. Plain data. */
struct bench_result {
    char dir[PATH_MAX], filesystem[32], kernel[66];
    int64_t time; /* seconds since 1970 */
    unsigned runs;
    uint64_t bytes;                                        /* of the file */
    double seconds[BENCH_OPS][BENCH_STATES][BENCH_SHAPES]; /* for one name; 0: not measured */
    double copy_up, bind_write; /* seconds until the first byte of the file is changed */
    bool reflink;               /* the file system clones, so copy-up copies nothing */
    double small[2], bulk[2]; /* bind, overlay: seconds to open, read and close a small file; bytes
                                 a second of the large one, page cache warm */
};

/*
 * Returns the default directory: an engine's store that exists, else one of flatbed's, else
 * /var/tmp.
 */
const char *bench_default_dir(void);

/*
 * Runs the whole measurement; takes seconds to minutes. ERR_SYSTEM, ERR_USAGE for a bad directory.
 */
int bench_run(const struct bench_options *options, struct bench_result *out,
              struct err *err) must_check;

/* ---- for other measurements ---- */

/*
 * Writes what is dirty to the disks, and drops the kernel's dentries and inodes; with `pages` also
 * the page cache (proc(5)). The whole host is slower for a while.
 */
int bench_drop_caches(bool pages, struct err *err) must_check;

/* ---- pure ---- */

/* Returns the median, 0 of no values. Sorts them. */
double bench_median(double *values, unsigned count);

/*
 * Returns k of the cost model (docs/overlay-costs.md): n layers take 1 + k * (n - 1) times as long
 * as one. Least squares of the model's error, as a share. Never negative; -1: not measured.
 */
double bench_k(const struct bench_result *r, enum bench_op op, enum bench_state state);

/*
 * Appends the result as an object of JSON; flatten reads its version, measured, kernel, filesystem
 * and k (lookup_costs.h).
 */
void bench_put_json(const struct bench_result *r, struct buf *out);
/* Appends the result as tables of text. */
void bench_put_text(const struct bench_result *r, bool colour, struct buf *out);

#endif

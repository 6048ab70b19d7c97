/*
 * What overlayfs costs on this host, measured: overlay mounts of 1 (a flattened image), 5, 20 and
 * 60 layers against a bind mount; lookups and listings in several states of the caches, copy-up,
 * reads.
 *
 * The work is done by a child in a mount namespace of its own (without root also in a user
 * namespace), in a temporary folder that is gone afterwards, also when the child is killed. Mounts
 * of others are not touched.
 */
#ifndef SHIM_BENCH_H
#define SHIM_BENCH_H

#include "base/buf.h"
#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum bench_op { BENCH_STAT, BENCH_MISSING, BENCH_READDIR, BENCH_OPS };

/* What is cold when the clock starts. */
enum bench_state {
    BENCH_WARM,     /* nothing: the same was done just before */
    BENCH_MOUNT,    /* the mount is new: the overlay has no dentries, its layers have theirs */
    BENCH_DENTRIES, /* the kernel's dentries and inodes were dropped, too */
    BENCH_DISK,     /* and the page cache */
    BENCH_STATES,
};

enum bench_shape { BENCH_BIND, BENCH_FLAT, BENCH_5, BENCH_20, BENCH_60, BENCH_SHAPES };

extern const char *const bench_op_key[BENCH_OPS], *const bench_state_key[BENCH_STATES];
extern const unsigned bench_layers[BENCH_SHAPES]; /* of the overlay; 0: a bind mount */

enum { BENCH_MOST_RUNS = 101, BENCH_MOST_MEGABYTES = 65536 };

struct bench_options {
    const char *dir; /* where: the file system that matters */
    unsigned runs;
    unsigned megabytes; /* of the file that is copied up and read */
    bool drop;          /* measure BENCH_DENTRIES and BENCH_DISK; the whole host feels it */
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

/* The default place: the store of an engine that is there, else a folder of ours. */
const char *bench_default_dir(void);

int bench_run(const struct bench_options *options, struct bench_result *out,
              struct err *err) must_check;

/* ---- pure ---- */

double bench_median(double *values, unsigned count); /* sorts them; 0 of none */

/*
 * k of the cost model (docs/overlay-costs.md): n layers take 1 + k * (n - 1) times as long as one.
 * Least squares of what the model is off by, as a share. Never negative; -1: not measured.
 */
double bench_k(const struct bench_result *r, enum bench_op op, enum bench_state state);

/* One object; flatten reads its version, measured, kernel, filesystem and k (lookup_costs.h). */
void bench_put_json(const struct bench_result *r, struct buf *out);
void bench_put_text(const struct bench_result *r, bool colour, struct buf *out);

#endif

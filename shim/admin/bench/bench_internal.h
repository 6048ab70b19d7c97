/*
 * The parts of a measurement, for bench.c: all run in the child, with the temporary directory as
 * working directory.
 */
#ifndef SHIM_BENCH_INTERNAL_H
#define SHIM_BENCH_INTERNAL_H

#include "base/cleanup.h"
#include "shim/admin/bench/bench.h"

enum { BENCH_DIRS = 60, BENCH_FILES = 12, BENCH_PATH = 64 };

#define BENCH_MOUNTPOINT "mnt"
#define BENCH_LARGE      "large/file"

/* ---- files ---- */

/* Make the layers "0" (with all files) to "59" (with the directories alone), and the large file. */
int bench_make_layers(struct err *err) must_check;
int bench_make_large(uint64_t bytes, struct err *err) must_check;

/* ---- mounts ---- */

/* Moves to a mount namespace of its own, whose mounts no other process sees. */
int bench_isolate(struct err *err) must_check;

/*
 * Mounts an overlay of so many layers, the newest first, at BENCH_MOUNTPOINT; 0: layer 0 as a bind
 * mount.
 */
int bench_mount(unsigned layers, struct err *err) must_check;

/* Mounts "large" under a writable overlay with a new upper layer, or as a bind mount. */
int bench_mount_large(bool overlay, struct err *err) must_check;
int bench_unmount(struct err *err) must_check;

/* Returns true if the file system clones files. */
bool bench_can_clone(void);

/* ---- clocks ---- */

/* Returns seconds of this thread's processor time, which other processes do not change. */
double bench_cpu(void);

/* ---- measurements ---- */

int bench_lookups(const struct bench_options *o, struct bench_result *out,
                  struct err *err) must_check;
int bench_files(const struct bench_options *o, struct bench_result *out,
                struct err *err) must_check;

#endif

/*
 * Properties of datasets for what containers of deep learning keep there: zfsprops(7), OpenZFS's
 * "Workload Tuning". Pure. docs/zfs.md gives the reasons at length.
 */
#ifndef SHIM_ZFS_RULES_H
#define SHIM_ZFS_RULES_H

#include "shim/admin/zfs/dataset.h"

#include <stdbool.h>

enum zfs_use { ZFS_IMAGES, ZFS_MODELS, ZFS_DATASETS, ZFS_SCRATCH, ZFS_LOGS, ZFS_USES };

extern const char *const zfs_use_names[ZFS_USES]; /* "image store", "models", … */

enum zfs_weight { ZFS_RIGHT, ZFS_WORTH, ZFS_COSTLY, ZFS_BROKEN };

struct zfs_judgement {
    const char *property; /* static */
    const char *is;       /* of the dataset, or in the arena */
    const char *should;   /* static: what to set; also where it is right */
    const char *why;      /* static, or in the arena */
    enum zfs_weight weight;
};

enum { ZFS_RULES = 6 };

/*
 * Judges the properties that matter to a use and that this ZFS has. Returns how many there are, or
 * -1 without memory.
 */
int zfs_judge(const struct zfs_dataset *dataset, enum zfs_use use, struct arena *arena,
              struct zfs_judgement out[ZFS_RULES]);

/* Guesses the use of a volume from its name or path, and whether containers only read it. */
enum zfs_use zfs_guess_use(const char *name, bool read_only);

/* Finds the use in "models=/path". Returns the path, or NULL if it has no such beginning. */
const char *zfs_parse_use(const char *word, enum zfs_use *use);

#endif

/* Properties of the datasets beneath some places, judged; for flatbed zfs advice and doctor. */
#ifndef SHIM_ZFS_ADVICE_H
#define SHIM_ZFS_ADVICE_H

#include "shim/admin/zfs/places.h"

struct zfs_advice {
    const char *dataset, *path;
    enum zfs_use use;
    struct zfs_judgement of;
    char *set; /* "zfs set atime=off tank/docker", for a shell */
};

/* A path of which the dataset or its properties could not be read. */
struct zfs_problem {
    const char *path, *why;
};

/* In the arena of the caller. */
struct zfs_advices {
    struct zfs_advice *list;
    size_t count;
    struct zfs_problem *problems;
    size_t problem_count;
};

/* Judges each dataset once for each use. Places on other file systems add nothing. */
int zfs_advise(const struct zfs_places *places, struct arena *arena, struct zfs_advices *out,
               struct err *err) must_check;

#endif

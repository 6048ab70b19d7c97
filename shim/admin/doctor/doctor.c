#include "shim/admin/doctor/doctor.h"

#include <string.h>

const char *const doctor_ids[] = {
    "gpu-limit",      "gpu-order",        "gpu-spec",        "group-docker",
    "image-depth",    "overlay-defaults", "overlay-module",  "policy",
    "policy-unused",  "runtime-around",   "runtime-default", "store-busy",
    "store-copyup",   "store-driver",     "store-ext4",      "store-hangs",
    "store-room",     "store-rotating",   "store-type",      "store-unread",
    "store-users",    "tuning-memlock",   "tuning-shm",      "tuning-workers",
    "version",        "volume-network",   "volume-room",     "volume-type",
    "zfs-atime",      "zfs-compression",  "zfs-dedup",       "zfs-dnodesize",
    "zfs-recordsize", "zfs-unread",       "zfs-xattr",       NULL,
};

bool doctor_knows(const char *id)
{
    for (const char *const *known = doctor_ids; *known; known++)
        if (strcmp(*known, id) == 0)
            return true;
    return false;
}

/* Properties of a mounted file system that statfs(2) does not tell. */
#ifndef SHIM_FEATURES_H
#define SHIM_FEATURES_H

#include "shim/admin/doctor/disk/file_system.h"

/*
 * Sets no_dir_index and no_extents from the superblock of ext4 on its device (fs/ext4/ext4.h). The
 * kernel holds that block in memory. Changes nothing for users who may not read the device.
 */
void features_of_ext4(struct file_system *fs);

/* Returns the first device of a btrfs (BTRFS_IOC_FS_INFO, /sys/fs/btrfs/ID/devices), or 0. */
dev_t features_btrfs_disk(int dirfd);

/* Returns true for a disk that turns. A virtual one says so only because nobody told it. */
bool features_rotate(dev_t disk);

#endif

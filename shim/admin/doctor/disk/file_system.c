#include "shim/admin/doctor/disk/file_system.h"

#include "base/fdio.h"
#include "shim/admin/doctor/disk/features.h"

#include <dirent.h>
#include <linux/magic.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Magic numbers that linux/magic.h of older systems does not have. */
enum {
    MAGIC_ZFS = 0x2fc12fc1,
    MAGIC_LUSTRE = 0x0bd00bd0,
    MAGIC_GPFS = 0x47504653,
    MAGIC_CEPH = 0x00c36400,
    MAGIC_BEEGFS = 0x19830326,
};
#define MAGIC_CIFS 0xff534d42u
#define MAGIC_SMB2 0xfe534d42u

static void name_type(uint64_t magic, struct file_system *out)
{
    static const struct {
        const char *name;
        uint32_t magic;
        enum file_system_kind kind;
    } types[] = {
        {"ext4", EXT4_SUPER_MAGIC, FILE_SYSTEM_LOCAL},
        {"XFS", XFS_SUPER_MAGIC, FILE_SYSTEM_LOCAL},
        {"btrfs", BTRFS_SUPER_MAGIC, FILE_SYSTEM_LOCAL},
        {"F2FS", F2FS_SUPER_MAGIC, FILE_SYSTEM_LOCAL},
        {"ZFS", MAGIC_ZFS, FILE_SYSTEM_LOCAL},
        {"tmpfs", TMPFS_MAGIC, FILE_SYSTEM_MEMORY},
        {"ramfs", RAMFS_MAGIC, FILE_SYSTEM_MEMORY},
        {"overlay", OVERLAYFS_SUPER_MAGIC, FILE_SYSTEM_OVERLAY},
        {"NFS", NFS_SUPER_MAGIC, FILE_SYSTEM_NETWORK},
        {"CIFS", MAGIC_CIFS, FILE_SYSTEM_NETWORK},
        {"SMB", MAGIC_SMB2, FILE_SYSTEM_NETWORK},
        {"CephFS", MAGIC_CEPH, FILE_SYSTEM_NETWORK},
        {"Lustre", MAGIC_LUSTRE, FILE_SYSTEM_NETWORK},
        {"GPFS", MAGIC_GPFS, FILE_SYSTEM_NETWORK},
        {"BeeGFS", MAGIC_BEEGFS, FILE_SYSTEM_NETWORK},
        {"9p", V9FS_MAGIC, FILE_SYSTEM_NETWORK},
        {"FUSE", FUSE_SUPER_MAGIC, FILE_SYSTEM_NETWORK},
    };

    *out = (struct file_system){.name = "another file system"};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if ((uint32_t)magic == types[i].magic) {
            out->name = types[i].name;
            out->kind = types[i].kind;
        }
}

/* XFS made with ftype=0: overlayfs cannot have its upper directory there. */
static bool is_untyped(int dirfd)
{
    DIR *dir = fd_list_directory(dirfd, ".");

    if (!dir)
        return false;
    const struct dirent *entry = readdir(dir);
    bool untyped = entry && entry->d_type == DT_UNKNOWN;
    closedir(dir);
    return untyped;
}

int file_system_of(int dirfd, struct file_system *out, struct err *err)
{
    struct statfs type;
    struct statvfs room;
    struct stat st;

    if (fstatfs(dirfd, &type) < 0 || fstatvfs(dirfd, &room) < 0 || fstat(dirfd, &st) < 0)
        return err_sys(err, "cannot ask for the file system");
    name_type((uint64_t)type.f_type, out);
    out->bytes = (uint64_t)room.f_blocks * room.f_frsize;
    out->bytes_free = (uint64_t)room.f_bavail * room.f_frsize;
    out->inodes = room.f_files;
    out->inodes_free = room.f_favail;
    out->read_only = room.f_flag & ST_RDONLY;
    out->untyped = is_untyped(dirfd);
    out->file_system = st.st_dev;
    out->disk = type.f_type == BTRFS_SUPER_MAGIC ? features_btrfs_disk(dirfd) : st.st_dev;
    out->rotating = features_rotate(out->disk);
    if (type.f_type == EXT4_SUPER_MAGIC)
        features_of_ext4(out);
    return 0;
}

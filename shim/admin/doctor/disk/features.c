#include "shim/admin/doctor/disk/features.h"

#include "base/fdio.h"

#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Offsets and bits of struct ext4_super_block. */
enum { SUPER = 1024, SUPER_MAGIC = 0x38, COMPAT = 0x5c, INCOMPAT = 0x60, SUPER_READ = 0x64 };
enum { MAGIC = 0xef53, DIR_INDEX = 0x20, EXTENTS = 0x40 };
enum { ID_TEXT = 37 };

/* Opens the device that a file of sysfs names as "7:0", or by its name in uevent; or returns -1. */
static int open_device(dev_t disk)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_free_ char *path = strf("/sys/dev/block/%u:%u/uevent", major(disk), minor(disk));
    struct err ignored;
    char name[256];
    struct stat st;

    if (!path || file_read(AT_FDCWD, path, 4096, &text, &ignored) < 0 || !text.data)
        return -1;
    const char *at = strstr(text.data, "DEVNAME=");
    if (!at || sscanf(at, "DEVNAME=%255[^\n]", name) != 1)
        return -1;
    _cleanup_free_ char *node = strf("/dev/%s", name);
    _cleanup_fd_ int fd = node ? open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISBLK(st.st_mode) && st.st_rdev == disk
               ? steal_fd(&fd)
               : -1;
}

static uint32_t word_at(const unsigned char *block, size_t offset)
{
    uint32_t word;

    memcpy(&word, block + offset, sizeof(word));
    return le32toh(word);
}

void features_of_ext4(struct file_system *fs)
{
    _cleanup_fd_ int fd = open_device(fs->disk);
    unsigned char block[SUPER_READ];

    if (fd < 0 || pread(fd, block, sizeof(block), SUPER) != (ssize_t)sizeof(block) ||
        (word_at(block, SUPER_MAGIC) & 0xffff) != MAGIC)
        return;
    fs->no_dir_index = !(word_at(block, COMPAT) & DIR_INDEX);
    fs->no_extents = !(word_at(block, INCOMPAT) & EXTENTS);
}

/* Writes a UUID as sysfs has it. */
static void print_id(const unsigned char *id, char out[ID_TEXT])
{
    for (size_t i = 0; i < 16; i++)
        out += sprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

/* Reads "7:0" of a device in a directory of sysfs. */
static dev_t read_device(const char *directory, const char *name)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_free_ char *path = strf("%s/%s/dev", directory, name);
    unsigned most, least;
    struct err ignored;

    if (!path || file_read(AT_FDCWD, path, 64, &text, &ignored) < 0 || !text.data ||
        sscanf(text.data, "%u:%u", &most, &least) != 2)
        return 0;
    return makedev(most, least);
}

dev_t features_btrfs_disk(int dirfd)
{
    struct btrfs_ioctl_fs_info_args info = {0};
    char id[ID_TEXT];
    dev_t found = 0;

    if (ioctl(dirfd, BTRFS_IOC_FS_INFO, &info) < 0)
        return 0;
    print_id(info.fsid, id);
    _cleanup_free_ char *path = strf("/sys/fs/btrfs/%s/devices", id);
    DIR *dir = path ? opendir(path) : NULL;
    for (const struct dirent *e; dir && found == 0 && (e = readdir(dir));)
        if (e->d_name[0] != '.')
            found = read_device(path, e->d_name);
    if (dir)
        closedir(dir);
    return found;
}

/* A disk of virtio says that it rotates unless the host's administrator set something else. */
static bool is_virtual(dev_t disk)
{
    _cleanup_free_ char *path = strf("/sys/dev/block/%u:%u", major(disk), minor(disk));
    char target[PATH_MAX];
    ssize_t len = path ? readlink(path, target, sizeof(target) - 1) : -1;

    if (len < 0)
        return false;
    target[len] = '\0';
    return strstr(target, "/virtio");
}

/* A partition has no queue of its own: its disk is the directory above. */
bool features_rotate(dev_t disk)
{
    static const char *const places[] = {"queue", "../queue"};
    struct err ignored;

    if (major(disk) == 0 || is_virtual(disk))
        return false;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        _cleanup_buf_ struct buf text = BUF_INIT;
        _cleanup_free_ char *path =
            strf("/sys/dev/block/%u:%u/%s/rotational", major(disk), minor(disk), places[i]);
        if (path && file_read(AT_FDCWD, path, 4096, &text, &ignored) == 0 && text.data)
            return text.data[0] == '1';
    }
    return false;
}

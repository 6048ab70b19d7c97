#include "base/files/unfinished.h"

#include "base/fdio.h"
#include "base/files/named_lock.h"
#include "base/files/tree_remove.h"
#include "base/hex.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static const char temporary_prefix[] = ".flatbed-"; /* of an atomic_file */
static const char run_prefix[] = ".flatbed-run-";   /* of what has a lock of its own */

/* A file of this user in a directory that no one else can enter: the mark of a tree. */
static const char tree_mark[] = ".flatbed-tree";

/* ---- names ---- */

static bool has_number(const char *name, const char *prefix)
{
    size_t len = strlen(prefix);

    return strncmp(name, prefix, len) == 0 && hex_is(name + len, 16);
}

static bool is_temporary(const char *name)
{
    return has_number(name, temporary_prefix);
}

static bool is_of_run(const char *name)
{
    return has_number(name, run_prefix);
}

static bool is_blob(const char *name)
{
    return hex_is(name, 64) || is_temporary(name);
}

static bool is_of_layout(const char *name)
{
    return strcmp(name, "oci-layout") == 0 || strcmp(name, "index.json") == 0 || is_temporary(name);
}

static int choose_name(const char *prefix, char name[UNFINISHED_NAME], struct err *err)
{
    uint64_t number;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return err_sys(err, "getrandom");
    snprintf(name, UNFINISHED_NAME, "%s%016llx", prefix, (unsigned long long)number);
    return 0;
}

/* ---- making ---- */

/*
 * Gives a locked file or directory the name by which it is removed one day. On a file system
 * without locks nothing is removed.
 */
static int lock_and_rename(int parent, const char *from, int fd, char name[UNFINISHED_NAME],
                           struct err *err)
{
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno != EOPNOTSUPP && errno != ENOLCK)
        return err_sys(err, "cannot lock %s", from);
    if (choose_name(run_prefix, name, err) < 0)
        return -1;
    if (renameat(parent, from, parent, name) < 0)
        return err_sys(err, "cannot rename %s", from);
    return 0;
}

int unfinished_dir_make(int parent, char name[UNFINISHED_NAME], struct err *err)
{
    char first[UNFINISHED_NAME];

    if (choose_name(temporary_prefix, first, err) < 0)
        return -1;
    if (mkdirat(parent, first, 0777) < 0)
        return err_sys(err, "cannot make %s", first);
    _cleanup_fd_ int dir = fd_open_directory(parent, first);
    if (dir < 0)
        err_sys(err, "%s", first);
    else if (lock_and_rename(parent, first, dir, name, err) == 0)
        return steal_fd(&dir);
    unlinkat(parent, first, AT_REMOVEDIR);
    return -1;
}

int unfinished_file_rename(int parent, const char *from, int fd, char name[UNFINISHED_NAME],
                           struct err *err)
{
    _cleanup_fd_ int lock = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    if (lock < 0)
        return err_sys(err, "dup");
    return lock_and_rename(parent, from, lock, name, err) < 0 ? -1 : steal_fd(&lock);
}

int unfinished_tree_make(int parent, char name[UNFINISHED_NAME], struct err *err)
{
    _cleanup_fd_ int dir = unfinished_dir_make(parent, name, err);

    if (dir < 0)
        return -1;
    /* Also takes off the set-group-ID bit, which it has in a directory that has it. */
    _cleanup_fd_ int mark =
        fchmod(dir, 0700) < 0
            ? -1
            : openat(dir, tree_mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (mark >= 0)
        return steal_fd(&dir);
    err_sys(err, "cannot make %s", name);
    unlinkat(parent, name, AT_REMOVEDIR);
    return -1;
}

void unfinished_tree_remove(int parent, const char *name, int dir)
{
    tree_remove_content(dir, tree_mark);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* flock(2) on a directory of NFS is a lock on this host alone. */
bool unfinished_is_told(int dir)
{
    enum { ZFS_MAGIC = 0x2fc12fc1 };
    struct statfs fs;

    if (fstatfs(dir, &fs) < 0)
        return false;
    switch ((uint64_t)fs.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case ZFS_MAGIC:
        return true;
    default:
        return false;
    }
}

/* ---- each of them ---- */

typedef bool name_filter(const char *name);
typedef void name_action(void *ctx, int dir, const char *name);

static void each_name(int dir, name_filter *wanted, name_action *act, void *ctx)
{
    DIR *list = fd_list_directory(dir, ".");

    if (!list)
        return;
    for (const struct dirent *entry; (entry = readdir(list));)
        if (wanted(entry->d_name))
            act(ctx, dirfd(list), entry->d_name);
    closedir(list);
}

/* The arguments of unfinished_each, for each name. */
struct walk {
    unfinished_visit *visit;
    void *ctx;
};

static void visit_left_over(void *ctx, int parent, const char *name)
{
    const struct walk *walk = ctx;
    struct stat st;

    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
        return;
    _cleanup_fd_ int fd =
        openat(parent, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    /* The run is gone. A result that got its final name before the lock was free is complete. */
    if (fd >= 0 && fstat(fd, &st) == 0 && named_lock(parent, name, fd, LOCK_EX))
        walk->visit(walk->ctx, parent, name, fd, &st);
}

void unfinished_each(int parent, unfinished_visit *visit, void *ctx)
{
    struct walk walk = {visit, ctx};

    if (unfinished_is_told(parent))
        each_name(parent, is_of_run, visit_left_over, &walk);
}

/* ---- removal ---- */

static void remove_file(void *ctx, int dir, const char *name)
{
    (void)ctx;
    unlinkat(dir, name, 0);
}

void unfinished_remove_inside(int dir)
{
    if (unfinished_is_told(dir))
        each_name(dir, is_temporary, remove_file, NULL);
}

/* Removes a layout; a directory with other files stays. */
static void remove_layout(int parent, const char *name, int dir)
{
    _cleanup_fd_ int blobs = fd_open_directory(dir, "blobs");
    _cleanup_fd_ int sha256 = blobs < 0 ? -1 : fd_open_directory(blobs, "sha256");

    if (sha256 >= 0)
        each_name(sha256, is_blob, remove_file, NULL);
    if (blobs >= 0)
        unlinkat(blobs, "sha256", AT_REMOVEDIR);
    unlinkat(dir, "blobs", AT_REMOVEDIR);
    each_name(dir, is_of_layout, remove_file, NULL);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* True for a directory of unfinished_tree_make: nobody else could have made the mark in it. */
static bool is_tree(int dir, const struct stat *st)
{
    struct stat mark;

    return (st->st_mode & 07777) == 0700 &&
           fstatat(dir, tree_mark, &mark, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(mark.st_mode) &&
           mark.st_uid == st->st_uid;
}

void unfinished_remove(void *ctx, int parent, const char *name, int fd, const struct stat *st)
{
    (void)ctx;
    if (st->st_uid != geteuid())
        return;
    if (S_ISDIR(st->st_mode) && is_tree(fd, st))
        unfinished_tree_remove(parent, name, fd);
    else if (S_ISDIR(st->st_mode))
        remove_layout(parent, name, fd);
    else
        remove_file(NULL, parent, name);
}

void unfinished_remove_beside(int parent)
{
    unfinished_each(parent, unfinished_remove, NULL);
}

#include "flatten/keeper/tree/tree_attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

bool tree_attributes_leave_out(struct tree_attributes *a)
{
    if (a->owners || (errno != EPERM && errno != EACCES))
        return false;
    a->left_out++;
    return true;
}

static int set_owner(const struct tree_attributes *a, const char *name, int fd,
                     const struct wire_entry *e, struct err *err)
{
    if (!a->owners)
        return 0;
    int rc = fd >= 0 ? fchown(fd, e->uid, e->gid)
                     : fchownat(AT_FDCWD, name, e->uid, e->gid, AT_SYMLINK_NOFOLLOW);
    if (rc == 0)
        return 0;
    return err_sys(err, "cannot give it the owner %u:%u (--no-owner leaves owners out)", e->uid,
                   e->gid);
}

static int set_xattr(struct tree_attributes *a, const char *file, int fd, const char *name,
                     const void *value, size_t size, struct err *err)
{
    int rc = fd >= 0 ? fsetxattr(fd, name, value, size, 0) : lsetxattr(file, name, value, size, 0);

    if (rc == 0 || tree_attributes_leave_out(a))
        return 0;
    return err_sys(err, "cannot set the extended attribute %.200s", name);
}

static int set_xattrs(struct tree_attributes *a, const char *file, int fd, struct wire_entry *e,
                      struct err *err)
{
    const char *name;
    const void *value;
    size_t size;
    int rc;

    while ((rc = wire_xattr_next(e, &name, &value, &size, err)) > 0)
        if (set_xattr(a, file, fd, name, value, size, err) < 0)
            return -1;
    return rc;
}

static mode_t wanted_mode(const struct tree_attributes *a, const struct wire_entry *e)
{
    mode_t all = a->owners || S_ISDIR(e->mode) ? 07777 : 01777;

    return e->mode & all;
}

/* A symbolic link has no mode. The file is no symbolic link, and nobody else can replace it. */
static int set_mode(const struct tree_attributes *a, const char *name, int fd,
                    const struct wire_entry *e, struct err *err)
{
    mode_t mode = wanted_mode(a, e);

    if (S_ISLNK(e->mode))
        return 0;
    int rc = fd >= 0 ? fchmod(fd, mode) : fchmodat(AT_FDCWD, name, mode, 0);
    return rc < 0 ? err_sys(err, "cannot set its mode %04o", mode) : 0;
}

static int set_time(const char *name, int fd, const struct wire_entry *e, struct err *err)
{
    const struct timespec time = {.tv_sec = (time_t)e->mtime, .tv_nsec = (long)e->mtime_nsec};
    const struct timespec times[] = {time, time};
    int rc = fd >= 0 ? futimens(fd, times) : utimensat(AT_FDCWD, name, times, AT_SYMLINK_NOFOLLOW);

    return rc < 0 ? err_sys(err, "cannot set its time") : 0;
}

/* A new owner takes away capabilities and some bits of the mode; an ACL sets bits of the mode. */
int tree_attributes_set(struct tree_attributes *a, const char *name, int fd, struct wire_entry *e,
                        struct err *err)
{
    if (set_owner(a, name, fd, e, err) < 0 || set_xattrs(a, name, fd, e, err) < 0 ||
        set_mode(a, name, fd, e, err) < 0)
        return -1;
    return set_time(name, fd, e, err);
}

int tree_attributes_update(struct tree_attributes *a, const char *name, struct wire_entry *e,
                           struct err *err)
{
    struct stat st;

    if (fstatat(AT_FDCWD, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "lstat");
    e->mode = (e->mode & 07777) | (st.st_mode & S_IFMT);
    if ((st.st_uid != e->uid || st.st_gid != e->gid) && set_owner(a, name, -1, e, err) < 0)
        return -1;
    if (set_xattrs(a, name, -1, e, err) < 0)
        return -1;
    if ((st.st_mode & 07777) != wanted_mode(a, e) && set_mode(a, name, -1, e, err) < 0)
        return -1;
    return set_time(name, -1, e, err);
}

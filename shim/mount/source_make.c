#include "shim/mount/source_make.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/host/process/channel.h"
#include "shim/host/trust.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { DIRECTORY_MODE = 0755 };

/* Sets the mode afterwards: mkdir(2) drops setuid and setgid. Returns 0, or -1 and errno. */
static int mkdir_with_mode(int dirfd, const char *name, mode_t mode)
{
    if (mkdirat(dirfd, name, 0700) < 0)
        return -1;
    int fd = fd_open_directory(dirfd, name);
    return fd < 0 ? -1 : fchmod(fd, mode);
}

/* Runs in the child, and never returns. */
static void mkdir_and_tell(int dirfd, const char *name, mode_t mode, const struct channel *channel)
{
    umask(0);
    int result = mkdir_with_mode(dirfd, name, mode) < 0 ? errno : 0;
    ssize_t written = write(channel->fd, &result, sizeof(result));
    _exit(written == (ssize_t)sizeof(result) ? 0 : 1);
}

/* Returns the errno that the child reports; EIO if it died. */
static int child_result(struct channel *channel)
{
    int result;
    ssize_t n = channel_read(channel, &result, sizeof(result));

    if (n == (ssize_t)sizeof(result))
        return result;
    return channel->silent ? ETIMEDOUT : EIO;
}

/* Makes a directory with the ids of the user. Returns 0 or an errno. */
static int make_as_user(int dirfd, const char *name, const struct source_make *make, mode_t mode)
{
    struct channel channel;
    pid_t pid = as_user_fork(&make->who, &channel);

    if (pid < 0)
        return errno;
    if (pid == 0)
        mkdir_and_tell(dirfd, name, mode, &channel);
    int result = child_result(&channel);
    channel_end(&channel);
    return result;
}

/* Leaves no moment in which others could get in: mode 0700 first, then the owner, then the mode. */
static int make_as_root(int dirfd, const char *name, uid_t uid, gid_t gid, mode_t mode,
                        struct err *err)
{
    if (mkdirat(dirfd, name, 0700) < 0)
        return errno == EEXIST ? 0 : err_sys(err, "cannot make '%s'", name);
    _cleanup_fd_ int fd = fd_open_directory(dirfd, name);
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", name);
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_sys(err, "cannot open '%s'", name);
    if (st.st_uid != geteuid() || (st.st_mode & 077))
        return err_set(err, ERR_POLICY, "'%s' was replaced while it was made", name);
    if ((st.st_uid != uid || st.st_gid != gid) && fchown(fd, uid, gid) < 0)
        return err_sys(err, "cannot give '%s' to %u:%u", name, (unsigned)uid, (unsigned)gid);
    if (fchmod(fd, mode) < 0)
        return err_sys(err, "cannot set the mode of '%s'", name);
    return 0;
}

int source_make_directory(int dirfd, const char *name, const struct source_make *make,
                          struct err *err)
{
    struct stat st;

    if (make_as_root(dirfd, name, make->who.uid, make->who.gid, make->mode, err) < 0)
        return -1;
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "'%s'", name);
    return S_ISDIR(st.st_mode) ? 0 : err_set(err, ERR_POLICY, "'%s' is not a directory", name);
}

static int make_component(int dirfd, const char *name, bool last, bool exposed,
                          const struct source_make *make, struct err *err)
{
    mode_t mode = last ? make->mode : DIRECTORY_MODE;
    struct stat dir;

    if (make->who.uid == geteuid())
        return make_as_root(dirfd, name, make->who.uid, make->who.gid, mode, err);
    int result = make_as_user(dirfd, name, make, mode);
    if (result == 0 || result == EEXIST)
        return 0;
    if (fstat(dirfd, &dir) < 0)
        return err_sys(err, "fstat");
    if ((result != EACCES && result != EPERM) || exposed || !trust_closed(&dir)) {
        errno = result;
        return err_sys(err, "cannot make '%s' as %u:%u", name, (unsigned)make->who.uid,
                       (unsigned)make->who.gid);
    }
    if (last)
        return make_as_root(dirfd, name, make->who.uid, make->who.gid, make->mode, err);
    return make_as_root(dirfd, name, geteuid(), getegid(), DIRECTORY_MODE, err);
}

int source_make_next(const struct source *missing, const struct source_make *make, struct err *err)
{
    size_t len = strcspn(missing->rest, "/");
    _cleanup_free_ char *name = strndup(missing->rest, len);

    if (!name)
        return err_nomem(err);
    if (!missing->directory)
        return err_set(err, ERR_POLICY, "'%s' cannot be made in what is no directory", name);
    if (!path_component_valid(name, len))
        return err_set(err, ERR_POLICY, "'%s' cannot be made", name);
    bool last = missing->rest[len + strspn(missing->rest + len, "/")] == '\0';
    return make_component(missing->fd, name, last, missing->exposed, make, err);
}

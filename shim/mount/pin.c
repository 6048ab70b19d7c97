#include "shim/mount/pin.h"

#include "shim/host/kernel.h"
#include "shim/mount/submounts.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

enum { MEMORY_LIMIT = 256 * 1024 * 1024 };

static int make_directory(const char *path, struct err *err)
{
    if (mkdir(path, 0755) < 0)
        return errno == EEXIST ? 0 : err_sys(err, "cannot make %s", path);
    /* The mapped root of a user namespace must get through, whatever the umask. */
    return chmod(path, 0755) < 0 ? err_sys(err, "cannot make %s", path) : 0;
}

int pin_begin(struct err *err)
{
    if (make_directory("/run/flatbed", err) < 0 || make_directory(PIN_DIRECTORY, err) < 0)
        return -1;
    if (unshare(CLONE_NEWNS) < 0)
        return err_sys(err,
                       "cannot enter a private mount namespace, where what was checked is held");
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return err_sys(err, "cannot make the mounts private");
    if (mount("flatbed", PIN_DIRECTORY, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "mode=0755,size=1m") < 0)
        return err_sys(err, "cannot mount a tmpfs on %s", PIN_DIRECTORY);
    return 0;
}

static int make_mount_point(const struct source *source, const char *path, struct err *err)
{
    if (source->directory)
        return make_directory(path, err);
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? err_sys(err, "cannot make %s", path) : 0;
}

static int set_options(const struct source *source, const char *path,
                       const struct pin_options *options, struct err *err)
{
    unsigned long flags = (options->read_only ? MS_RDONLY : 0) | (options->nosuid ? MS_NOSUID : 0) |
                          (options->nodev ? MS_NODEV : 0) | (options->noexec ? MS_NOEXEC : 0);

    if (kernel_restrict_mounts(path, flags) == 0)
        return 0;
    int saved = errno;
    /* Without mounts below, the options that the low-level runtime sets are enough. */
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct submounts submounts = {.arena = &arena};
    bool below;
    if (submounts_find(&submounts, source, NULL, &below, err) < 0)
        return -1;
    errno = saved;
    if (!below)
        return 0;
    return err_sys(err,
                   "other file systems are mounted below the source, and they cannot be restricted "
                   "(mount_setattr, Linux 5.12)");
}

int pin_add(const struct source *source, const char *path, const struct pin_options *options,
            struct err *err)
{
    char self[32];

    if (make_mount_point(source, path, err) < 0)
        return -1;
    snprintf(self, sizeof(self), "/proc/self/fd/%d", source->fd);
    if (mount(self, path, NULL, MS_BIND | (options->alone ? 0 : MS_REC), NULL) < 0 ||
        (options->closed && mount(NULL, path, NULL, MS_PRIVATE | MS_REC, NULL) < 0))
        return err_sys(err, "cannot pin a source at %s", path);
    return set_options(source, path, options, err);
}

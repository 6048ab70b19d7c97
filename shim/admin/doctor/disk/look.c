#include "shim/admin/doctor/disk/file_system.h"

#include "base/fdio.h"
#include "shim/admin/doctor/disk/seconds.h"
#include "shim/admin/doctor/disk/store_driver.h"
#include "shim/host/process/child_ask.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOOKUPS = 32 };

static const double lookups_end = 0.3; /* seconds */

/* Looks a name up that nobody has: the kernel must ask the server. Returns the seconds. */
static double look_up_once(int dirfd, unsigned number)
{
    char name[64];
    struct stat st;
    double start = seconds_now();

    snprintf(name, sizeof(name), ".flatbed-%d-%u", (int)getpid(), number);
    (void)fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW);
    return seconds_now() - start;
}

/* Returns the mean time of a lookup; the first one, which may wake a connection, is left out. */
static double measure_lookups(int dirfd)
{
    double all = 0;
    unsigned count = 0;

    look_up_once(dirfd, LOOKUPS);
    while (count < LOOKUPS && all < lookups_end)
        all += look_up_once(dirfd, count++);
    return all / count;
}

/* Opens the path in the home, without a link that leads out of it. */
static int open_in(const char *home, const char *path)
{
    _cleanup_fd_ int dir = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return dir < 0
               ? -1
               : fd_open_within(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, RESOLVE_BENEATH);
}

/* Opens the directory, or with `or_above` the first one that exists. Shortens the path to that. */
static int open_existing(const struct file_system_look *look, char *path)
{
    for (;;) {
        int fd =
            look->home ? open_in(look->home, path) : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char *slash = strrchr(path, '/');
        if (fd >= 0 || errno != ENOENT || !look->or_above || !slash || path[1] == '\0')
            return fd;
        slash[slash == path] = '\0';
    }
}

static void look_in_child(const void *asked, void *answer)
{
    const struct file_system_look *look = asked;
    struct file_system_seen *out = answer;
    char path[PATH_MAX];
    struct err err = ERR_INIT;

    snprintf(path, sizeof(path), "%s", look->path);
    int fd = open_existing(look, path);
    out->path_len = strlen(path);
    if (fd < 0 || file_system_of(fd, &out->is, &err) < 0) {
        out->error = fd < 0 ? errno : err.sys ? err.sys : EIO;
        return;
    }
    look_up_once(fd, 0); /* the kernel may know the directory without asking its server */
    if (out->is.kind == FILE_SYSTEM_NETWORK)
        out->is.lookup_time = measure_lookups(fd);
    out->driver = store_driver_of(fd);
}

int file_system_look(const struct file_system_look *look, struct file_system_seen *out,
                     struct err *err)
{
    int rc = child_ask(look_in_child, look, out, sizeof(*out), look->milliseconds, err);

    if (rc == 0 && !out->is.name && out->error == 0)
        out->error = EIO; /* the child ended without an answer */
    return rc;
}

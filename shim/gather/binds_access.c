#include "shim/gather/binds_access.h"

#include "base/fdio.h"
#include "shim/gather/bind_name.h"
#include "shim/host/process/channel.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MAY_READ = 1, MAY_WRITE = 2 };
enum { ANSWERS = 256 }; /* in one write(2) */

/* The directory of the last source, which most sources share, and whether it lets the user in. */
struct directory {
    const char *path;
    size_t len;
    bool open;
};

/* True if the directory of `path` lets the user in. Only for paths below directories that only root
 * can change. */
static bool directory_lets_in(struct directory *directory, const char *path)
{
    size_t len = (size_t)(strrchr(path, '/') - path) + 1;

    if (directory->path && directory->len == len && memcmp(directory->path, path, len) == 0)
        return directory->open;
    _cleanup_free_ char *name = strndup(path, len);
    _cleanup_fd_ int fd = name ? bind_open(AT_FDCWD, name) : -1;
    *directory = (struct directory){.path = path, .len = len};
    directory->open = fd >= 0 && faccessat(fd, "", X_OK, AT_EACCESS | AT_EMPTY_PATH) == 0;
    return directory->open;
}

static unsigned char try_fd(int fd, bool directory)
{
    int through = directory ? X_OK : 0;
    unsigned char may = 0;

    if (faccessat(fd, "", R_OK | through, AT_EACCESS | AT_EMPTY_PATH) == 0)
        may |= MAY_READ;
    if (faccessat(fd, "", W_OK | through, AT_EACCESS | AT_EMPTY_PATH) == 0)
        may |= MAY_WRITE;
    return may;
}

/* Tries one source with the user's ids: the directories first, then the source. */
static unsigned char try_source(const struct bind_wish *wish, struct directory *directory)
{
    struct stat st;

    if (wish->fd < 0 || !wish->path)
        return 0;
    if (wish->settled)
        return directory_lets_in(directory, wish->path) ? try_fd(wish->fd, wish->directory) : 0;
    _cleanup_fd_ int fd = bind_open(AT_FDCWD, wish->path);
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != wish->ino || st.st_dev != wish->dev)
        return 0;
    return try_fd(fd, S_ISDIR(st.st_mode));
}

/* Runs in the child, and never returns. */
static void try_sources(const struct bind_wish *wishes, size_t count, const struct channel *channel)
{
    unsigned char may[ANSWERS];
    struct directory directory = {0};
    struct err ignored;

    for (size_t i = 0; i < count; i++) {
        size_t at = i % ANSWERS;
        may[at] = try_source(&wishes[i], &directory);
        if ((at == ANSWERS - 1 || i == count - 1) &&
            fd_write_all(channel->fd, may, at + 1, &ignored) < 0)
            _exit(1);
    }
    _exit(0);
}

static int read_answers(struct channel *channel, struct bind_wish *wishes, size_t count,
                        struct err *err)
{
    unsigned char may[ANSWERS];
    size_t known = 0;

    while (known < count) {
        size_t want = count - known < ANSWERS ? count - known : ANSWERS;
        ssize_t n = channel_read(channel, may, want);
        if (n <= 0 && channel->silent)
            return err_set(err, ERR_POLICY,
                           "a source does not answer the container's user within %d seconds",
                           CHANNEL_SECONDS);
        if (n <= 0)
            return err_set(err, ERR_POLICY, "the container's user cannot be tried on this host");
        for (ssize_t i = 0; i < n; i++, known++) {
            wishes[known].readable = may[i] & MAY_READ;
            wishes[known].writable = may[i] & MAY_WRITE;
        }
    }
    return 0;
}

int binds_try_access(const struct user_ids *user, struct bind_wish *wishes, size_t count,
                     struct err *err)
{
    struct channel channel;
    pid_t pid = as_user_fork(user, &channel);

    if (pid < 0)
        return err_sys(err, "fork");
    if (pid == 0)
        try_sources(wishes, count, &channel);
    int rc = read_answers(&channel, wishes, count, err);
    channel_end(&channel);
    return rc;
}

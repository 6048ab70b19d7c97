#include "shim/host/opens.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>

enum { EVENTS_BYTES = 64 * 1024 };

int opens_begin(bool all, struct err *err)
{
    unsigned flags = FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | (all ? FAN_UNLIMITED_QUEUE : 0);
    /* The kernel opens the files for this process: a FIFO without a writer must not hold it. */
    int fd = fanotify_init(flags, O_RDONLY | O_LARGEFILE | O_NONBLOCK | O_CLOEXEC | O_NOATIME);

    return fd < 0 ? err_set(err, ERR_UNSUPPORTED, "fanotify: %s", strerror(errno)) : fd;
}

int opens_mark(int fd, const char *path, enum opens_scope scope, bool directories, struct err *err)
{
    unsigned flags = FAN_MARK_ADD | (scope == OPENS_MOUNT ? FAN_MARK_MOUNT : FAN_MARK_FILESYSTEM);

    if (fanotify_mark(fd, flags, FAN_OPEN | (directories ? FAN_ONDIR : 0), AT_FDCWD, path) < 0)
        return err_set(err, ERR_UNSUPPORTED, "fanotify: %s", strerror(errno));
    return 0;
}

static void take_one(const struct fanotify_event_metadata *e, opens_taker *take, void *ctx)
{
    char link[64], path[PATH_MAX];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", e->fd);
    ssize_t len = readlink(link, path, sizeof(path) - 1);
    path[len > 0 ? len : 0] = '\0';
    if (e->pid != getpid())
        take(&(struct opened){e->pid, e->fd, path}, ctx);
}

void opens_read(int fd, opens_taker *take, void *ctx, uint64_t *lost)
{
    _Alignas(struct fanotify_event_metadata) char events[EVENTS_BYTES];
    ssize_t len;

    while ((len = read(fd, events, sizeof(events))) > 0) {
        const struct fanotify_event_metadata *e = (const void *)events;
        for (; FAN_EVENT_OK(e, len); e = FAN_EVENT_NEXT(e, len)) {
            if (e->mask & FAN_Q_OVERFLOW)
                ++*lost;
            if (e->fd < 0)
                continue;
            take_one(e, take, ctx);
            close(e->fd);
        }
    }
}

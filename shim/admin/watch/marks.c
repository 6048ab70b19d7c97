#include "shim/admin/watch/marks.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>

enum { EVENTS_BYTES = 64 * 1024 };

int marks_open(const struct target *target, struct err *err)
{
    char path[64];
    _cleanup_fd_ int fd =
        fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE,
                      O_RDONLY | O_LARGEFILE | O_CLOEXEC | O_NOATIME);

    snprintf(path, sizeof(path), "/proc/self/fd/%d", target->root);
    if (fd < 0 ||
        fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_OPEN | FAN_ONDIR, AT_FDCWD, path) < 0)
        return err_set(err, ERR_UNSUPPORTED, "fanotify: %s", strerror(errno));
    return steal_fd(&fd);
}

/* Sets the name of the program; "?" if it has ended. */
static void read_comm(pid_t pid, char out[WATCH_COMM])
{
    char path[64];
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    bool read = file_read(AT_FDCWD, path, WATCH_NAME, &text, &ignored) == 0 && text.len > 1;
    snprintf(out, WATCH_COMM, "%.*s", read ? (int)text.len - 1 : 1, read ? text.data : "?");
}

static void take_one(const struct fanotify_event_metadata *e, const struct target *target,
                     tracer_taker *take, void *ctx)
{
    struct watch_record r = {.task = (uint64_t)e->pid << 32 | (uint32_t)e->pid, .call = WATCH_OPEN};
    char link[64], path[PATH_MAX];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", e->fd);
    ssize_t len = readlink(link, path, sizeof(path) - 1);
    path[len > 0 ? len : 0] = '\0';
    const char *within = target_within(target, path);
    if (!within || e->pid == getpid())
        return;
    size_t size = strlen(within);
    if (size >= sizeof(r.name)) /* the directory is what matters */
        size = sizeof(r.name) - 1;
    memcpy(r.name, within, size);
    r.len = (int64_t)size + 1;
    read_comm(e->pid, r.comm);
    take(&r, ctx);
}

void marks_read(int fd, const struct target *target, tracer_taker *take, void *ctx, uint64_t *lost)
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
            take_one(e, target, take, ctx);
            close(e->fd);
        }
    }
}

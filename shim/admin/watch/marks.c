#include "shim/admin/watch/marks.h"

#include "base/fdio.h"
#include "shim/host/opens.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int marks_open(const struct target *target, struct err *err)
{
    char path[64];
    _cleanup_fd_ int fd = opens_begin(true, err);

    snprintf(path, sizeof(path), "/proc/self/fd/%d", target->root);
    if (fd < 0 || opens_mark(fd, path, OPENS_MOUNT, true, err) < 0)
        return -1;
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

/* The taker of records, while events are passed on to it. */
struct marks_reading {
    const struct target *target;
    tracer_taker *take;
    void *ctx;
};

static void take_opened(const struct opened *o, void *ctx)
{
    const struct marks_reading *reading = ctx;
    struct watch_record r = {.task = (uint64_t)o->pid << 32 | (uint32_t)o->pid, .call = WATCH_OPEN};
    const char *within = target_within(reading->target, o->path);

    if (!within)
        return;
    size_t size = strlen(within);
    if (size >= sizeof(r.name)) /* the directory is what matters */
        size = sizeof(r.name) - 1;
    memcpy(r.name, within, size);
    r.len = (int64_t)size + 1;
    read_comm(o->pid, r.comm);
    reading->take(&r, reading->ctx);
}

void marks_read(int fd, const struct target *target, tracer_taker *take, void *ctx, uint64_t *lost)
{
    struct marks_reading reading = {target, take, ctx};

    opens_read(fd, take_opened, &reading, lost);
}

#include "shim/admin/watch/trace/tracepoints.h"

#include "base/buf.h"
#include "base/fdio.h"

#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { NUMBER_BYTES = 32 };

const struct tracepoint_call tracepoint_calls[TRACEPOINT_CALLS] = {
    {"openat", WATCH_OPEN, 1},
    {"openat2", WATCH_OPEN, 1},
    {"open", WATCH_OPEN, 0},
    {"newfstatat", WATCH_STAT, 1},
    {"statx", WATCH_STAT, 1},
    {"newstat", WATCH_STAT, 0},
    {"newlstat", WATCH_STAT, 0},
    {"access", WATCH_ACCESS, 0},
    {"faccessat", WATCH_ACCESS, 1},
    {"faccessat2", WATCH_ACCESS, 1},
    {"readlink", WATCH_READLINK, 0},
    {"readlinkat", WATCH_READLINK, 1},
    {"creat", WATCH_OPEN, 0},
    {"chdir", WATCH_CHDIR, 0},
    {"fchdir", WATCH_FCHDIR, TRACEPOINT_NO_NAME},
    {"dup", WATCH_DUP, TRACEPOINT_NO_NAME},
    {"dup2", WATCH_DUP, TRACEPOINT_NO_NAME},
    {"dup3", WATCH_DUP, TRACEPOINT_NO_NAME},
    {"fcntl", WATCH_DUP, TRACEPOINT_NO_NAME},
};

const char *const watch_call_names[WATCH_CALLS] = {"opens", "stats", "accesses", "readlinks"};

int tracepoints_open(struct err *err)
{
    _cleanup_fd_ int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);

    if (context >= 0 && syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0) {
        int mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
                                 MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
        if (mount >= 0)
            return mount;
    }
    return err_set(err, ERR_UNSUPPORTED, "tracefs cannot be mounted: %s", strerror(errno));
}

long tracepoint_number(int tracefs, const char *side, const char *name)
{
    char path[128];
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    snprintf(path, sizeof(path), "events/syscalls/sys_%s_%s/id", side, name);
    if (file_read(tracefs, path, NUMBER_BYTES, &text, &ignored) < 0 || !text.data)
        return -1;
    return strtol(text.data, NULL, 10);
}

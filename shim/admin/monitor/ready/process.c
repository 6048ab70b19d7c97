#include "shim/admin/monitor/ready/process.h"

#include "base/fdio.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ID_DIGITS = 64, GROUPS_BYTES = 64 * 1024, STAT_BYTES = 4096, STAT_START = 22 };

const char *process_container(const char *cgroups)
{
    for (const char *line = cgroups; *line;) {
        size_t len = strcspn(line, "\n");
        const char *slash = memrchr(line, '/', len);
        const char *last = slash ? slash + 1 : line, *part = last;
        size_t before = strcspn(part, "\n");
        for (; before >= ID_DIGITS; before--, part++)
            if (strspn(part, "0123456789abcdef") == ID_DIGITS)
                return memmem(last, (size_t)(part - last), "conmon", 6) ? NULL : part;
        line += len + (line[len] == '\n');
    }
    return NULL;
}

static struct first_process *find_wish(const struct start_wish *wishes, size_t count,
                                       const char *id, struct first_process *out)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(wishes[i].container->id) == ID_DIGITS &&
            memcmp(wishes[i].container->id, id, ID_DIGITS) == 0)
            return &out[i];
    return NULL;
}

/* Reads the time of the start from /proc/PID/stat, in which a name may have spaces and brackets. */
static bool read_ticks(int proc, const char *pid, uint64_t *out)
{
    _cleanup_free_ char *path = strf("%s/stat", pid);
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (!path || file_read(proc, path, STAT_BYTES, &text, &ignored) < 0 || !text.data)
        return false;
    const char *at = strrchr(text.data, ')');
    for (int field = 2; at && field < STAT_START; field++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, " %lu", out) == 1;
}

/* Takes note of a process if it is the oldest of a container so far. It may end meanwhile. */
static void look_at(int proc, const char *pid, const struct start_wish *wishes, size_t count,
                    struct first_process *out)
{
    _cleanup_free_ char *path = strf("%s/cgroup", pid);
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;
    uint64_t ticks;

    if (!path || file_read(proc, path, GROUPS_BYTES, &text, &ignored) < 0 || !text.data)
        return;
    const char *id = process_container(text.data);
    struct first_process *first = id ? find_wish(wishes, count, id, out) : NULL;
    if (!first || !read_ticks(proc, pid, &ticks) || (first->pid && first->ticks <= ticks))
        return;
    *first = (struct first_process){.pid = (pid_t)strtol(pid, NULL, 10), .ticks = ticks};
}

int processes_find(const struct start_wish *wishes, size_t count, struct first_process *out,
                   struct err *err)
{
    DIR *dir = opendir("/proc");
    const struct dirent *e;

    memset(out, 0, count * sizeof(*out));
    if (!dir)
        return err_sys(err, "/proc");
    while ((e = readdir(dir)))
        if (isdigit((unsigned char)e->d_name[0]))
            look_at(dirfd(dir), e->d_name, wishes, count, out);
    closedir(dir);
    return 0;
}

double process_clock(clockid_t clock)
{
    struct timespec at;

    clock_gettime(clock, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

double process_started(const struct first_process *process)
{
    double age =
        process_clock(CLOCK_BOOTTIME) - (double)process->ticks / (double)sysconf(_SC_CLK_TCK);

    return process_clock(CLOCK_REALTIME) - age;
}

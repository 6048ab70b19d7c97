#include "shim/host/process/process.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

enum { MOST_ANCESTORS = 64, STAT_BYTES = 1024 };

struct entry {
    char state;
    pid_t parent;
    uint64_t start;
};

/* Reads the line of /proc/PID/stat, behind the name, which may hold blanks and brackets. */
static bool entry_parse(const char *line, struct entry *out)
{
    const char *rest = strrchr(line, ')');

    return rest && sscanf(rest + 1,
                          " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                          "%*d %" SCNu64,
                          &out->state, &out->parent, &out->start) == 3;
}

/* Returns false and sets errno if the entry cannot be read. */
static bool entry_read(pid_t pid, struct entry *out)
{
    char path[32], line[STAT_BYTES];

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
    if (n < 0)
        return false;
    line[n] = '\0';
    errno = EIO;
    return entry_parse(line, out);
}

struct process process_self(void)
{
    struct process self = {.pid = getpid()};
    struct entry entry;

    if (entry_read(self.pid, &entry))
        self.start = entry.start;
    return self;
}

bool process_ended(const struct process *p)
{
    struct entry entry;

    if (!entry_read(p->pid, &entry))
        return (errno == ENOENT && access("/proc/self/stat", F_OK) == 0) || errno == ESRCH;
    if (entry.start != p->start)
        return p->start != 0;
    return entry.state == 'Z' || entry.state == 'X';
}

bool process_is_above(const struct process *p)
{
    struct entry entry;
    pid_t pid = getpid();

    for (int i = 0; i < MOST_ANCESTORS && pid > 0 && entry_read(pid, &entry); i++) {
        if (pid == p->pid)
            return entry.start == p->start;
        pid = entry.parent;
    }
    return false;
}

#include "shim/warm/read/warm_memory.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <string.h>

enum { MEMINFO_BYTES = 64 * 1024 };

/* Returns the bytes of a line such as "MemFree:   123 kB"; 0 without it. */
static uint64_t amount(const char *meminfo, const char *name)
{
    const char *line = strstr(meminfo, name);

    return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

uint64_t warm_memory_of(const char *meminfo, const struct policy_free *max, uint64_t limit)
{
    uint64_t most = max->bytes, free_now = amount(meminfo, "\nMemFree:");

    free_now += amount(meminfo, "\nInactive(file):");
    if (max->percent)
        most = free_now / 100 * max->percent;
    if (most > free_now)
        most = free_now;
    return limit && limit < most ? limit : most;
}

uint64_t warm_memory(const struct policy_free *max, uint64_t limit)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (file_read(AT_FDCWD, "/proc/meminfo", MEMINFO_BYTES, &text, &ignored) < 0 || !text.data)
        return 0;
    return warm_memory_of(text.data, max, limit);
}

int warm_memory_uncharge(struct err *err)
{
    /* The controller of version 1 counts where there is one. */
    static const char *const roots[] = {"/sys/fs/cgroup/memory/cgroup.procs",
                                        "/sys/fs/cgroup/cgroup.procs"};

    for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
        _cleanup_fd_ int fd = open(roots[i], O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (write(fd, "0", 1) == 1)
            return 0;
        break;
    }
    return err_set(err, ERR_UNSUPPORTED, "cannot leave the engine's cgroup: %s", strerror(errno));
}

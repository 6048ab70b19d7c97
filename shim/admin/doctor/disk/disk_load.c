#include "shim/admin/doctor/disk/disk_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

struct counters {
    uint64_t reads, read_ms, writes, write_ms, busy_ms;
};

static bool read_line(const char *line, dev_t disk, struct counters *out)
{
    unsigned major, minor;

    return sscanf(line,
                  "%u %u %*s %" SCNu64 " %*u %*u %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64
                  " %*u %" SCNu64,
                  &major, &minor, &out->reads, &out->read_ms, &out->writes, &out->write_ms,
                  &out->busy_ms) == 7 &&
           makedev(major, minor) == disk;
}

static bool find(const char *text, dev_t disk, struct counters *out)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (read_line(line, disk, out))
            return true;
    }
    return false;
}

/* Returns the growth of a counter, which has 32 bits for milliseconds, and begins anew. */
static uint64_t grown(uint64_t before, uint64_t after)
{
    return after >= before ? after - before : (uint32_t)(after - before);
}

bool disk_load_between(const char *before, const char *after, double seconds, dev_t disk,
                       struct disk_load *out)
{
    struct counters a, b;

    *out = (struct disk_load){0};
    if (!find(before, disk, &a) || !find(after, disk, &b) || seconds <= 0)
        return false;
    out->requests = grown(a.reads, b.reads) + grown(a.writes, b.writes);
    uint64_t waited = grown(a.read_ms, b.read_ms) + grown(a.write_ms, b.write_ms);
    out->await = out->requests ? (double)waited / (double)out->requests : 0;
    out->busy = (double)grown(a.busy_ms, b.busy_ms) / (seconds * 10);
    if (out->busy > 100)
        out->busy = 100;
    return true;
}

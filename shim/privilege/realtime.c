#include "shim/privilege/realtime.h"

#include <string.h>

/* Returns true unless the value is missing, or a number from 0 to `most`. */
static bool exceeds(const struct json *value, uint64_t most)
{
    uint64_t number;

    return value && value->type != JSON_NULL && !(json_u64(value, &number) && number <= most);
}

/* Returns true if the text is in the list, which ends with NULL. */
static bool is_one_of(const struct json *value, const char *const *list)
{
    const char *text = json_text(value);

    for (; text && *list; list++)
        if (strcmp(text, *list) == 0)
            return true;
    return false;
}

static bool is_given(const struct json *value)
{
    return value && value->type != JSON_NULL;
}

static void put(struct buf *out, const char *words)
{
    buf_printf(out, "%s%s", out->len ? ", " : "", words);
}

/* ---- processes ---- */

/* Limits up to which a process may raise itself; RLIMIT_NICE is 20 less the nice value. */
static const struct {
    const char *type;
    uint64_t most;
    const char *words;
} limits[] = {
    {"RLIMIT_RTPRIO", 0, "RLIMIT_RTPRIO above 0 (--ulimit rtprio)"},
    {"RLIMIT_NICE", 20, "RLIMIT_NICE above 20 (--ulimit nice)"},
};

/* A type may be there twice: crun sets all of them. */
static bool asks_for_limit(const struct json *list, const char *type, uint64_t most)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *entry = json_at(list, i);
        const char *text = json_text(json_get(entry, "type"));
        if (text && strcmp(text, type) == 0 &&
            (exceeds(json_get(entry, "soft"), most) || exceeds(json_get(entry, "hard"), most)))
            return true;
    }
    return false;
}

static bool is_ordinary_scheduler(const struct json *scheduler)
{
    enum { LOWEST_NICE = 19 };
    static const char *const policies[] = {"SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE", NULL};

    return is_one_of(json_get(scheduler, "policy"), policies) &&
           !exceeds(json_get(scheduler, "nice"), LOWEST_NICE);
}

void realtime_print_process(const struct json *process, struct buf *out)
{
    static const char *const classes[] = {"IOPRIO_CLASS_BE", "IOPRIO_CLASS_IDLE", NULL};
    const struct json *scheduler = json_get(process, "scheduler");
    const struct json *disks = json_get(process, "ioPriority");

    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
        if (asks_for_limit(json_get(process, "rlimits"), limits[i].type, limits[i].most))
            put(out, limits[i].words);
    if (is_given(scheduler) && !is_ordinary_scheduler(scheduler))
        put(out, "process.scheduler");
    if (is_given(disks) && !is_one_of(json_get(disks, "class"), classes))
        put(out, "process.ioPriority");
}

/* ---- cgroups, and classes of caches ---- */

void realtime_print_resources(const struct json *resources, struct buf *out)
{
    static const char *const classes[] = {"no-change", "restrict-to-be", "idle", NULL};
    static const char *const partitions[] = {"member", NULL};
    const struct json *cpu = json_get(resources, "cpu");
    const struct json *unified = json_get(resources, "unified");
    const struct json *disks = json_get(unified, "io.prio.class");
    const struct json *partition = json_get(unified, "cpuset.cpus.partition");

    if (exceeds(json_get(cpu, "realtimeRuntime"), 0))
        put(out, "cpu.realtimeRuntime (--cpu-rt-runtime)");
    if (exceeds(json_get(cpu, "realtimePeriod"), 0))
        put(out, "cpu.realtimePeriod (--cpu-rt-period)");
    if (is_given(disks) && !is_one_of(disks, classes))
        put(out, "io.prio.class (--cgroup-conf)");
    if (is_given(partition) && !is_one_of(partition, partitions))
        put(out, "cpuset.cpus.partition (--cgroup-conf)");
    if (is_given(json_get(unified, "cpuset.cpus.exclusive")))
        put(out, "cpuset.cpus.exclusive (--cgroup-conf)");
}

void realtime_print_linux(const struct json *linux_part, struct buf *out)
{
    realtime_print_resources(json_get(linux_part, "resources"), out);
    if (is_given(json_get(linux_part, "intelRdt")))
        put(out, "linux.intelRdt (cache of the processor)");
}

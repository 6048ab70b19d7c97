#include "shim/gather/tuning.h"

#include "base/fdio.h"
#include "shim/gather/limits.h"
#include "shim/host/trust.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

static const struct {
    const char *name;
    int resource;
} rlimits[TUNING_KINDS] = {
    [TUNING_MEMLOCK] = {"RLIMIT_MEMLOCK", RLIMIT_MEMLOCK},
    [TUNING_NOFILE] = {"RLIMIT_NOFILE", RLIMIT_NOFILE},
    [TUNING_STACK] = {"RLIMIT_STACK", RLIMIT_STACK},
};

const char *tuning_rlimit(enum tuning_kind kind)
{
    return rlimits[kind].name;
}

/* A cpu_set_t holds 1024 CPUs; the call fails on a host that may have more. */
static uint64_t count_cpus(void)
{
    static const size_t bytes = CPU_ALLOC_SIZE(LIMITS_CPUS);
    cpu_set_t *set = CPU_ALLOC(LIMITS_CPUS);
    int count = set && sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 1;

    CPU_FREE(set);
    return count > 0 ? (uint64_t)count : 1;
}

static bool has_sys_resource(void)
{
    cap_t caps = cap_get_proc();
    cap_flag_value_t value = CAP_CLEAR;

    if (caps && cap_get_flag(caps, CAP_SYS_RESOURCE, CAP_EFFECTIVE, &value) < 0)
        value = CAP_CLEAR;
    cap_free(caps);
    return value == CAP_SET;
}

static uint64_t most_files(void)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (file_read(AT_FDCWD, "/proc/sys/fs/nr_open", 64, &text, &ignored) < 0 || !text.data)
        return 1024 * 1024; /* the kernel's default */
    return strtoull(text.data, NULL, 10);
}

void tuning_gather(struct tuning_facts *out)
{
    struct sysinfo info;
    struct rlimit limit;

    *out = (struct tuning_facts){
        .memory = sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : 0,
        .cpus = count_cpus(),
        .may_raise = has_sys_resource() && !trust_in_user_namespace(),
        .files = most_files(),
    };
    for (int kind = 0; kind < TUNING_KINDS; kind++)
        if (rlimits[kind].name && getrlimit(rlimits[kind].resource, &limit) == 0)
            out->limits[kind] =
                (struct tuning_limit){.soft = limit.rlim_cur, .hard = limit.rlim_max};
}

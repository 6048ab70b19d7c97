#include "shim/stage/copy/reader_ids.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sets the effective capabilities of this thread; those that it may have stay. */
static int set_effective(const struct reader_ids *ids, const uint32_t effective[2])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {
        {.effective = effective[0], .permitted = ids->permitted[0]},
        {.effective = effective[1], .permitted = ids->permitted[1]},
    };

    return (int)syscall(SYS_capset, &header, data);
}

int reader_ids_begin(struct reader_ids *ids, const struct user_ids *user)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    *ids = (struct reader_ids){.user = user};
    if (!user)
        return 0;
    if (syscall(SYS_capget, &header, data) < 0)
        return -1;
    ids->permitted[0] = data[0].permitted;
    ids->permitted[1] = data[1].permitted;
    if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) < 0 ||
        syscall(SYS_setgroups, user->group_count, user->groups) < 0)
        return -1;
    return (int)syscall(SYS_setresgid, user->gid, user->gid, user->gid);
}

int reader_ids_take(const struct reader_ids *ids)
{
    static const uint32_t to_return[2] = {1u << CAP_SETUID, 0};

    if (!ids->user)
        return 0;
    if (syscall(SYS_setresuid, ids->user->uid, ids->user->uid, ids->user->uid) < 0)
        return -1;
    if (set_effective(ids, to_return) == 0)
        return 0;
    reader_ids_leave(ids);
    return -1;
}

void reader_ids_leave(const struct reader_ids *ids)
{
    int saved = errno;

    if (ids->user &&
        (syscall(SYS_setresuid, 0, 0, 0) < 0 || set_effective(ids, ids->permitted) < 0))
        abort();
    errno = saved;
}

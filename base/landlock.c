#include "base/landlock.h"

#include <linux/landlock.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns all rights that this kernel knows: a ruleset without rules grants none of them. */
static uint64_t all_file_rights(int abi)
{
    uint64_t rights = LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1;

    if (abi >= 2)
        rights |= 1ull << 13; /* REFER */
    if (abi >= 3)
        rights |= 1ull << 14; /* TRUNCATE */
    if (abi >= 5)
        rights |= 1ull << 15; /* IOCTL_DEV */
    return rights;
}

static int allow_beneath(int ruleset, int dir, uint64_t rights)
{
    const struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = dir};

    return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

int landlock_confine(int dir, struct err *err)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    if (abi < 0 || (dir >= 0 && abi < 2))
        return 0;
    struct landlock_ruleset_attr attr = {.handled_access_fs = all_file_rights((int)abi)};
    _cleanup_fd_ int fd =
        (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr.handled_access_fs), 0);
    if (fd < 0 || (dir >= 0 && allow_beneath(fd, dir, attr.handled_access_fs) < 0) ||
        syscall(SYS_landlock_restrict_self, fd, 0) < 0)
        return err_sys(err, "landlock");
    return 0;
}

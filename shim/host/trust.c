#include "shim/host/trust.h"

#include "base/cleanup.h"
#include "shim/host/users/idmap.h"

#include <fcntl.h>
#include <unistd.h>

enum { OVERFLOW_UID = 65534 };

/*
 * Reads only the beginning, as it is asked often; the beginning of a longer map differs from the
 * identity, too.
 */
bool trust_in_user_namespace(void)
{
    _cleanup_fd_ int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
    char text[64];
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (n < 0)
        return false;
    text[n] = '\0';
    return !id_map_is_identity(text);
}

bool trust_rootless(void)
{
    return geteuid() != 0 || trust_in_user_namespace();
}

bool trust_owner_known(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

bool trust_owner(uid_t uid)
{
    return trust_owner_known(uid) || (uid == OVERFLOW_UID && trust_in_user_namespace());
}

bool trust_closed(const struct stat *st)
{
    return (st->st_mode & (S_IWGRP | S_IWOTH)) == 0 && trust_owner(st->st_uid);
}

bool trust_entry(const struct stat *dir, const struct stat *entry)
{
    if (trust_closed(dir))
        return true;
    return (dir->st_mode & S_ISVTX) && trust_owner(dir->st_uid) && trust_owner_known(entry->st_uid);
}

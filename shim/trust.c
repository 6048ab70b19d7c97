#include "shim/trust.h"

#include "shim/idmap.h"

#include <unistd.h>

enum { OVERFLOW_UID = 65534 };

bool trust_in_user_namespace(void)
{
    struct id_map map;
    struct err ignored;

    return id_map_self("uid", &map, &ignored) == 0 && !id_map_is_identity(&map);
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

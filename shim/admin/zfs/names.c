#include "shim/admin/zfs/names.h"

#include <string.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
#define DIGITS "0123456789"

enum { SNAPSHOT_MOST = 100 };

/* Returns true for one component, of `len` bytes. */
static bool component_valid(const char *name, size_t len)
{
    if (len == 0 || (len == 1 && name[0] == '.') || (len == 2 && memcmp(name, "..", 2) == 0))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!strchr(letters, name[i]) && !strchr(DIGITS "_.:- ", name[i]))
            return false;
    return true;
}

bool zfs_dataset_valid(const char *name)
{
    if (!name[0] || !strchr(letters, name[0]) || strlen(name) > ZFS_NAME_MOST)
        return false;
    for (;;) {
        size_t len = strcspn(name, "/");
        if (!component_valid(name, len))
            return false;
        if (!name[len])
            return true;
        name += len + 1;
    }
}

bool zfs_snapshot_valid(const char *name)
{
    size_t len = strlen(name);

    return len <= SNAPSHOT_MOST && name[0] != '-' && name[0] != '.' && !strchr(name, ' ') &&
           component_valid(name, len);
}

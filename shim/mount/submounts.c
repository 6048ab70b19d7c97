#include "shim/mount/submounts.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static int path_of(const struct source *source, char *path, size_t size, struct err *err)
{
    char self[32];

    snprintf(self, sizeof(self), "/proc/self/fd/%d", source->fd);
    ssize_t len = readlink(self, path, size);
    if (len < 0)
        return err_sys(err, "%s", self);
    if ((size_t)len == size)
        return err_set(err, ERR_LIMIT, "its path is too long");
    path[len] = '\0';
    return 0;
}

int submounts_find(struct submounts *known, const struct source *source, const char *path,
                   bool *out, struct err *err)
{
    char real[PATH_MAX];

    *out = false;
    if (!source->directory)
        return 0;
    if (!path || source->linked || source->exposed) {
        if (path_of(source, real, sizeof(real), err) < 0)
            return -1;
        path = real;
    }
    if (!known->read && mount_table_read(known->arena, &known->table, err) < 0)
        return -1;
    known->read = true;
    *out = mount_table_beneath(&known->table, path);
    return 0;
}

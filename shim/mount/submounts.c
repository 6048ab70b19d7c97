#include "shim/mount/submounts.h"

#include "shim/host/fd_path.h"

int submounts_find(struct submounts *known, const struct source *source, const char *path,
                   bool *out, struct err *err)
{
    char real[PATH_MAX];

    *out = false;
    if (!source->directory)
        return 0;
    if (!path || source->linked || source->exposed) {
        if (fd_path(source->fd, real) < 0)
            return err_sys(err, "the path of a source");
        path = real;
    }
    if (!known->read && mount_table_read(known->arena, &known->table, err) < 0)
        return -1;
    known->read = true;
    *out = mount_table_beneath(&known->table, path);
    return 0;
}

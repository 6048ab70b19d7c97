#include "shim/gather/rootfs.h"

#include "base/cleanup.h"
#include "shim/host/fd_path.h"

#include <fcntl.h>
#include <string.h>

/* Returns the number of mounts at a mount point. */
static size_t count_mounts(const struct mount_table *table, const char *point)
{
    size_t count = 0;

    for (size_t i = 0; i < table->count; i++)
        count += strcmp(table->list[i].point, point) == 0;
    return count;
}

int rootfs_gather(const struct spec *spec, int bundle, struct arena *arena,
                  struct rootfs_facts *out, struct err *err)
{
    const char *path = json_text(json_path(spec->root, "root", "path", NULL));
    char real[PATH_MAX];
    struct mount_table table;

    *out = (struct rootfs_facts){0};
    _cleanup_fd_ int fd =
        path && *path ? openat(bundle, path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0 || fd_path(fd, real) < 0)
        return 0; /* the low-level runtime says what is wrong with it */
    if (mount_table_read(arena, &table, err) < 0)
        return -1;
    out->mount = mount_table_overlay_at(&table, real);
    if (!out->mount)
        return 0;
    out->stacked = count_mounts(&table, real) > 1;
    return layers_read(out->mount->super, arena, &out->layers, err);
}

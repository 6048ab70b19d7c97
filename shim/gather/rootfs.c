#include "shim/gather/rootfs.h"

#include "base/cleanup.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* ---- counting ---- */

/*
 * "a:b\:c::data" of `len` bytes: the names before the first "::". The kernel writes a backslash as
 * "\134".
 */
static size_t count_names(const char *list, size_t len)
{
    static const char escaped_backslash[] = "\\134";
    size_t count = len > 0;

    for (size_t i = 0; i < len; i++) {
        if (len - i > 4 && memcmp(list + i, escaped_backslash, 4) == 0)
            i += 4; /* and what it escapes: ":", or the first byte of another "\134" */
        else if (list[i] == ':' && i + 1 < len && list[i + 1] == ':')
            return count;
        else
            count += list[i] == ':';
    }
    return count;
}

size_t rootfs_count_layers(const char *super)
{
    static const char list[] = "lowerdir=", one[] = "lowerdir+=";
    size_t count = 0;

    while (*super) {
        size_t len = strcspn(super, ","); /* one in a name is written "\054" */
        if (strncmp(super, list, sizeof(list) - 1) == 0)
            count += count_names(super + sizeof(list) - 1, len - (sizeof(list) - 1));
        else if (strncmp(super, one, sizeof(one) - 1) == 0)
            count++;
        super += len + (super[len] == ',');
    }
    return count;
}

/* ---- looking ---- */

/* How many mounts there are at a place. */
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
    char link[32], real[PATH_MAX];
    struct mount_table table;

    *out = (struct rootfs_facts){0};
    _cleanup_fd_ int fd =
        path && *path ? openat(bundle, path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0; /* the runtime behind us says what is wrong with it */
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, real, sizeof(real));
    if (len <= 0 || len == sizeof(real))
        return 0;
    real[len] = '\0';
    if (mount_table_read(arena, &table, err) < 0)
        return -1;
    out->mount = mount_table_overlay_at(&table, real);
    out->depth = out->mount ? rootfs_count_layers(out->mount->super) : 0;
    out->stacked = out->mount && count_mounts(&table, real) > 1;
    return 0;
}

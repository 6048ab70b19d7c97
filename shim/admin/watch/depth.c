#include "shim/admin/watch/depth.h"

#include "base/buf.h"
#include "base/fdio.h"
#include "shim/admin/copyups/lowers.h"
#include "shim/admin/watch/place.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>

/* Opens the directory on the mount of the root, or the nearest one above it that exists. */
static int open_nearest(int root, const char *path)
{
    _cleanup_buf_ struct buf at = BUF_INIT;

    buf_puts(&at, path);
    for (;;) {
        if (at.failed)
            return -1;
        int fd = fd_open_within(root, at.data, O_PATH | O_DIRECTORY,
                                RESOLVE_IN_ROOT | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS);
        if (fd >= 0 || (errno != ENOENT && errno != ENOTDIR) || at.len <= 1)
            return fd;
        place_up(&at);
    }
}

/* Writes the path of a directory in the container, without links. */
static const char *path_of(int fd, const struct target *target, char out[PATH_MAX])
{
    char link[64];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, out, PATH_MAX - 1);
    if (len <= 0)
        return NULL;
    out[len] = '\0';
    return target_within(target, out);
}

static int find_one(const struct lowers *all, bool users, const struct target *target,
                    struct seen_entry *entry, struct err *err)
{
    _cleanup_lowers_ struct lowers here = {0};
    char link[PATH_MAX];
    bool limited = false;

    entry->layers = 0;
    if (entry->name[0] != '/')
        return 0;
    _cleanup_fd_ int fd = open_nearest(target->root, entry->name);
    const char *path = fd < 0 ? NULL : path_of(fd, target, link);
    if (!path)
        return 0;
    if (!path[1]) {
        entry->layers = (unsigned)all->count;
        return 0;
    }
    if (lowers_enter_path(all, path + 1, users, &here, &limited, err) < 0)
        return -1;
    entry->layers = (unsigned)here.count;
    return 0;
}

int depth_find(const struct container_root *root, bool users, const struct target *target,
               struct seen_entry *const entries[], size_t count, struct err *err)
{
    _cleanup_free_ struct lower *list = calloc(root->count + 1, sizeof(*list));
    struct lowers all = {list, 0}; /* the descriptors are borrowed */

    if (!list)
        return err_nomem(err);
    if (root->upper >= 0)
        list[all.count++] = (struct lower){root->upper, 0};
    for (size_t i = 0; i < root->count; i++)
        list[all.count++] = (struct lower){root->layers[i], i + 1};
    for (size_t i = 0; i < count; i++)
        if (find_one(&all, users, target, entries[i], err) < 0)
            return -1;
    return 0;
}

#include "shim/restack/build/restack_tree.h"

#include "base/buf.h"
#include "base/fdio.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

enum { LIST_BYTES = 64 * 1024, VALUE_BYTES = 64 * 1024 }; /* XATTR_LIST_MAX, XATTR_SIZE_MAX */

struct maker {
    const struct merge_layers *layers;
    int root;
    int fd; /* of the directory that is being filled, or -1 */
    char *list, *value;
};

static int make_directory(void *context, const char *path, struct err *err)
{
    struct maker *m = context;

    cleanup_fd(&m->fd);
    m->fd = -1;
    if (strcmp(path, ".") != 0 && mkdirat(m->root, path, 0700) < 0)
        return err_sys(err, "cannot make a directory");
    m->fd = fd_open_directory(m->root, path);
    return m->fd < 0 ? err_sys(err, "cannot open a directory that was made") : 0;
}

/* Links by the path beneath the layer: the directories of layers are not kept open. */
static int link_file(void *context, const char *path, const char *name, size_t layer,
                     struct err *err)
{
    const struct maker *m = context;
    char from[PATH_MAX];
    int len = snprintf(from, sizeof(from), "%s/%s", path, name);

    if (len < 0 || (size_t)len >= sizeof(from))
        return err_set(err, ERR_LIMIT, "a path is too long");
    if (linkat(m->layers->fds[layer], from, m->fd, name, 0) < 0)
        return err_sys(err, "cannot link '%.200s'", from);
    return 0;
}

static int copy_attributes(struct maker *m, const char *from, int to, struct err *err)
{
    const char *prefix = merge_prefix(m->layers->users);
    ssize_t len = llistxattr(from, m->list, LIST_BYTES);

    if (len < 0)
        return errno == ENOTSUP ? 0 : err_sys(err, "the attributes of a directory");
    for (const char *a = m->list; a < m->list + len; a += strlen(a) + 1) {
        if (strncmp(a, prefix, strlen(prefix)) == 0)
            continue;
        ssize_t size = lgetxattr(from, a, m->value, VALUE_BYTES);
        if (size < 0 || fsetxattr(to, a, m->value, (size_t)size, 0) < 0)
            return err_sys(err, "the attribute %s of a directory", a);
    }
    return 0;
}

/* Sets attributes and times last: new entries inherit some attributes, and change the times. */
static int finish_directory(void *context, const char *path, size_t layer, struct err *err)
{
    struct maker *m = context;
    char from[PATH_MAX];
    struct stat st;

    cleanup_fd(&m->fd);
    m->fd = -1;
    _cleanup_fd_ int fd = fd_open_directory(m->root, path);
    if (fd < 0 || fstatat(m->layers->fds[layer], path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "'%.200s'", path);
    const struct timespec times[] = {st.st_atim, st.st_mtim};
    if (merge_path(m->layers->fds[layer], path, NULL, from, sizeof(from), err) < 0 ||
        copy_attributes(m, from, fd, err) < 0)
        return -1;
    if (fchown(fd, st.st_uid, st.st_gid) < 0 || fchmod(fd, st.st_mode & 07777) < 0 ||
        futimens(fd, times) < 0)
        return err_sys(err, "the owner, mode and times of '%.200s'", path);
    return 0;
}

int restack_tree_make(const struct merge_layers *layers, int root, struct merge_counts *counts,
                      struct err *err)
{
    static const struct merge_sink sink = {make_directory, link_file, finish_directory};
    struct maker m = {.layers = layers, .root = root, .fd = -1};

    m.list = malloc(LIST_BYTES);
    m.value = malloc(VALUE_BYTES);
    int rc = m.list && m.value ? restack_merge(layers, &sink, &m, counts, err) : err_nomem(err);
    cleanup_fd(&m.fd);
    free(m.list);
    free(m.value);
    return rc;
}

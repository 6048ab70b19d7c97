#include "shim/restack/build/restack_layers.h"

#include "base/buf.h"
#include "base/fdio.h"
#include "base/path.h"
#include "shim/mount/mount_table.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* ---- one more mount ---- */

/* Returns the mount that shows a path: the last of those with the longest mount point. */
static const struct mount_entry *covering_mount(const struct mount_table *table, const char *path)
{
    const struct mount_entry *best = NULL;

    for (size_t i = 0; i < table->count; i++) {
        const struct mount_entry *m = &table->list[i];
        if (path_is_beneath(path, m->point) && (!best || strlen(m->point) >= strlen(best->point)))
            best = m;
    }
    return best;
}

static const char *skip_slashes(const char *path)
{
    return path + strspn(path, "/");
}

/* Returns the part of `path` beneath `dir`, which holds it; "" for `dir` itself. */
static const char *path_below(const char *path, const char *dir)
{
    return skip_slashes(path + (strcmp(dir, "/") == 0 ? 0 : strlen(dir)));
}

/* Returns the path within its file system, in the arena. NULL if it is not known, or without
 * memory. */
static const char *path_inside(const struct mount_table *table, const char *path,
                               struct arena *arena)
{
    const struct mount_entry *m = covering_mount(table, path);

    if (!m || m->root[0] != '/')
        return NULL;
    const char *rest = path_below(path, m->point);
    _cleanup_free_ char *text =
        strf("%s%s%s", strcmp(m->root, "/") == 0 ? "" : m->root, *rest ? "/" : "", rest);
    return text ? arena_strndup(arena, *text ? text : "/", strlen(*text ? text : "/")) : NULL;
}

/*
 * Opens the same directory through another mount of its file system, and checks that it is the
 * same. -1 if not.
 */
static int open_beneath(int root, const struct mount_entry *mount, const char *path,
                        const struct mount_table *table, struct arena *arena)
{
    const char *within = path_inside(table, path, arena);
    struct stat st, wanted;

    if (!within || !path_is_beneath(within, mount->root))
        return -1;
    const char *rest = path_below(within, mount->root);
    _cleanup_fd_ int fd = fd_open_directory(root, *rest ? rest : ".");
    if (fd < 0 || fstat(fd, &st) < 0 || lstat(path, &wanted) < 0 || st.st_ino != wanted.st_ino ||
        st.st_dev != wanted.st_dev)
        return -1;
    return steal_fd(&fd);
}

/* Opens all of them through one mount. False may leave some of them open. */
static bool open_from(const struct mount_entry *mount, const struct chain *chain, const char *path,
                      const struct mount_table *table, struct arena *arena,
                      struct merge_layers *out, int *directory)
{
    _cleanup_fd_ int root = open_tree(AT_FDCWD, mount->point, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

    if (root < 0)
        return false;
    *directory = open_beneath(root, mount, path, table, arena);
    for (out->count = 0; *directory >= 0 && out->count < chain->count; out->count++) {
        int fd = open_beneath(root, mount, chain->paths[out->count], table, arena);
        if (fd < 0)
            return false;
        out->fds[out->count] = fd;
    }
    return *directory >= 0;
}

/* Opens all of them through the first mount of that file system that shows them all. */
static bool open_together(const struct chain *chain, const char *path, dev_t dev,
                          struct arena *arena, struct merge_layers *out, int *directory,
                          struct err *err)
{
    struct mount_table table;

    if (mount_table_read(arena, &table, err) < 0)
        return false;
    for (size_t i = 0; i < table.count; i++) {
        const struct mount_entry *m = &table.list[i];
        if (m->major != major(dev) || m->minor != minor(dev))
            continue;
        if (open_from(m, chain, path, &table, arena, out, directory))
            return true;
        restack_layers_close(out);
        cleanup_fd(directory);
        *directory = -1;
    }
    return false;
}

/* ---- all of it ---- */

static int same_file_system(const struct chain *chain, const char *path, dev_t *dev,
                            struct err *err)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return err_sys(err, "%s", path);
    *dev = st.st_dev;
    for (size_t i = 0; i < chain->count; i++) {
        if (stat(chain->paths[i], &st) < 0)
            return err_sys(err, "%s", chain->paths[i]);
        if (st.st_dev != *dev)
            return err_set(err, ERR_UNSUPPORTED,
                           "the cache is on another file system than the layers, so they cannot be "
                           "linked: choose one on the file system of %s",
                           chain->paths[i]);
    }
    return 0;
}

int restack_layers_open(const struct chain *chain, const char *path, struct arena *arena,
                        struct merge_layers *out, int *directory, struct err *err)
{
    struct err why = ERR_INIT;
    dev_t dev = 0;

    *out = (struct merge_layers){.users = chain->users};
    *directory = -1;
    if (chain->count > sizeof(out->fds) / sizeof(*out->fds))
        return err_set(err, ERR_LIMIT, "more layers than an overlay can have");
    if (same_file_system(chain, path, &dev, err) < 0)
        return -1;
    if (open_together(chain, path, dev, arena, out, directory, &why))
        return 0;
    if (why.kind != ERR_NONE) {
        *err = why;
        return -1;
    }
    return err_set(err, ERR_UNSUPPORTED,
                   "no mount shows both the cache and the layers, so they cannot be linked");
}

void restack_layers_close(struct merge_layers *layers)
{
    for (size_t i = 0; i < layers->count; i++)
        cleanup_fd(&layers->fds[i]);
    layers->count = 0;
}

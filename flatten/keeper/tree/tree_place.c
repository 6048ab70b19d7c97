#include "flatten/keeper/tree/tree_place.h"

#include "base/files/dir_sync.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char inner_name[] = "tree"; /* of the tree, in the directory around it */

/* Returns true if the directory has an entry, or cannot be read. */
static bool has_entries(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    size_t count = 0;

    if (!list) {
        cleanup_fd(&fd);
        return true;
    }
    while (readdir(list))
        count++;
    closedir(list);
    return count > 2; /* "." and ".." */
}

static int refuse_taken(struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "exists and is not an empty directory: give a directory that is not there");
}

static int check_free(const struct tree_place *p, struct err *err)
{
    struct stat st;

    if (fstatat(p->parent, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : err_sys(err, "lstat");
    return S_ISDIR(st.st_mode) && !has_entries(p->parent, p->name) ? 0 : refuse_taken(err);
}

/* Splits the path, without the slashes at its end, into the directory above and the name. */
static int split_path(struct tree_place *p, const char *path, struct err *err)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/')
        len--;
    _cleanup_free_ char *clean = strndup(path, len);
    const char *name = NULL;
    _cleanup_free_ char *above = clean ? path_parent(clean, &name) : NULL;
    if (!above)
        return err_nomem(err);
    if (!path_component_valid(name, strlen(name)))
        return err_set(err, ERR_USAGE, "names no new directory: it must not end in '.' or '..'");
    if (!(p->name = strdup(name)))
        return err_nomem(err);
    p->parent = open(*above ? above : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return p->parent < 0 ? err_sys(err, "the directory that it is to be in") : 0;
}

int tree_place_make(struct tree_place *p, const char *path, struct err *err)
{
    if (split_path(p, path, err) < 0)
        return -1;
    unfinished_remove_beside(p->parent);
    if (check_free(p, err) < 0)
        return -1;
    p->around = unfinished_tree_make(p->parent, p->tmp, err);
    if (p->around < 0) {
        p->tmp[0] = '\0';
        return -1;
    }
    if (mkdirat(p->around, inner_name, 0700) < 0)
        return err_sys(err, "cannot make the new directory");
    p->tree = openat(p->around, inner_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return p->tree < 0 ? err_sys(err, "cannot open the new directory") : 0;
}

/*
 * Renames the tree. Without privileges that takes the right to write to the directory, whose mode
 * may forbid it: it gets its mode back afterwards.
 */
static int rename_tree(const struct tree_place *p)
{
    struct stat st;
    int rc = renameat(p->around, inner_name, p->parent, p->name);

    if (rc == 0 || errno != EACCES || fstat(p->tree, &st) < 0 || (st.st_mode & 0200) ||
        fchmod(p->tree, (st.st_mode & 07777) | 0700) < 0)
        return rc;
    rc = renameat(p->around, inner_name, p->parent, p->name);
    return fchmod(p->tree, st.st_mode & 07777) < 0 ? -1 : rc;
}

int tree_place_publish(struct tree_place *p, struct err *err)
{
    if (rename_tree(p) < 0) {
        if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
            return refuse_taken(err);
        return err_sys(err, "cannot rename the new directory");
    }
    return dir_sync(p->parent, ".", err);
}

void tree_place_clear(struct tree_place *p)
{
    if (p->tmp[0])
        unfinished_tree_remove(p->parent, p->tmp, p->around);
    cleanup_fd(&p->tree);
    cleanup_fd(&p->around);
    cleanup_fd(&p->parent);
    free(p->name);
    *p = (struct tree_place)TREE_PLACE_INIT;
}

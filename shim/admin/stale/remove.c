/* Removal of a directory by descriptors: nothing is followed, no other file system is entered. */
#include "shim/admin/stale/state.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH = 64, TRIES = 1000 };

struct removal {
    int top; /* deeper directories are moved here, so that few are open at once */
    unsigned moved;
    int failed; /* the first errno */
};

static void fail(struct removal *r)
{
    if (!r->failed)
        r->failed = errno;
}

static void remove_inside(struct removal *r, int fd, int depth);

static void remove_directory(struct removal *r, int parent, const char *name, int depth)
{
    char moved[32];

    if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
        return;
    if (errno != ENOTEMPTY && errno != EEXIST) {
        fail(r);
        return;
    }
    if (depth == DEPTH) {
        /* The name may be taken, if the tree was made to resist. */
        for (int i = 0; i < TRIES; i++) {
            snprintf(moved, sizeof(moved), ".deep-%u", r->moved++);
            if (renameat(parent, name, r->top, moved) == 0)
                return;
        }
        fail(r);
        return;
    }
    int fd = store_open(parent, name, O_RDONLY | O_DIRECTORY, true);
    if (fd < 0) {
        fail(r);
        return;
    }
    remove_inside(r, fd, depth + 1);
    if (unlinkat(parent, name, AT_REMOVEDIR) < 0)
        fail(r);
}

/* Closes `fd`. */
static void remove_inside(struct removal *r, int fd, int depth)
{
    DIR *dir = fdopendir(fd);
    const struct dirent *e;

    if (!dir) {
        fail(r);
        close(fd);
        return;
    }
    while ((e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            unlinkat(dirfd(dir), e->d_name, 0) == 0)
            continue;
        if (errno == EISDIR)
            remove_directory(r, dirfd(dir), e->d_name, depth);
        else if (errno != ENOENT)
            fail(r);
    }
    closedir(dir);
}

int store_remove_tree(int parent, const char *name, struct err *err)
{
    _cleanup_fd_ int top = store_open(parent, name, O_RDONLY | O_DIRECTORY, true);
    struct removal r = {.top = top};
    unsigned before;

    if (top < 0)
        return err_sys(err, "it cannot be opened");
    do {
        before = r.moved;
        int fd = store_open(top, ".", O_RDONLY | O_DIRECTORY, true);
        if (fd < 0)
            return err_sys(err, "it cannot be opened");
        remove_inside(&r, fd, 0);
    } while (r.moved != before && !r.failed);
    if (!r.failed && unlinkat(parent, name, AT_REMOVEDIR) == 0)
        return 0;
    if (r.failed)
        errno = r.failed;
    return err_sys(err, "a part of it is left as %s", name);
}

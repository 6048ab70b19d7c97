#include "base/files/tree_remove.h"

#include "base/cleanup.h"
#include "base/fdio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Removes depth first. A directory at the greatest depth is moved up to `top`, so that a few
 * descriptors are enough for any depth.
 */
struct removal {
    int top;
    const char *last; /* the name of what is removed last; or NULL */
    uint64_t moved;   /* directories, which are named by this number */
};

enum { MOST_DEPTH = 200 };

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A file system that is mounted there is not entered. */
static DIR *open_list(int at, const char *name)
{
    int fd = fd_open_within(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, RESOLVE_NO_XDEV);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);

    if (!list)
        cleanup_fd(&fd);
    return list;
}

/* Gives this user all access to a directory, which a move or a look into it needs. */
static void unlock_directory(int at, const char *name)
{
    struct stat st;

    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
        (st.st_mode & 0700) != 0700)
        (void)!fchmodat(at, name, 0700, 0);
}

/* Moves a directory to the top under a name that is free. */
static bool move_up(struct removal *r, int at, const char *name)
{
    char fresh[32];
    int rc;

    unlock_directory(at, name);
    do {
        snprintf(fresh, sizeof(fresh), "%llu", (unsigned long long)r->moved++);
        rc = renameat(at, name, r->top, fresh);
    } while (rc < 0 && (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR));
    return rc == 0;
}

static bool remove_entries(struct removal *r, DIR *list, unsigned depth);

/* Removes a directory with all that is in it, or moves it up. Returns true if it is gone. */
/* NOLINTNEXTLINE(misc-no-recursion): MOST_DEPTH bounds it */
static bool remove_directory(struct removal *r, int at, const char *name, unsigned depth)
{
    if (unlinkat(at, name, AT_REMOVEDIR) == 0)
        return true;
    if (depth == MOST_DEPTH)
        return move_up(r, at, name);
    unlock_directory(at, name);
    DIR *list = open_list(at, name);
    if (!list)
        return false;
    (void)!remove_entries(r, list, depth + 1);
    closedir(list);
    return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

/* Removes the entries of a directory. Returns true if one is gone. */
/* NOLINTNEXTLINE(misc-no-recursion): MOST_DEPTH bounds it */
static bool remove_entries(struct removal *r, DIR *list, unsigned depth)
{
    int dir = dirfd(list);
    bool removed = false;

    for (const struct dirent *e; (e = readdir(list));) {
        const char *name = e->d_name;
        if (is_dots(name) || (depth == 0 && r->last && strcmp(name, r->last) == 0))
            continue;
        if (unlinkat(dir, name, 0) == 0 ||
            (errno == EISDIR && remove_directory(r, dir, name, depth)))
            removed = true;
    }
    return removed;
}

/* Returns true if something was removed. */
static bool remove_round(struct removal *r)
{
    DIR *list = open_list(r->top, ".");
    bool removed = list && remove_entries(r, list, 0);

    if (list)
        closedir(list);
    return removed;
}

void tree_remove_content(int dir, const char *last)
{
    struct removal r = {.top = dir, .last = last};

    while (remove_round(&r))
        ;
    if (last)
        unlinkat(dir, last, 0);
}

void tree_remove(const char *path)
{
    _cleanup_fd_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (dir >= 0)
        tree_remove_content(dir, NULL);
    if (unlink(path) < 0)
        rmdir(path);
}

#include "flatten/keeper/files/tree_remove.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Directories within a directory are moved up to `top` before it is removed: two descriptors are
 * enough for any depth.
 */
struct removal {
    int top;
    const char *last; /* the name of what is removed last; or NULL */
    uint64_t moved;   /* directories, which are named by this number */
};

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static DIR *open_list(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
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

    unlock_directory(at, name);
    do
        snprintf(fresh, sizeof(fresh), "%llu", (unsigned long long)r->moved++);
    while (renameat(at, name, r->top, fresh) < 0 && (errno == ENOTEMPTY || errno == EEXIST));
    return faccessat(at, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

/* Removes a directory of the top. Returns true if it is gone. */
static bool remove_directory(struct removal *r, const char *name)
{
    unlock_directory(r->top, name);
    DIR *list = open_list(r->top, name);
    if (!list)
        return false;
    for (const struct dirent *e; (e = readdir(list));)
        if (!is_dots(e->d_name) && unlinkat(dirfd(list), e->d_name, 0) < 0 && errno == EISDIR)
            (void)!move_up(r, dirfd(list), e->d_name);
    closedir(list);
    return unlinkat(r->top, name, AT_REMOVEDIR) == 0;
}

/* Returns true if something was removed. */
static bool remove_round(struct removal *r)
{
    DIR *list = open_list(r->top, ".");
    bool removed = false;

    if (!list)
        return false;
    for (const struct dirent *e; (e = readdir(list));) {
        if (is_dots(e->d_name) || (r->last && strcmp(e->d_name, r->last) == 0))
            continue;
        if (unlinkat(r->top, e->d_name, 0) == 0 ||
            (errno == EISDIR && remove_directory(r, e->d_name)))
            removed = true;
    }
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

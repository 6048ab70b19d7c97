#include "shim/restack/restack_trust.h"

#include "shim/mount/mounts_of_all.h"
#include "shim/restack/build/restack_merge.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the root ---- */

static int open_directory(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool has_entry(int dirfd, const char *name)
{
    struct stat st;

    return dirfd >= 0 && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_same_entry(int a, int b, const char *name)
{
    struct stat x, y;

    return fstatat(a, name, &x, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(b, name, &y, AT_SYMLINK_NOFOLLOW) == 0 && x.st_mode == y.st_mode &&
           x.st_uid == y.st_uid && x.st_gid == y.st_gid && x.st_mtim.tv_sec == y.st_mtim.tv_sec &&
           x.st_mtim.tv_nsec == y.st_mtim.tv_nsec;
}

bool restack_shows(const char *point, const char *tree, const struct chain *chain)
{
    _cleanup_fd_ int shown = open_directory(point), upper = open_directory(chain->upper);
    _cleanup_fd_ int own = chain->own ? open_directory(chain->own) : -1;
    DIR *dir = opendir(tree);
    const struct dirent *e;
    size_t count = 0;
    bool same = dir && shown >= 0 && upper >= 0 && (!chain->own || own >= 0);

    while (same && (e = readdir(dir))) {
        const char *name = e->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        bool hidden = has_entry(upper, name) || has_entry(own, name);
        count++;
        same = hidden || is_same_entry(dirfd(dir), shown, name);
    }
    if (dir)
        closedir(dir);
    return same && count > 0;
}

/* ---- other mounts ---- */

struct sought {
    const struct mount_entry *mount;
    unsigned found, reached; /* the mount itself counts in both */
};

/* True if one path ends with the other: a monitoring container has the host at /host. */
static bool is_same_place(const char *a, const char *b)
{
    size_t x = strlen(a), y = strlen(b);

    return x < y ? strcmp(a, b + (y - x)) == 0 : strcmp(a + (x - y), b) == 0;
}

/* True if an unmount of `m` unmounts the other, too: a peer of a shared mount, or its slave. */
static bool is_reached(const struct mount_entry *m, const struct mount_entry *other)
{
    return m->id == other->id ||
           (m->shared && (other->shared == m->shared || other->slave == m->shared) &&
            is_same_place(m->point, other->point));
}

static void count_mounts(void *context, const struct mount_table *table)
{
    struct sought *s = context;

    for (size_t i = 0; i < table->count; i++) {
        const struct mount_entry *e = &table->list[i];
        if (e->major != s->mount->major || e->minor != s->mount->minor || !e->super)
            continue;
        s->found++;
        s->reached += is_reached(s->mount, e);
    }
}

bool restack_is_elsewhere(const struct mount_entry *mount)
{
    struct sought s = {.mount = mount};
    struct err ignored;

    return mounts_of_all(count_mounts, &s, &ignored) < 0 || s.found != s.reached;
}

/* ---- the upper directory ---- */

static int count_directory(void *context, const char *path, struct err *err)
{
    enum { FEW = 64 };
    int *count = context;

    (void)path;
    return ++*count > FEW ? err_set(err, ERR_LIMIT, "many entries") : 0;
}

static int count_file(void *context, const char *path, const char *name, size_t layer,
                      struct err *err)
{
    (void)name;
    (void)layer;
    return count_directory(context, path, err);
}

static int leave_directory(void *context, const char *path, size_t layer, struct err *err)
{
    (void)context;
    (void)path;
    (void)layer;
    (void)err;
    return 0;
}

bool restack_is_fresh(const struct chain *chain)
{
    static const struct merge_sink sink = {count_directory, count_file, leave_directory};
    _cleanup_fd_ int fd = open_directory(chain->upper);
    const struct merge_layers upper = {.fds = {fd}, .count = 1, .users = chain->users};
    struct merge_counts counts;
    struct err ignored;
    int count = 0;

    return fd >= 0 && restack_merge(&upper, &sink, &count, &counts, &ignored) == 0;
}

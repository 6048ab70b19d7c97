#include "shim/gather/security/host_places.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/gather/targets.h"
#include "shim/host/trust.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- /dev ---- */

static int find_dev_link(const struct spec *spec, int bundle, struct arena *arena,
                         struct host_places *out, struct err *err)
{
    _cleanup_fd_ int root = targets_root(spec, bundle);
    char target[PATH_MAX];
    ssize_t len = root < 0 ? -1 : readlinkat(root, "dev", target, sizeof(target));

    if (len < 0)
        return 0;
    out->dev_link = arena_strndup(arena, target, (size_t)len);
    return out->dev_link ? 0 : err_nomem(err);
}

/* ---- cgroups ---- */

static const char hierarchies[] = "/sys/fs/cgroup";

enum { MOST_DEPTH = 32, LIST_BYTES = 64 * 1024 };

/* True if the list of processes has one, or cannot be read: that of a threaded cgroup cannot. */
static bool has_processes(int cgroup)
{
    char first;
    _cleanup_fd_ int fd = openat(cgroup, "cgroup.procs", O_RDONLY | O_CLOEXEC);

    return fd >= 0 && read(fd, &first, 1) != 0;
}

/* Closes `cgroup`. A cgroup without processes may have others below, which get its limits, too. */
static bool is_used(int cgroup, int depth)
{
    DIR *dir = fdopendir(cgroup);
    bool used = !dir || depth == MOST_DEPTH || has_processes(cgroup);

    if (!dir)
        close(cgroup);
    for (const struct dirent *e; dir && !used && (e = readdir(dir));) {
        if (e->d_type != DT_DIR || e->d_name[0] == '.')
            continue;
        int below = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        used = below >= 0 && is_used(below, depth + 1);
    }
    if (dir)
        closedir(dir);
    return used;
}

/* A directory where a hierarchy is mounted elsewhere may have files that only look like cgroups. */
static bool is_hierarchy(int dir)
{
    struct statfs fs;

    return fstatfs(dir, &fs) == 0 &&
           (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC);
}

static bool is_used_at(int hierarchy, const char *path)
{
    _cleanup_free_ char *beneath = is_hierarchy(hierarchy) ? strf("./%s", path) : NULL;
    int cgroup = beneath ? openat(hierarchy, beneath, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    return cgroup >= 0 && is_used(cgroup, 0);
}

/* Looks in all hierarchies: the one of cgroup v2, or those of the controllers of v1. */
static bool is_used_anywhere(const char *path)
{
    _cleanup_fd_ int top = open(hierarchies, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (top < 0 || is_hierarchy(top))
        return top >= 0 && is_used_at(top, path);
    DIR *dir = fdopendir(top);
    bool used = false;
    if (!dir)
        return false;
    top = -1;
    for (const struct dirent *e; !used && (e = readdir(dir));) {
        _cleanup_fd_ int hierarchy =
            e->d_name[0] == '.' ? -1
                                : openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        used = hierarchy >= 0 && is_used_at(hierarchy, path);
    }
    closedir(dir);
    return used;
}

/* runc takes a path that is not absolute for one below its own cgroup, crun for one of the root. */
static int is_used_below_own(const char *path, bool *used, struct err *err)
{
    _cleanup_buf_ struct buf own = BUF_INIT;
    struct err ignored;

    if (file_read(AT_FDCWD, "/proc/self/cgroup", LIST_BYTES, &own, &ignored) < 0 || !own.data)
        return 0;
    for (char *rest = own.data, *line; !*used && (line = strsep(&rest, "\n"));) {
        const char *colon = strchr(line, ':'), *at = colon ? strchr(colon + 1, ':') : NULL;
        _cleanup_free_ char *whole = at ? strf("%s/%s", at + 1, path) : NULL;
        if (at && !whole)
            return err_nomem(err);
        *used = whole && is_used_anywhere(whole);
    }
    return 0;
}

static int find_cgroup(const struct spec *spec, struct host_places *out, struct err *err)
{
    const char *path = json_text(json_path(spec->root, "linux", "cgroupsPath", NULL));

    if (!path || trust_rootless() || path_has_parents(path) ||
        (path[0] != '/' && strchr(path, ':')))
        return 0;
    bool used = is_used_anywhere(path);
    if (!used && path[0] != '/' && is_used_below_own(path, &used, err) < 0)
        return -1;
    out->cgroup = used ? path : NULL;
    return 0;
}

int host_places_gather(const struct spec *spec, int bundle, struct arena *arena,
                       struct host_places *out, struct err *err)
{
    *out = (struct host_places){0};
    return find_dev_link(spec, bundle, arena, out, err) < 0 ? -1 : find_cgroup(spec, out, err);
}

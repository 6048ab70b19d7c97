#include "shim/gather/security/host_places.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/gather/targets.h"
#include "shim/host/trust.h"
#include "shim/oci/device.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- /dev ---- */

static int find_dev_link(int root, struct arena *arena, struct host_places *out, struct err *err)
{
    char target[PATH_MAX];
    ssize_t len = root < 0 ? -1 : readlinkat(root, "dev", target, sizeof(target));

    if (len < 0)
        return 0;
    out->dev_link = arena_strndup(arena, target, (size_t)len);
    return out->dev_link ? 0 : err_nomem(err);
}

/* ---- nodes ---- */

/* Finds where a path leads. *leads is false for one that is none: it leaves the root by "..". */
static int find_lead(const struct targets *mounts, int root, const char *path, struct arena *arena,
                     struct target *at, bool *leads, struct err *err)
{
    *leads = targets_lead(mounts, root, path, arena, at, err) == 0;
    return *leads || err->kind == ERR_FORMAT ? 0 : -1;
}

/* True if the container's root shows the node in its own /dev, where nobody else is yet. */
static int is_own_node(const struct targets *mounts, int root, const char *path,
                       struct arena *arena, bool *own, struct err *err)
{
    _cleanup_buf_ struct buf clean = BUF_INIT;
    struct target at;

    if (find_lead(mounts, root, path, arena, &at, own, err) < 0)
        return -1;
    if (!*own)
        return 0;
    buf_putc(&clean, '/');
    if (path_clean(path, strlen(path), &clean, err) < 0)
        return -1;
    *own = strcmp(at.path, clean.data) == 0 && !at.foreign && !at.covers;
    return 0;
}

/*
 * runc (needsSetupDev) and crun make no nodes at all where config.json binds something on /dev.
 * Each makes them for some other spelling of it.
 */
static bool binds_dev(const struct spec *spec)
{
    for (size_t i = 0; i < spec->mount_count; i++) {
        const char *written = json_text(json_get(spec->list[i].entry, "destination"));
        if (spec->list[i].bind && written && strcmp(written, "/dev") == 0)
            return true;
    }
    return false;
}

static int find_node(const struct spec *spec, int root, const struct targets *mounts,
                     struct arena *arena, struct host_places *out, struct err *err)
{
    const struct json *devices = device_nodes(spec);
    bool own;

    if (binds_dev(spec))
        return 0;
    if (is_own_node(mounts, root, "/dev/null", arena, &own, err) < 0)
        return -1;
    out->node = own ? NULL : "/dev/null";
    for (size_t i = 0; !out->node && i < json_count(devices); i++) {
        const char *path = json_text(json_get(json_at(devices, i), "path"));
        if (!path || *path != '/')
            continue;
        if (is_own_node(mounts, root, path, arena, &own, err) < 0)
            return -1;
        out->node = own ? NULL : path;
    }
    return 0;
}

/* ---- mount points ---- */

static void find_loose(const struct targets *mounts, struct host_places *out)
{
    for (size_t i = 0; i < mounts->count; i++)
        out->loose = out->loose || mounts->list[i].foreign;
}

/* ---- the working directory ---- */

/* True if the bind's source has the path, without a link that leads out of it. */
static bool is_in_source(const struct spec_mount *mount, int bundle, const char *rest)
{
    _cleanup_fd_ int source =
        mount->source ? openat(bundle, mount->source, O_PATH | O_CLOEXEC) : -1;
    _cleanup_fd_ int fd = source < 0 ? -1
                                     : fd_open_within(source, *rest ? rest : ".", O_PATH,
                                                      RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);

    return source < 0 || fd >= 0;
}

static bool is_mount_point(const struct targets *mounts, const char *path)
{
    for (size_t i = 0; i < mounts->count; i++)
        if (strcmp(mounts->list[i].path, path) == 0)
            return true;
    return false;
}

/*
 * True for a path in proc, or in the tmpfs on /dev, where the runtimes make links into proc: these
 * lead back to the root, and so into any mount.
 */
static bool leads_back(const struct spec *spec, const struct targets *mounts,
                       const struct target *at)
{
    const struct spec_mount *mount = at->within == TARGET_ROOT ? NULL : &spec->list[at->within];

    if (!mount || !mount->type || mount->bind || is_mount_point(mounts, at->path))
        return false;
    return strcmp(mount->type, "proc") == 0 ||
           (strcmp(mount->type, "tmpfs") == 0 && strcmp(mount->destination, "/dev") == 0);
}

static int find_cwd(const struct spec *spec, int bundle, int root, const struct targets *mounts,
                    struct arena *arena, struct host_places *out, struct err *err)
{
    const char *path = json_text(json_get(spec->process, "cwd"));
    struct target at;
    bool leads;

    if (!path || !*path)
        return 0;
    if (find_lead(mounts, root, path, arena, &at, &leads, err) < 0)
        return -1;
    if (!leads || leads_back(spec, mounts, &at)) {
        out->cwd = path;
        return 0;
    }
    if (!at.foreign || at.covers)
        return 0;
    out->loose = true;
    if (at.within == TARGET_ROOT || !spec->list[at.within].bind)
        return 0;
    const char *point = mounts->list[at.within].path;
    const char *rest = at.path + (strcmp(point, "/") == 0 ? 0 : strlen(point));
    if (!is_in_source(&spec->list[at.within], bundle, rest + strspn(rest, "/"))) {
        out->cwd = path;
        out->cwd_mount = &spec->list[at.within];
    }
    return 0;
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
    DIR *dir = opendir(hierarchies);
    bool used = false;
    if (!dir)
        return false;
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

/* Appends where systemd has a slice: "a-b.slice" is in "a.slice". */
static void put_slice(const char *slice, size_t len, struct buf *out)
{
    static const char end[] = ".slice";
    size_t name = len > strlen(end) ? len - strlen(end) : 0;

    for (size_t i = 0; i < name; i++)
        if (slice[i] == '-')
            buf_printf(out, "/%.*s%s", (int)i, slice, end);
    buf_printf(out, "/%.*s", (int)len, slice);
}

/* The scope of SLICE:PREFIX:NAME, if systemd makes the cgroup: runc joins one that exists. */
static int is_used_scope(const char *path, bool *used, struct err *err)
{
    const char *prefix = strchr(path, ':'), *name = prefix ? strchr(prefix + 1, ':') : NULL;
    _cleanup_buf_ struct buf scope = BUF_INIT;

    if (!name)
        return 0;
    if (prefix == path)
        buf_puts(&scope, "/system.slice");
    else
        put_slice(path, (size_t)(prefix - path), &scope);
    buf_printf(&scope, "/%.*s%s%s.scope", (int)(name - prefix - 1), prefix + 1,
               name == prefix + 1 ? "" : "-", name + 1);
    if (buf_check(&scope, err) < 0)
        return -1;
    *used = is_used_anywhere(scope.data);
    return 0;
}

static int find_cgroup(const struct spec *spec, struct host_places *out, struct err *err)
{
    const char *path = json_text(json_path(spec->root, "linux", "cgroupsPath", NULL));

    if (!path || !*path || trust_rootless() || path_has_parents(path))
        return 0;
    bool used = is_used_anywhere(path);
    if (!used && path[0] != '/' &&
        (is_used_below_own(path, &used, err) < 0 || (!used && is_used_scope(path, &used, err) < 0)))
        return -1;
    out->cgroup = used ? path : NULL;
    return 0;
}

int host_places_gather(const struct spec *spec, int bundle, struct arena *arena,
                       struct host_places *out, struct err *err)
{
    _cleanup_fd_ int root = targets_root(spec, bundle);
    struct targets mounts;

    *out = (struct host_places){0};
    if (find_dev_link(root, arena, out, err) < 0 || find_cgroup(spec, out, err) < 0 ||
        targets_find(spec, root, arena, &mounts, err) < 0)
        return -1;
    find_loose(&mounts, out);
    return find_node(spec, root, &mounts, arena, out, err) < 0 ||
                   find_cwd(spec, bundle, root, &mounts, arena, out, err) < 0
               ? -1
               : 0;
}

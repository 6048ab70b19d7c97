/* linux.maskedPaths and linux.readonlyPaths, in the mounts as the container will have them. */
#include "base/fdio.h"
#include "base/path.h"
#include "shim/apply/nested_parts.h"
#include "shim/gather/bind_name.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/vfs.h>

enum { MOST_PATHS = 1024 };

/* Returns true for a bind of a file system of the kernel, such as the host's /sys. */
static bool shows_kernel(const struct nested *n, const struct spec_mount *mount)
{
    _cleanup_fd_ int fd = bind_open(n->options->bundle, mount->source ? mount->source : "");
    struct statfs fs;

    return fd >= 0 && fstatfs(fd, &fs) == 0 &&
           (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
            fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC);
}

/* Returns true for a mount in which users can put links before the container starts. */
static bool is_users(const struct nested *n, const struct spec_mount *mount)
{
    static const char *const kernel[] = {"proc",    "sysfs",  "tmpfs",  "ramfs",
                                         "cgroup2", "cgroup", "mqueue", "devpts"};

    for (size_t i = 0; !mount->bind && mount->type && i < sizeof(kernel) / sizeof(*kernel); i++)
        if (strcmp(mount->type, kernel[i]) == 0)
            return false;
    return !mount->bind || !shows_kernel(n, mount);
}

bool nested_is_below_users(const struct nested *n, const char *path)
{
    for (size_t i = 0; i < n->targets.count; i++)
        if (strcmp(n->targets.list[i].path, path) != 0 &&
            path_is_beneath(path, n->targets.list[i].path) && is_users(n, &n->spec->list[i]))
            return true;
    return false;
}

/* Returns true if the path, of which `clean` is the clean form, leads where no user can change it.
 */
static bool is_settled(const struct nested *n, const struct target *at, const char *clean)
{
    if (at->within == TARGET_ROOT)
        return !at->foreign && !n->options->open_root;
    return strcmp(at->path, clean) == 0 && !nested_is_below_users(n, at->path);
}

/*
 * The runtime finds the path in the container, as root, and mounts there what it found by the same
 * path before, or an empty file. Users must not be able to lead it elsewhere meanwhile.
 */
static int check_path(struct nested *n, const char *key, const struct json *value, int root)
{
    const char *path = json_text(value);
    _cleanup_buf_ struct buf clean = BUF_INIT;
    struct target at;

    if (!path || path[0] != '/' || path_has_parents(path))
        return err_set(n->err, ERR_POLICY, "%s: '%.200s' is not a clean absolute path", key,
                       path ? path : "");
    buf_putc(&clean, '/');
    if (path_clean(path, strlen(path), &clean, n->err) < 0)
        return -1;
    _cleanup_fd_ int fd = fd_open_within(root, path, O_PATH, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
    if (fd < 0 && errno == ELOOP)
        return err_set(n->err, ERR_POLICY,
                       "%s: a symbolic link of the image is on the way to %.200s", key, path);
    if (targets_lead(&n->targets, root, path, n->arena, &at, n->err) < 0) {
        if (n->err->kind == ERR_FORMAT)
            n->err->kind = ERR_POLICY;
        return err_wrap(n->err, "%s", key);
    }
    if (is_settled(n, &at, clean.data))
        return 0;
    return err_set(n->err, ERR_POLICY,
                   "%s: users can change what is above %.200s, and lead it elsewhere while the "
                   "container is made: leave it out",
                   key, path);
}

int nested_check_covers(struct nested *n, int root)
{
    static const char *const keys[][2] = {{"linux.maskedPaths", "maskedPaths"},
                                          {"linux.readonlyPaths", "readonlyPaths"}};

    for (size_t k = 0; n->options->judged && k < sizeof(keys) / sizeof(*keys); k++) {
        const struct json *list = json_path(n->spec->root, "linux", keys[k][1], NULL);
        if (json_count(list) > MOST_PATHS)
            return err_set(n->err, ERR_POLICY, "%s: more than %d paths", keys[k][0], MOST_PATHS);
        for (size_t i = 0; i < json_count(list); i++)
            if (check_path(n, keys[k][0], json_at(list, i), root) < 0)
                return -1;
    }
    return 0;
}

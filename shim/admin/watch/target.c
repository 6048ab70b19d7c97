#include "shim/admin/watch/target.h"

#include "base/fdio.h"
#include "shim/admin/watch/place.h"
#include "shim/mount/mount_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

enum { STATUS_BYTES = 64 * 1024, TABLE_BYTES = 32 * 1024 * 1024 };

const struct container_found *target_choose(const struct container_list *list, const char *word,
                                            struct err *err)
{
    const struct container_found *found = NULL;

    for (size_t i = 0; i < list->count; i++) {
        const struct container_found *c = &list->list[i];
        if (strcmp(c->name, word) == 0)
            return c;
        if (strncmp(c->id, word, strlen(word)) != 0)
            continue;
        if (found) {
            err_set(err, ERR_USAGE, "'%s' is the start of the IDs of several containers", word);
            return NULL;
        }
        found = c;
    }
    if (!found)
        err_set(err, ERR_USAGE, "no container '%s' was found; see --store in flatbed(8)", word);
    return found;
}

/* Returns true for a root that is mounted from the directories of the container. */
static bool is_root_of(const struct mount_entry *root, const struct container_found *c)
{
    if (!root || !root->super)
        return false;
    if (c->super)
        return strcmp(c->super, root->super) == 0;
    _cleanup_free_ char *upper = strf("/%s/diff", c->layer ? c->layer : "");
    const char *at = upper && c->layer ? strstr(root->super, upper) : NULL;
    /* Beneath a store, layers are named by random digits: no other option has this one. */
    return at && strstr(root->super, "upperdir=") &&
           (at[strlen(upper)] == ',' || at[strlen(upper)] == '\0');
}

static bool has_root(int proc, const char *pid, const struct container_found *c)
{
    char path[64];
    _cleanup_arena_ struct arena arena = {.limit = TABLE_BYTES};
    struct mount_table table;
    struct err ignored;

    snprintf(path, sizeof(path), "%.20s/mountinfo", pid);
    return mount_table_read_at(proc, path, &arena, &table, &ignored) == 0 &&
           is_root_of(mount_table_overlay_at(&table, "/"), c);
}

/* Returns true for the first process of a pid namespace: the last number in its line "NSpid:". */
static bool is_first(int proc, const char *pid)
{
    char path[64];
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    snprintf(path, sizeof(path), "%.20s/status", pid);
    if (file_read(proc, path, STATUS_BYTES, &text, &ignored) < 0 || !text.data)
        return false;
    char *line = strstr(text.data, "\nNSpid:");
    if (!line)
        return false;
    line[1 + strcspn(line + 1, "\n")] = '\0';
    const char *last = strrchr(line, '\t');
    return last && strcmp(last, "\t1") == 0;
}

/* Returns a process of the container: the first one of its namespace, or that with the least pid.
 */
static pid_t find_process(const struct container_found *c, struct err *err)
{
    DIR *dir = opendir("/proc");
    const struct dirent *e;
    pid_t found = 0;

    if (!dir)
        return err_sys(err, "/proc");
    while ((e = readdir(dir))) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid <= 0 || !has_root(dirfd(dir), e->d_name, c))
            continue;
        bool first = is_first(dirfd(dir), e->d_name);
        if (first || !found || pid < found)
            found = pid;
        if (first)
            break;
    }
    closedir(dir);
    return found;
}

/* Writes a link of /proc; the path is "" for the root of a mount namespace. */
static bool read_prefix(const char *link, char out[PATH_MAX])
{
    ssize_t len = readlink(link, out, PATH_MAX - 1);

    out[len > 0 ? len : 0] = '\0';
    if (strcmp(out, "/") == 0)
        out[0] = '\0';
    return len > 0;
}

const char *target_within(const struct target *target, const char *path)
{
    const char *within = place_within(path, target->prefix);
    char link[64], now[PATH_MAX];

    if (within)
        return within;
    /* With the mount namespace of an ended container its mounts come apart: paths are shorter. */
    snprintf(link, sizeof(link), "/proc/self/fd/%d", target->root);
    return read_prefix(link, now) ? place_within(path, now) : NULL;
}

/* Sets *number to the inode of a namespace of a thread, and *dev as the kernel has it. */
static bool namespace_of(pid_t thread, const char *kind, uint64_t *number, uint64_t *dev)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)thread, kind);
    if (stat(path, &st) < 0)
        return false;
    *number = st.st_ino;
    *dev = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
    return true;
}

bool target_has(const struct target *target, pid_t thread)
{
    uint64_t number, dev;

    return namespace_of(thread, "mnt", &number, &dev) && number == target->mounts;
}

/* Reads the namespaces, and how paths of the container begin in /proc. */
static int read_process(struct target *out, struct err *err)
{
    uint64_t own, dev, mounts_dev;
    char path[64];

    if (!namespace_of(out->pid, "mnt", &out->mounts, &mounts_dev) ||
        !namespace_of(out->pid, "pid", &out->filter.inode, &out->filter.dev) ||
        !namespace_of(getpid(), "pid", &own, &dev))
        return err_sys(err, "namespaces of process %d", (int)out->pid);
    out->filter.by_namespace = out->filter.inode != own;
    out->filter.not_pid = (uint32_t)getpid();
    snprintf(path, sizeof(path), "/proc/%d/root", (int)out->pid);
    out->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (out->root < 0 || !read_prefix(path, out->prefix))
        return err_sys(err, "%s", path);
    return 0;
}

int target_open(const struct container_found *container, struct target *out, struct err *err)
{
    pid_t pid = find_process(container, err);

    *out = (struct target)TARGET_INIT;
    if (pid < 0)
        return -1;
    if (pid == 0)
        return err_set(err, ERR_USAGE, "container '%s' has no process whose root is its overlay",
                       container->name);
    out->pid = pid;
    out->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (out->pidfd < 0)
        return err_sys(err, "process %d", (int)pid);
    return read_process(out, err);
}

void target_close(struct target *target)
{
    cleanup_fd(&target->pidfd);
    cleanup_fd(&target->root);
    *target = (struct target)TARGET_INIT;
}

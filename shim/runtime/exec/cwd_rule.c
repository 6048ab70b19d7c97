#include "shim/runtime/exec/cwd_rule.h"

#include "base/fdio.h"
#include "shim/host/idmap.h"
#include "shim/host/kernel.h"
#include "shim/oci/launch_mark.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MAP_BYTES = 64 * 1024 };

/* ---- keeping it ---- */

int cwd_rule_keep(const struct user_ids *user, bool open_root, struct json_doc *state,
                  struct err *err)
{
    struct json *rules = json_get(json_root(state), "rules");
    struct json *rule = json_object(state), *ids = user ? json_object(state) : NULL;

    if (!rules)
        rules = json_set(state, json_root(state), "rules", json_object(state));
    json_remove(rules, "permissive");
    if (open_root)
        json_set(state, rule, "open_root", json_bool(state, true));
    if (ids) {
        json_set(state, ids, "uid", json_number(state, user->uid));
        json_set(state, ids, "gid", json_number(state, user->gid));
        for (size_t i = 0; i < user->group_count; i++)
            json_append(state, json_list(state, ids, "groups"),
                        json_number(state, user->groups[i]));
        json_set(state, rule, "user", ids);
    }
    json_set(state, rules, "cwd", rule);
    return json_failed(state) ? err_nomem(err) : 0;
}

/* ---- the container ---- */

/* A container: /proc/PID of its first process, and its root. */
struct container {
    int proc, root;
    bool open_root;
};

#define CONTAINER_INIT                                                                             \
    {                                                                                              \
        -1, -1, false                                                                              \
    }

static void container_close(struct container *c)
{
    cleanup_fd(&c->proc);
    cleanup_fd(&c->root);
}

#define _cleanup_container_ _cleanup_(container_close)

static int container_open(const struct call *call, const struct json *rule, struct container *out,
                          struct err *err)
{
    const struct json *open_root = json_get(rule, "open_root");
    pid_t pid = container_process(call->root, call->id, err);
    _cleanup_free_ char *proc = pid < 0 ? NULL : strf("/proc/%d", (int)pid);

    if (pid < 0)
        return -1;
    if (!proc)
        return err_nomem(err);
    out->open_root = open_root && !(json_is(open_root, JSON_BOOL) && !open_root->boolean);
    out->proc = open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC);
    out->root = out->proc < 0 ? -1 : openat(out->proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return out->root < 0 ? err_sys(err, "the root of the container '%.100s'", call->id) : 0;
}

/* Returns true for a directory of the image: of it only the image closes anything to its user. */
static bool is_of_image(const struct container *c, int directory)
{
    int of_root, of_directory;

    return !c->open_root && kernel_mount_id(c->root, &of_root) == 0 &&
           kernel_mount_id(directory, &of_directory) == 0 && of_root == of_directory;
}

static int refuse(const char *path, struct err *err)
{
    return err_set(err, ERR_POLICY,
                   "process.cwd: the container's user may not enter %.200s in a mount "
                   "(binds.require_access): choose another working directory",
                   path);
}

/* ---- an exec ---- */

static int map_id(const struct container *c, const char *name, uint64_t inside, uint32_t *out,
                  struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct id_map map = {0};

    if (file_read(c->proc, name, MAP_BYTES, &text, err) < 0 ||
        id_map_parse(text.data ? text.data : "", &map, err) < 0)
        return -1;
    if (inside > UINT32_MAX || !id_map_outside(&map, (uint32_t)inside, out))
        return err_set(err, ERR_POLICY, "process.user: the container has no id %llu",
                       (unsigned long long)inside);
    return 0;
}

/* Finds who the process will be on the host. The groups are in the arena. */
static int find_user(const struct container *c, const struct spec *process, struct arena *arena,
                     struct user_ids *out, struct err *err)
{
    const struct json *list = json_path(process->process, "user", "additionalGids", NULL);
    gid_t *groups = arena_alloc(arena, (json_count(list) + 1) * sizeof(*groups));
    uint64_t gid;

    *out = (struct user_ids){.groups = groups, .group_count = json_count(list)};
    if (!groups)
        return err_nomem(err);
    if (map_id(c, "uid_map", process->uid, &out->uid, err) < 0 ||
        map_id(c, "gid_map", process->gid, &out->gid, err) < 0)
        return -1;
    for (size_t i = 0; i < json_count(list); i++)
        if (!json_u64(json_at(list, i), &gid))
            return err_set(err, ERR_FORMAT, "process.user.additionalGids: not a group id");
        else if (map_id(c, "gid_map", gid, &groups[i], err) < 0)
            return -1;
    return 0;
}

/* The runtime finds the descriptor in /proc of the container, which nobody may have replaced. */
static int check_proc(const struct container *c, struct err *err)
{
    _cleanup_fd_ int fd = openat(c->root, "proc", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct statfs fs;

    if (fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
        return 0;
    return err_set(err, ERR_POLICY,
                   "process.cwd: the container has no /proc, without which its user cannot be kept "
                   "from closed directories: use \"/\"");
}

static int open_as(const struct container *c, const struct user_ids *user, const char *path,
                   struct err *err)
{
    static const uint64_t within = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    _cleanup_fd_ int fd = as_user_enter(user, c->root, path, within);

    if (fd >= 0)
        return steal_fd(&fd);
    if (errno != EACCES && errno != EPERM)
        return err_sys(err, "process.cwd: %.200s", path);
    fd = fd_open_within(c->root, path, O_PATH | O_DIRECTORY, within);
    return fd >= 0 && is_of_image(c, fd) ? steal_fd(&fd) : refuse(path, err);
}

int cwd_rule_open(const struct json *rules, const struct call *call, const struct spec *process,
                  int *fd, struct err *err)
{
    _cleanup_container_ struct container c = CONTAINER_INIT;
    _cleanup_arena_ struct arena arena = {0};
    const struct json *rule = json_get(rules, "cwd");
    const struct json *cwd = json_get(process->process, "cwd");
    const char *path = json_text(cwd);
    struct user_ids user;

    *fd = -1;
    if (!rule || process->uid == 0 || !json_is(cwd, JSON_STRING))
        return 0;
    if (!path)
        return err_set(err, ERR_FORMAT, "process.cwd: a path with a NUL");
    if (!*path || strcmp(path, "/") == 0)
        return 0;
    if (container_open(call, rule, &c, err) < 0 || find_user(&c, process, &arena, &user, err) < 0 ||
        check_proc(&c, err) < 0)
        return -1;
    *fd = open_as(&c, &user, path, err);
    return *fd < 0 ? -1 : 0;
}

/* ---- a start ---- */

/* Reads the user that create kept. The groups are in the arena. */
static int read_user(const struct json *kept, struct arena *arena, struct user_ids *out,
                     struct err *err)
{
    const struct json *list = json_get(kept, "groups");
    gid_t *groups = arena_alloc(arena, (json_count(list) + 1) * sizeof(*groups));
    uint64_t uid, gid, group = 0;
    bool whole = json_u64(json_get(kept, "uid"), &uid) && json_u64(json_get(kept, "gid"), &gid);

    if (!groups)
        return err_nomem(err);
    for (size_t i = 0; i < json_count(list); i++) {
        whole = whole && json_u64(json_at(list, i), &group);
        groups[i] = (gid_t)group;
    }
    if (!whole)
        return err_set(err, ERR_FORMAT, "the rules that were kept are damaged");
    *out = (struct user_ids){(uid_t)uid, (gid_t)gid, groups, json_count(list)};
    return 0;
}

/* Returns true if the user comes to the open directory by its path. */
static bool reaches(const struct container *c, const struct user_ids *user, int directory,
                    const char *path)
{
    _cleanup_fd_ int fd = as_user_enter(user, c->root, path, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
    struct stat his, its;

    return fd >= 0 && fstat(fd, &his) == 0 && fstat(directory, &its) == 0 &&
           his.st_dev == its.st_dev && his.st_ino == its.st_ino;
}

int cwd_rule_check(const struct json *rules, const struct call *call, struct err *err)
{
    _cleanup_container_ struct container c = CONTAINER_INIT;
    _cleanup_arena_ struct arena arena = {0};
    const struct json *rule = json_get(rules, "cwd"), *kept = json_get(rule, "user");
    char path[PATH_MAX] = "";
    struct user_ids user;

    if (!kept)
        return 0;
    if (read_user(kept, &arena, &user, err) < 0 || container_open(call, rule, &c, err) < 0)
        return -1;
    _cleanup_fd_ int directory = openat(c.proc, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || readlinkat(c.proc, "cwd", path, sizeof(path) - 1) < 0)
        return err_sys(err, "the working directory of the container '%.100s'", call->id);
    if (is_of_image(&c, directory) || reaches(&c, &user, directory, path))
        return 0;
    return refuse(path, err);
}

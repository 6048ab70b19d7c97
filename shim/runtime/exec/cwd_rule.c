#include "shim/runtime/exec/cwd_rule.h"

#include "base/fdio.h"
#include "shim/host/kernel.h"
#include "shim/host/mount_namespace.h"
#include "shim/runtime/exec/container.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- keeping it ---- */

static struct json *user_json(struct json_doc *doc, const struct user_ids *user)
{
    struct json *ids = json_object(doc);

    json_set(doc, ids, "uid", json_number(doc, user->uid));
    json_set(doc, ids, "gid", json_number(doc, user->gid));
    for (size_t i = 0; i < user->group_count; i++)
        json_append(doc, json_list(doc, ids, "groups"), json_number(doc, user->groups[i]));
    return ids;
}

static void set_if(struct json_doc *doc, struct json *rule, const char *key, bool value)
{
    if (value)
        json_set(doc, rule, key, json_bool(doc, true));
}

int cwd_rule_keep(const struct spec *spec, const struct user_ids *user, bool open_root,
                  struct json_doc *state, struct err *err)
{
    struct json *rules = json_get(json_root(state), "rules"), *rule = json_object(state);

    if (!rules)
        rules = json_set(state, json_root(state), "rules", json_object(state));
    json_remove(rules, "permissive");
    set_if(state, rule, "open_root", open_root);
    set_if(state, rule, "own_ids", spec->uid_map.count || spec->joins_user_namespace);
    if (user)
        json_set(state, rule, "user", user_json(state, user));
    json_set(state, rules, "cwd", rule);
    return json_failed(state) ? err_nomem(err) : 0;
}

/* A damaged rule forbids. */
static bool is_set(const struct json *rule, const char *key)
{
    const struct json *value = json_get(rule, key);

    return value && !(json_is(value, JSON_BOOL) && !value->boolean);
}

/* ---- the container ---- */

/* Returns true for a directory of the image: of it only the image closes anything to its user. */
static bool is_of_image(const struct container *c, const struct json *rule, int directory)
{
    int of_root, of_directory;

    return !is_set(rule, "open_root") && kernel_mount_id(c->root, &of_root) == 0 &&
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

/* Sets who the process will be, on the host as in the container. The groups are in the arena. */
static int find_user(const struct spec *process, struct arena *arena, struct user_ids *out,
                     struct err *err)
{
    const struct json *list = json_path(process->process, "user", "additionalGids", NULL);
    gid_t *groups = arena_alloc(arena, (json_count(list) + 1) * sizeof(*groups));
    uint64_t gid;

    *out = (struct user_ids){process->uid, process->gid, groups, json_count(list)};
    if (!groups)
        return err_nomem(err);
    for (size_t i = 0; i < json_count(list); i++) {
        if (!json_u64(json_at(list, i), &gid) || gid > UINT32_MAX)
            return err_set(err, ERR_FORMAT, "process.user.additionalGids: not a group id");
        groups[i] = (gid_t)gid;
    }
    return 0;
}

/* The runtime finds the descriptor in /proc of the mount namespace, which no user may have made. */
static int check_namespace(const struct container *c, struct err *err)
{
    _cleanup_fd_ int proc = openat(c->root, "proc", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct statfs fs;

    if (mount_namespace_is_ours(c->mounts) && proc >= 0 && fstatfs(proc, &fs) == 0 &&
        fs.f_type == PROC_SUPER_MAGIC)
        return 0;
    return err_set(err, ERR_POLICY,
                   "process.cwd: the container has no /proc, without which its user cannot be kept "
                   "from closed directories: use \"/\"");
}

static int open_as(const struct container *c, const struct json *rule, const struct user_ids *user,
                   const char *path, struct err *err)
{
    static const uint64_t within = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    _cleanup_fd_ int fd = as_user_enter(user, c->root, path, within);

    if (fd >= 0)
        return steal_fd(&fd);
    if (errno != EACCES && errno != EPERM)
        return err_sys(err, "process.cwd: %.200s", path);
    fd = fd_open_within(c->root, path, O_PATH | O_DIRECTORY, within);
    return fd >= 0 && is_of_image(c, rule, fd) ? steal_fd(&fd) : refuse(path, err);
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
    if (!rule || is_set(rule, "own_ids") || process->uid == 0 || !json_is(cwd, JSON_STRING))
        return 0;
    if (!path)
        return err_set(err, ERR_FORMAT, "process.cwd: a path with a NUL");
    if (!*path || strcmp(path, "/") == 0)
        return 0;
    if (container_open(call, &c, err) < 0 || find_user(process, &arena, &user, err) < 0 ||
        check_namespace(&c, err) < 0)
        return -1;
    *fd = open_as(&c, rule, &user, path, err);
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

/*
 * Ends the process that waits to be started. An engine that is refused a start takes it for a
 * container that never ran: dockerd leaves its process and shim behind.
 */
static void end_process(const struct process *process)
{
    enum { PATIENCE_MS = 2000, REAPED_MS = 200, STEP_US = 2000 };
    _cleanup_fd_ int pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};

    if (pidfd < 0 || process_ended(process) ||
        syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0)
        return;
    poll(&ended, 1, PATIENCE_MS);
    for (int i = 0; i < REAPED_MS * 1000 / STEP_US && kill(process->pid, 0) == 0; i++)
        usleep(STEP_US);
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
    if (read_user(kept, &arena, &user, err) < 0 || container_open(call, &c, err) < 0)
        return -1;
    _cleanup_fd_ int directory = openat(c.proc, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || readlinkat(c.proc, "cwd", path, sizeof(path) - 1) < 0)
        return err_sys(err, "the working directory of the container '%.100s'", call->id);
    if (is_of_image(&c, rule, directory) || reaches(&c, &user, directory, path))
        return 0;
    end_process(&c.process);
    return refuse(path, err);
}

#include "shim/account/account.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/host/trust.h"
#include "shim/host/users/groups.h"
#include "shim/mount/pin.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Two of them, and their directories, must fit into the tmpfs of pin_begin, which has 1 MiB. */
enum { FILE_BYTES = 256 * 1024 };

const char *const account_targets[ACCOUNT_FILES] = {"/etc/passwd", "/etc/group"};
const char *const account_sources[ACCOUNT_FILES] = {PIN_DIRECTORY "/user:passwd",
                                                    PIN_DIRECTORY "/user:group"};

bool account_wanted(const struct policy *policy)
{
    return policy->user.passwd || policy->user.groups || policy->user.home.text;
}

/* ---- the container's root ---- */

/* Opens a path of the image as a container would see it, but not for reading: opening a device or a
 * FIFO of the image could do something, or wait. */
static int open_in_root(int root, const char *path)
{
    return fd_open_within(root, path, O_PATH, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

static int read_image_file(int root, const char *path, struct buf *out, struct err *err)
{
    _cleanup_fd_ int fd = open_in_root(root, path);

    if (fd < 0)
        return err_sys(err, "open");
    if (fd_read_regular(fd, FILE_BYTES, out, err) < 0)
        return -1;
    if (out->len && memchr(out->data, '\0', out->len))
        return err_set(err, ERR_FORMAT, "it has a NUL byte");
    return 0;
}

static int gather_file(int root, const char *path, struct arena *arena, struct account_file *out,
                       struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_buf_ struct buf problem = BUF_INIT;
    struct err why = ERR_INIT;

    if (read_image_file(root, path, &text, &why) == 0) {
        out->text = arena_strndup(arena, text.data ? text.data : "", text.len);
        return out->text ? 0 : err_nomem(err);
    }
    buf_printf(&problem, "the image's %s cannot be read: %s", path, why.msg);
    out->problem = problem.failed ? NULL : arena_strndup(arena, problem.data, problem.len);
    return out->problem ? 0 : err_nomem(err);
}

static bool has_directory(int root, const char *path)
{
    struct stat st;
    _cleanup_fd_ int fd = open_in_root(root, path);

    return fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_root(const struct spec *spec, int bundle)
{
    const char *path = json_text(json_path(spec->root, "root", "path", NULL));

    return path && *path ? openat(bundle, path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* ---- HOME ---- */

static int expand_home(const struct policy_text *home, const struct facts *facts,
                       struct arena *arena, struct account_facts *out, struct err *err)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    struct err why = ERR_INIT;

    if (!home->text)
        return 0;
    int rc = template_expand(home->text, &facts->values, &path, &why);
    if (rc == 0 && !path_is_clean_absolute(path.data))
        rc = err_set(&why, ERR_POLICY, "'%s' is not a clean absolute path", path.data);
    if (rc < 0) {
        out->home_problem = arena_strndup(arena, why.msg, strlen(why.msg));
        return out->home_problem ? 0 : err_nomem(err);
    }
    out->home = arena_strndup(arena, path.data, path.len);
    return out->home ? 0 : err_nomem(err);
}

static int gather_files(const struct policy_user *user, const struct spec *spec, int bundle,
                        const struct facts *facts, struct arena *arena, struct account_facts *out,
                        struct err *err)
{
    _cleanup_fd_ int root = open_root(spec, bundle);
    char name[GROUP_NAME_MAX];

    if (user->passwd && group_name(facts->process.gid, name)) {
        out->group = arena_strndup(arena, name, strlen(name));
        if (!out->group)
            return err_nomem(err);
    }
    out->home_exists = root >= 0 && out->home && has_directory(root, out->home);
    for (int i = 0; user->passwd && i < ACCOUNT_FILES; i++) {
        if (root < 0)
            out->files[i].problem = "the container's root cannot be opened";
        else if (gather_file(root, account_targets[i], arena, &out->files[i], err) < 0)
            return -1;
    }
    return 0;
}

/* ---- groups ---- */

/* Adds the groups to those that the process has, for the judgement of its access. */
static int add_groups(struct facts *facts, const struct groups *groups, struct arena *arena,
                      struct err *err)
{
    gid_t *all = arena_alloc(arena, (facts->group_count + groups->count + 1) * sizeof(*all));

    if (!all)
        return err_nomem(err);
    for (size_t i = 0; i < facts->group_count; i++)
        all[i] = facts->groups[i];
    memcpy(all + facts->group_count, groups->list, groups->count * sizeof(*all));
    facts->groups = all;
    facts->group_count += groups->count;
    return 0;
}

static int gather_groups(const struct spec *spec, struct facts *facts, struct arena *arena,
                         struct account_facts *out, struct err *err)
{
    struct groups groups;
    struct user user;

    if (spec->uid_map.count || spec->joins_user_namespace) {
        out->groups_problem = "the container has a user namespace, with other groups";
        return 0;
    }
    enum user_answer answer = user_by_uid(facts->process.uid, &user);
    if (answer == USER_NONE)
        return 0;
    if (answer == USER_UNKNOWN || !groups_of_user(&user, &groups)) {
        out->groups_problem = "getent did not say which groups the user has";
        return 0;
    }
    gid_t *list = arena_alloc(arena, (groups.count + 1) * sizeof(*list));
    if (!list)
        return err_nomem(err);
    memcpy(list, groups.list, groups.count * sizeof(*list));
    out->groups = list;
    out->group_count = groups.count;
    return add_groups(facts, &groups, arena, err);
}

/* ---- all of it ---- */

/* Returns why this process gets nothing, or NULL. */
static const char *find_problem(const struct spec *spec, const struct facts *facts)
{
    if (!spec->process)
        return "the container has no process";
    if (spec->uid == 0 || (facts->process.known && facts->process.uid == 0))
        return "the process is root";
    if (!facts->process.known)
        return facts->process.why;
    if (trust_rootless())
        return "the engine is a user's own";
    return NULL;
}

int account_gather(const struct policy *policy, const struct spec *spec, int bundle,
                   struct facts *facts, struct arena *arena, struct account_facts *out,
                   struct err *err)
{
    *out = (struct account_facts){.root_problem = find_problem(spec, facts)};
    if (out->root_problem)
        return 0;
    if (policy->user.groups && gather_groups(spec, facts, arena, out, err) < 0)
        return -1;
    if (expand_home(&policy->user.home, facts, arena, out, err) < 0)
        return -1;
    return gather_files(&policy->user, spec, bundle, facts, arena, out, err);
}

/* The working directory, in the mounts as the container will have them. */
#include "base/fdio.h"
#include "shim/apply/nested_parts.h"
#include "shim/gather/bind_name.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>

/* Returns true if he must be able to reach what is in that mount, or in the root. */
static bool is_held_to_user(const struct nested *n, size_t within)
{
    return within == TARGET_ROOT ? n->options->open_root && n->options->require_access
                                 : nested_is_required(n, within);
}

static int open_holder(struct nested *n, size_t within, int root)
{
    const char *source = within == TARGET_ROOT ? NULL : n->spec->list[within].source;
    int fd = within == TARGET_ROOT ? openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC)
                                   : bind_open(n->options->bundle, source ? source : "");

    return fd >= 0 ? fd : err_sys(n->err, "%s", source ? source : "the container's root");
}

static int refuse_missing(const struct nested *n, const char *path)
{
    return err_set(n->err, ERR_POLICY,
                   "process.cwd: the runtime would make %.200s in a mount, as root: make it first, "
                   "or choose another working directory",
                   path);
}

/*
 * Returns true if a missing directory is refused: the runtime makes it as root, or as root of the
 * container's user namespace.
 */
static bool is_made_by_root(const struct nested *n)
{
    return n->options->judged && !n->spec->uid_map.count;
}

/*
 * Looks at the directory beneath what holds it, which the runtime enters as root. A link that leads
 * out counts as missing.
 */
static int check_beneath(const struct nested *n, int holder, bool held, const char *path,
                         const char *rest)
{
    static const uint64_t within = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    _cleanup_fd_ int there = fd_open_within(holder, rest, O_PATH, within);

    if (there < 0 && is_made_by_root(n))
        return refuse_missing(n, path);
    if (!held)
        return 0;
    _cleanup_fd_ int fd = as_user_enter(n->options->user, holder, rest, within);
    if (fd >= 0)
        return 0;
    if (errno == ETIMEDOUT)
        return err_set(n->err, ERR_POLICY,
                       "process.cwd: %.200s does not answer the container's user within %d seconds",
                       path, CHANNEL_SECONDS);
    return err_set(n->err, ERR_POLICY,
                   "process.cwd: the container's user may not enter %.200s in a mount "
                   "(binds.require_access): choose another working directory",
                   path);
}

int nested_check_cwd(struct nested *n, int root)
{
    const char *path = json_text(json_get(n->spec->process, "cwd"));
    struct target at;

    /* crun takes one that is not absolute from the root; runc refuses it. */
    if (!path || !*path)
        return 0;
    if (targets_lead(&n->targets, root, path, n->arena, &at, n->err) < 0)
        return -1;
    bool in_root = at.within == TARGET_ROOT,
         held = n->options->user && is_held_to_user(n, at.within);
    const char *point = in_root ? "/" : n->targets.list[at.within].path;
    const char *rest = at.path + (strcmp(point, "/") == 0 ? 0 : strlen(point));
    rest += strspn(rest, "/");
    if (!in_root && !n->spec->list[at.within].bind) /* a new file system, which is empty */
        return *rest && is_made_by_root(n) && nested_is_below_users(n, at.path)
                   ? refuse_missing(n, path)
                   : 0;
    if (!held && (in_root || !*rest))
        return 0;
    _cleanup_fd_ int holder = open_holder(n, at.within, root);
    return holder < 0 ? -1 : check_beneath(n, holder, held, path, *rest ? rest : ".");
}

bool nested_requires_access(const struct nested *n)
{
    bool needed = is_held_to_user(n, TARGET_ROOT);

    for (size_t i = 0; i < n->spec->mount_count; i++)
        needed = needed || nested_is_required(n, i);
    return needed;
}

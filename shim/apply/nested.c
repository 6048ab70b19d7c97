#include "shim/apply/nested_parts.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/gather/bind_name.h"
#include "shim/host/fd_path.h"
#include "shim/host/trust.h"
#include "shim/plan/mount_restriction.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>

/* Returns the key of the policy because of which mounts are compared. */
static const char *compared_for(const struct nested *n)
{
    return n->options->targets_deny->count ? "binds.targets_deny" : "security.user";
}

/* Returns true if links are refused, and the hook is put in. */
static bool is_compared(const struct nested *n)
{
    return n->options->targets_deny->count != 0 || n->options->compare;
}

/* ---- sources ---- */

/* Opens and names the source of a bind mount. Returns its descriptor, or -1. */
static int open_source(struct nested *n, size_t i)
{
    const struct spec_mount *mount = &n->spec->list[i];
    _cleanup_fd_ int fd = bind_open(n->options->bundle, mount->source ? mount->source : "");

    if (fd < 0)
        return err_sys(n->err, "%s", mount->source ? mount->source : "a mount without a source");
    if (!n->sources[i].found &&
        bind_name_find(fd, NULL, &n->table, n->arena, &n->sources[i], n->err) < 0)
        return -1;
    return steal_fd(&fd);
}

static int name_source(struct nested *n, size_t i)
{
    _cleanup_fd_ int fd = n->sources[i].found ? -1 : open_source(n, i);

    return n->sources[i].found || fd >= 0 ? 0 : -1;
}

/* ---- beforehand ---- */

/* The access that the user needs to mount points in a mount. */
enum access {
    ACCESS_NONE,
    ACCESS_REACH, /* to reach them: it is no secret then whether they are there */
    ACCESS_MAKE,  /* to make those that are missing, too */
};

/*
 * Engines mount below their own files. A volume of an engine or of the policy is there for all, and
 * a fresh one is root's, who makes mount points in it.
 */
static enum access needed_access(const struct nested *n, const char *destination)
{
    const struct decision *decision = n->options->decision;
    enum access usual = n->options->require_access ? ACCESS_REACH : ACCESS_NONE;

    for (size_t i = 0; i < decision->count; i++) {
        const struct plan_op *op = decision->list[i].op;
        if (op->kind == PLAN_MOUNT && op->mount.target && !op->mount.idmap &&
            strcmp(op->mount.target, destination) == 0)
            return usual;
        if (op->kind != PLAN_BIND || !op->bind.rule || strcmp(op->bind.target, destination) != 0)
            continue;
        if (op->bind.rule->says_require_access)
            usual = op->bind.rule->require_access ? ACCESS_REACH : ACCESS_NONE;
        return usual == ACCESS_NONE || op->bind.source->engine ? usual : ACCESS_MAKE;
    }
    return ACCESS_NONE;
}

bool nested_is_required(const struct nested *n, size_t i)
{
    return n->spec->list[i].bind && needed_access(n, n->spec->list[i].destination) != ACCESS_NONE;
}

/*
 * The runtime looks for a mount point, and makes it, as root. Where the user could not do so,
 * neither could the container: it would tell what closed directories have, and names in directories
 * of others would be taken.
 */
static int check_user(struct nested *n, size_t i, int source, const char *rest)
{
    const char *holder = n->spec->list[n->targets.list[i].within].destination;
    enum access needed = n->options->user ? needed_access(n, holder) : ACCESS_NONE;

    if (needed == ACCESS_NONE || !*rest)
        return 0;
    enum user_reach reach = as_user_reach(n->options->user, source, rest);
    if (reach == USER_CLOSED || (reach == USER_LACKS && needed == ACCESS_MAKE &&
                                 !n->spec->list[n->targets.list[i].within].read_only))
        return err_set(
            n->err, ERR_POLICY,
            "the mount on %s: what is mounted above it has no '%s', and the container's user "
            "may not make it there: make it first",
            n->spec->list[i].destination, rest);
    return 0;
}

/* Returns the source of a mount as people know it: not where it is held. */
static const char *known_source(const struct nested *n, size_t i)
{
    const struct decision *decision = n->options->decision;
    const char *found = n->sources[i].found, *unpinned = binds_unpinned(found);

    for (size_t k = 0; !unpinned && k < decision->count; k++) {
        const struct plan_op *op = decision->list[k].op;
        if (op->kind == PLAN_MOUNT && op->mount.target && op->mount.source &&
            strcmp(op->mount.target, n->spec->list[i].destination) == 0)
            return op->mount.source;
    }
    return unpinned ? unpinned : found;
}

/* Looks for the mount point in the bind mount that holds it. */
static int check_holder(struct nested *n, size_t i)
{
    const struct target *target = &n->targets.list[i];
    const struct spec_mount *holder = &n->spec->list[target->within];
    const char *rest = target->path + strlen(n->targets.list[target->within].path);
    _cleanup_fd_ int source = open_source(n, target->within);

    rest += strspn(rest, "/");
    if (source < 0 || check_user(n, i, source, rest) < 0)
        return -1;
    _cleanup_fd_ int fd =
        fd_open_within(source, rest, O_PATH, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (fd < 0 && errno == ELOOP && is_compared(n))
        return err_set(n->err, ERR_POLICY,
                       "%s: the mount on %s: there is a symbolic link in what is mounted on %s, "
                       "which could lead anywhere: name the place itself",
                       compared_for(n), n->spec->list[i].destination, holder->destination);
    if (fd < 0 && errno == ENOENT && holder->read_only)
        return err_set(n->err, ERR_POLICY,
                       "the mount on %s: what is mounted on %s is read-only, and has no '%s': make "
                       "it in %s first",
                       n->spec->list[i].destination, holder->destination, rest,
                       known_source(n, target->within));
    return 0;
}

/* ---- for the hook ---- */

static int add_words(struct nested *n, const char *by, const char *root, const char *target)
{
    return nested_words_add(&n->out->words, by, n->arena, n->err) < 0 ||
                   nested_words_add(&n->out->words, root, n->arena, n->err) < 0
               ? -1
               : nested_words_add(&n->out->words, target, n->arena, n->err);
}

/* Returns `path` with its first part, `from`, replaced by `to`. */
static const char *move_path(struct nested *n, const char *path, const char *from, const char *to)
{
    const char *rest = path + (strcmp(from, "/") == 0 ? 0 : strlen(from));

    rest += strspn(rest, "/");
    if (!*rest)
        return to;
    return arena_printf(n->arena, "%s/%s", strcmp(to, "/") == 0 ? "" : to, rest);
}

/*
 * Adds the words once more for each mount of the host that an earlier bind mount brings along, and
 * that looks the same at the same place: it does not count.
 */
static int add_lookalikes(struct nested *n, size_t i, const char *by, const char *root)
{
    const char *target = n->targets.list[i].path;

    for (size_t k = 0; k < i; k++) {
        const char *above = n->targets.list[k].path;
        if (!n->spec->list[k].bind || !mount_is_recursive(n->spec->list[k].options) ||
            strcmp(above, target) == 0 || !path_is_beneath(target, above))
            continue;
        if (name_source(n, k) < 0)
            return -1;
        const char *place = move_path(n, target, above, n->sources[k].found);
        if (!place)
            return err_nomem(n->err);
        for (size_t m = 0; m < n->table.count; m++) {
            const struct mount_entry *entry = &n->table.list[m];
            bool same = strcmp(by, NESTED_BY_TYPE) == 0 ? strcmp(entry->type, root) == 0
                                                        : strcmp(entry->root, root) == 0;
            if (strcmp(entry->point, place) == 0 && same && add_words(n, by, root, target) < 0)
                return -1;
        }
    }
    return 0;
}

/* Adds a mount for the hook: a bind by the part of the file system that it shows. */
static int add_mount(struct nested *n, size_t i, struct nested_mount *out)
{
    const struct spec_mount *mount = &n->spec->list[i];
    const char *by = NESTED_BY_TYPE, *root = mount->type ? mount->type : "";

    if (mount->bind) {
        if (name_source(n, i) < 0)
            return -1;
        const struct bind_name *name = &n->sources[i];
        by = arena_printf(n->arena, "%u:%u", name->mount->major, name->mount->minor);
        root = move_path(n, name->found, name->mount->point, name->mount->root);
    } else if (strncmp(root, "cgroup", 6) == 0) { /* runc makes a tmpfs of cgroup v1 */
        root = "";
    }
    if (!by || !root)
        return err_nomem(n->err);
    out->by = by;
    out->root = root;
    return add_words(n, by, root, out->target) < 0 ? -1 : add_lookalikes(n, i, by, root);
}

static int add_root(struct nested *n, int root)
{
    char path[PATH_MAX];

    if (root < 0 || fd_path(root, path) < 0)
        return err_sys(n->err, "the container's root");
    return nested_words_add(&n->out->words, arena_strndup(n->arena, path, strlen(path)), n->arena,
                            n->err);
}

/*
 * Judged was the destination as it is written, or where its links led at that time. In a root that
 * users change, the links may be others now: none is followed.
 */
static int check_links(const struct nested *n, size_t i)
{
    const char *destination = n->spec->list[i].destination;

    if (!n->options->open_root || !is_compared(n) ||
        strcmp(n->targets.list[i].path, destination) == 0)
        return 0;
    return err_set(
        n->err, ERR_POLICY,
        "%s: the mount on %s: there is a symbolic link on the way in the container's root, which "
        "users can change: name the place itself",
        compared_for(n), destination);
}

/* Returns true for a mount of the plan's own, whose target its rules for binds did not judge. */
static bool is_planned(const struct decision *decision, const char *destination)
{
    for (size_t i = 0; i < decision->count; i++) {
        const struct plan_op *op = decision->list[i].op;
        const char *target = op->kind == PLAN_MOUNT  ? op->mount.target
                             : op->kind == PLAN_FILE ? op->file.target
                                                     : NULL;
        if (target && strcmp(target, destination) == 0)
            return true;
    }
    return false;
}

/* A volume follows the links of an image as a user's mount does, and by the same rule. */
static int check_place(const struct nested *n, size_t i)
{
    const char *destination = n->spec->list[i].destination, *path = n->targets.list[i].path;

    if (strcmp(path, destination) == 0 || !is_planned(n->options->decision, destination))
        return 0;
    const char *denied = policy_denied_target(n->options->targets_deny, path, false);
    if (!denied)
        return 0;
    return err_set(
        n->err, ERR_POLICY,
        "binds.targets_deny: the mount on %s: nothing may be mounted over %s, where this "
        "leads in the container: choose another path in the container",
        destination, denied);
}

/* ---- copies ---- */

/* runc copies what is below the target, as root, and follows links that a user puts there. */
static int check_copy(const struct nested *n, size_t i)
{
    const struct target *target = &n->targets.list[i];
    const struct spec_mount *mount = &n->spec->list[i];
    const char *type = mount->type ? mount->type : "mount";

    if (mount->bind || !spec_has_option(mount->options, "tmpcopyup"))
        return 0;
    if (target->foreign || target->covers)
        return err_set(n->err, ERR_POLICY,
                       "the %s on %s: tmpcopyup would copy what is mounted there, as root, while "
                       "its owner can change it: use notmpcopyup (podman's --tmpfs %s:notmpcopyup)",
                       type, mount->destination, mount->destination);
    if (n->options->open_root)
        return err_set(n->err, ERR_POLICY,
                       "the %s on %s: tmpcopyup would copy a directory of the container's root, as "
                       "root, while users can change it: use notmpcopyup (podman's --tmpfs "
                       "%s:notmpcopyup, and --read-only-tmpfs=false with --read-only)",
                       type, mount->destination, mount->destination);
    return 0;
}

/* ---- all of it ---- */

/* Returns true for a target that a user could move while the mounts are made. */
static bool is_changeable(const struct nested *n, size_t i)
{
    return n->targets.list[i].foreign || n->options->open_root;
}

static int look_at_mount(struct nested *n, size_t i, int root, struct nested_mount *out)
{
    const struct target *target = &n->targets.list[i];

    if (check_place(n, i) < 0 || check_copy(n, i) < 0 || check_links(n, i) < 0)
        return -1;
    if (!is_changeable(n, i))
        return 0;
    if (target->within != TARGET_ROOT && n->spec->list[target->within].bind &&
        check_holder(n, i) < 0)
        return -1;
    if (!is_compared(n))
        return 0;
    if (n->options->restoring)
        return err_set(n->err, ERR_POLICY,
                       "binds.targets_deny: users can change what is above the mount on %s: such a "
                       "checkpoint cannot be restored",
                       n->spec->list[i].destination);
    if (!n->out->words.count && add_root(n, root) < 0)
        return -1;
    return add_mount(n, i, out);
}

/* Keeps what is found out about a mount, a reason to refuse it too. */
static int add_found(struct nested *n, size_t i, int root)
{
    struct nested_mount *found = &n->out->list[n->out->count];
    const struct err *why = &n->why;

    *found = (struct nested_mount){.index = i, .target = n->targets.list[i].path};
    n->why = (struct err)ERR_INIT;
    int rc = look_at_mount(n, i, root, found);
    if (rc < 0 && why->kind == ERR_POLICY) {
        found->problem = arena_strndup(n->arena, why->msg, strlen(why->msg));
        if (!found->problem)
            return err_nomem(n->err);
    } else if (rc < 0 && !(n->options->ahead && why->kind == ERR_SYSTEM)) {
        return -1;
    }
    if (found->problem || (is_compared(n) && is_changeable(n, i)))
        n->out->count++;
    return 0;
}

/* Keeps a reason to refuse the container, beyond its mounts. */
static int find_problem(struct nested *n, int root, const char *subject,
                        int (*check)(struct nested *n, int root))
{
    n->why = (struct err)ERR_INIT;
    if (check(n, root) == 0)
        return 0;
    if (n->why.kind != ERR_POLICY)
        return n->options->ahead && n->why.kind == ERR_SYSTEM ? 0 : -1;
    n->out->subject = subject;
    n->out->problem = arena_strndup(n->arena, n->why.msg, strlen(n->why.msg));
    return n->out->problem ? 0 : err_nomem(n->err);
}

int nested_find(const struct spec *spec, const struct nested_options *options, struct arena *arena,
                struct nested_mounts *out, struct err *err)
{
    struct nested n = {.spec = spec, .options = options, .arena = arena, .out = out};
    _cleanup_fd_ int root = targets_root(spec, options->bundle);

    n.err = &n.why;
    *out = (struct nested_mounts){
        .list = arena_alloc(arena, (spec->mount_count + 1) * sizeof(*out->list))};
    n.sources = arena_alloc(arena, (spec->mount_count + 1) * sizeof(*n.sources));
    if (!n.sources || !out->list)
        return err_nomem(err);
    if (targets_find(spec, root, arena, &n.targets, err) < 0)
        return -1;
    for (size_t i = 0; i < spec->mount_count; i++) {
        if (is_changeable(&n, i) && !n.table.list && mount_table_read(arena, &n.table, err) < 0)
            return -1;
        if (add_found(&n, i, root) < 0) {
            *err = n.why;
            return -1;
        }
    }
    out->requires_access = nested_requires_access(&n);
    if (find_problem(&n, root, "process.cwd", nested_check_cwd) < 0 ||
        (!out->problem && find_problem(&n, root, "linux", nested_check_covers) < 0)) {
        *err = n.why;
        return -1;
    }
    return 0;
}

const struct user_ids *nested_user(const struct policy *policy, const struct facts *facts,
                                   struct user_ids *out)
{
    const struct id_pair *id = &facts->process;
    bool required = policy->binds.require_access;

    for (size_t i = 0; i < policy->binds.rule_count; i++)
        required = required || policy->binds.rules[i].require_access;
    /* Root of a user namespace is whom the runtime makes mount points as, there. */
    if (facts->inside.known && facts->inside.uid == 0)
        return NULL;
    if (!required || !id->known || id->uid == 0)
        return NULL;
    *out = (struct user_ids){id->uid, id->gid, facts->groups, facts->group_count};
    return out;
}

bool nested_concerns(const struct policy *policy)
{
    return policy->mode == POLICY_ENFORCE && !trust_rootless() &&
           (policy->binds.given || policy->volume_count);
}

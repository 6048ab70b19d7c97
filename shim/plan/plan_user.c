/* Gives a container's user a name, HOME and groups, by the policy's "user". */
#include "base/path.h"
#include "shim/account/passwd.h"
#include "shim/plan/mount_entry.h"
#include "shim/plan/plan_parts.h"

#include <string.h>

/* ---- HOME ---- */

/* Returns the index of the volume that is mounted there, or PLAN_NO_MOUNT. */
static size_t volume_on(const struct planner *p, const char *path)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct plan_op *op = &p->ops[i];
        if (op->kind == PLAN_MOUNT && op->verdict != PLAN_DENIED && op->mount.target &&
            strcmp(op->mount.target, path) == 0)
            return i;
    }
    return PLAN_NO_MOUNT;
}

/* True if something is mounted above the path, so that the image's directory is not seen. */
static bool is_hidden(const struct planner *p, const char *path)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->ops[i].kind == PLAN_MOUNT && p->ops[i].verdict != PLAN_DENIED &&
            p->ops[i].mount.target && path_is_beneath(path, p->ops[i].mount.target))
            return true;
    for (size_t i = 0; i < p->in->spec->mount_count; i++)
        if (path_is_beneath(path, p->in->spec->list[i].destination))
            return true;
    return false;
}

/* Returns the home that the user gets, or NULL if there is no such directory. */
static const char *usable_home(const struct planner *p)
{
    const struct account_facts *facts = p->in->account;
    const char *home = facts->home;

    if (!home)
        return NULL;
    if (volume_on(p, home) != PLAN_NO_MOUNT || plan_mounted_on(p->in->spec, home))
        return home;
    return facts->home_exists && !is_hidden(p, home) ? home : NULL;
}

/* Engines give HOME=/ to users without a name. */
static bool is_default_home(const struct spec *spec)
{
    const char *present = spec_env(spec, "HOME");

    return present && strcmp(present, "/") == 0;
}

static int add_home(struct planner *p, const char *home)
{
    const struct account_facts *facts = p->in->account;
    size_t volume = home ? volume_on(p, home) : PLAN_NO_MOUNT;
    struct plan_op *op = plan_push(p, PLAN_ENV);

    if (!op)
        return -1;
    op->asked_by = "user.home";
    op->place = p->in->policy->user.home.place;
    op->variable = (struct plan_variable){
        .name = "HOME", .value = facts->home ? facts->home : "", .of_user = true, .mount = volume};
    if (!facts->home)
        return plan_decide(p, op, PLAN_SKIPPED, NULL, "%s", facts->home_problem);
    if (!home)
        return plan_decide(p, op, PLAN_SKIPPED, NULL,
                           "the container has no directory %s; a volume or a mount there makes one",
                           facts->home);
    if (is_default_home(p->in->spec))
        return plan_decide(p, op, PLAN_ADDED, NULL, "the user's directory");
    return plan_decide_variable(p, op, "the user's directory");
}

/* ---- /etc/passwd, /etc/group ---- */

bool plan_is_user_file(const struct planner *p, const struct spec_mount *mount)
{
    bool given = p->in->account && p->in->policy->user.passwd && !p->in->account->root_problem &&
                 !p->in->no_volumes;

    for (int i = 0; given && i < ACCOUNT_FILES; i++)
        if ((p->in->account->files[i].text || p->in->created) &&
            mount_entry_is_file(mount, account_sources[i], account_targets[i]))
            return true;
    return false;
}

static int put_text(struct planner *p, struct plan_op *op, int file, const char *home)
{
    const struct spec *spec = p->in->spec;
    const char *name =
        file == ACCOUNT_PASSWD ? p->in->values.value[VAR_USER] : p->in->account->group;
    const struct passwd_entry entry = {
        .name = name ? name : "", .uid = spec->uid, .gid = spec->gid, .home = home ? home : "/"};
    _cleanup_buf_ struct buf text = BUF_INIT;

    (file == ACCOUNT_PASSWD ? passwd_put_user : passwd_put_group)(p->in->account->files[file].text,
                                                                  &entry, &text);
    op->file.text =
        text.failed ? NULL : arena_strndup(p->arena, text.data ? text.data : "", text.len);
    return op->file.text ? 0 : err_nomem(p->err);
}

/* Decides on a file that the container's mounts do not have. */
static int decide_file(struct planner *p, struct plan_op *op, int file, const char *home)
{
    const struct account_file *image = &p->in->account->files[file];
    uint32_t id = file == ACCOUNT_PASSWD ? p->in->spec->uid : p->in->spec->gid;

    if (!image->text)
        return plan_decide(p, op, PLAN_SKIPPED, NULL, "%s", image->problem);
    if (passwd_has_id(image->text, id))
        return plan_decide(p, op, PLAN_KEPT, NULL, "the image has an entry for %u", (unsigned)id);
    if (is_hidden(p, op->file.target))
        return plan_decide(p, op, PLAN_SKIPPED, NULL, "something is mounted above it");
    return put_text(p, op, file, home) < 0
               ? -1
               : plan_decide(p, op, PLAN_ADDED, NULL, "an entry for %u", (unsigned)id);
}

static int add_file(struct planner *p, int file, const char *home)
{
    const struct spec_mount *mount = plan_mounted_on(p->in->spec, account_targets[file]);
    struct plan_op *op = plan_push(p, PLAN_FILE);

    if (!op)
        return -1;
    op->asked_by = "user.passwd";
    op->place = p->in->policy->user.passwd_place;
    op->file.source = account_sources[file];
    op->file.target = account_targets[file];
    if (!mount)
        return decide_file(p, op, file, home);
    if (!plan_is_user_file(p, mount))
        return plan_decide(p, op, PLAN_KEPT, NULL, "the container brings its own mount");
    /* The root of a container that is there may be out of sight. */
    if (p->in->account->files[file].text && put_text(p, op, file, home) < 0)
        return -1;
    return plan_decide(p, op, PLAN_KEPT, NULL, "mounted already");
}

/* ---- groups ---- */

static bool has_group(const struct spec *spec, gid_t gid)
{
    for (size_t i = 0; i < spec->group_count; i++)
        if (spec->groups[i] == gid)
            return true;
    return spec->gid == gid;
}

/* Collects the groups that the process does not have. */
static int missing_groups(struct planner *p, struct plan_groups *out)
{
    const struct account_facts *facts = p->in->account;
    gid_t *list = arena_alloc(p->arena, (facts->group_count + 1) * sizeof(*list));
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (!list)
        return err_nomem(p->err);
    *out =
        (struct plan_groups){.list = list, .all = facts->groups, .all_count = facts->group_count};
    buf_puts(&text, "");
    for (size_t i = 0; i < facts->group_count; i++) {
        if (has_group(p->in->spec, facts->groups[i]))
            continue;
        buf_printf(&text, "%s%u", out->count ? ", " : "", (unsigned)facts->groups[i]);
        list[out->count++] = facts->groups[i];
    }
    out->value = text.failed ? NULL : arena_strndup(p->arena, text.data, text.len);
    return out->value ? 0 : err_nomem(p->err);
}

static int add_groups(struct planner *p)
{
    const char *problem = p->in->account->groups_problem;
    struct plan_op *op = plan_push(p, PLAN_GROUPS);

    if (!op)
        return -1;
    op->asked_by = "user.groups";
    op->place = p->in->policy->user.groups_place;
    if (missing_groups(p, &op->groups) < 0)
        return -1;
    if (problem)
        return plan_decide(p, op, PLAN_SKIPPED, NULL, "%s", problem);
    if (!op->groups.count)
        return plan_decide(p, op, PLAN_KEPT, NULL, "the process has the groups of its user");
    return plan_decide(p, op, PLAN_ADDED, NULL, "groups of the user on this host");
}

int plan_add_user(struct planner *p)
{
    const struct policy_user *user = &p->in->policy->user;

    if (p->in->account->root_problem)
        return 0;
    const char *home = usable_home(p);
    if (user->home.text && add_home(p, home) < 0)
        return -1;
    for (int i = 0; user->passwd && i < ACCOUNT_FILES; i++)
        if (add_file(p, i, home) < 0)
            return -1;
    return user->groups ? add_groups(p) : 0;
}

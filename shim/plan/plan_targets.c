/* The places of mounts: targets that the policy denies, and propagation to the host. */
#include "base/path.h"
#include "shim/plan/plan_parts.h"

#include <string.h>

/* ---- targets ---- */

/*
 * True for mounts below /dev that engines make by themselves: file systems of the kernel, binds of
 * files of their own, and with --ipc=host those of the host.
 */
static bool is_engines_place(const struct planner *p, size_t i, const char *target)
{
    const struct bind_source *s = &p->in->binds->sources[i];

    if (strcmp(target, "/dev/termination-log") == 0)
        return true;
    if (strcmp(target, "/dev/shm") != 0 && strcmp(target, "/dev/mqueue") != 0)
        return false;
    return !p->in->spec->list[i].bind || s->own || s->open ||
           (s->path && strcmp(s->path, target) == 0);
}

bool plan_is_users_sys(const struct planner *p, size_t i)
{
    const struct spec_mount *mount = &p->in->spec->list[i];
    const char *source = p->in->binds->sources[i].path;

    return p->in->rootless && mount->bind && source && strcmp(source, "/sys") == 0 &&
           strcmp(mount->destination, source) == 0 && spec_has_option(mount->options, "ro");
}

const char *plan_denied_target(const struct planner *p, size_t i, const char *target)
{
    return policy_denied_target(&p->in->policy->binds.targets_deny, target,
                                is_engines_place(p, i, target));
}

/* True for a tmpfs that only root can write, as engines have it on /dev. */
static bool only_root_writes(const struct spec_mount *mount)
{
    bool closed = false;

    for (size_t i = 0; i < json_count(mount->options); i++) {
        const char *text = json_text(json_at(mount->options, i));
        if (text && (strncmp(text, "uid=", 4) == 0 || strncmp(text, "gid=", 4) == 0))
            return false;
        if (text && strncmp(text, "mode=", 5) == 0)
            closed = strcmp(text, "mode=755") == 0 || strcmp(text, "mode=0755") == 0;
    }
    return closed;
}

bool plan_is_engines_own(const struct spec_mount *mount)
{
    static const struct {
        const char *type, *target;
    } own[] = {
        {"proc", "/proc"},     {"sysfs", "/sys"},         {"tmpfs", "/dev"}, {"devpts", "/dev/pts"},
        {"tmpfs", "/dev/shm"}, {"mqueue", "/dev/mqueue"}, {"tmpfs", "/run"},
    };

    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        if (strcmp(mount->type, own[i].type) == 0 && strcmp(mount->destination, own[i].target) == 0)
            return strcmp(own[i].target, "/dev") != 0 || only_root_writes(mount);
    return strncmp(mount->type, "cgroup", 6) == 0 &&
           path_is_beneath(mount->destination, "/sys/fs/cgroup");
}

/* ---- propagation ---- */

const char *plan_shared_option(const struct json *options)
{
    if (spec_has_option(options, "rshared"))
        return "rshared";
    return spec_has_option(options, "shared") ? "shared" : NULL;
}

int plan_judge_root_propagation(struct planner *p)
{
    const struct policy_switch *propagation = &p->in->policy->binds.propagation;
    const char *root = json_text(json_path(p->in->spec->root, "linux", "rootfsPropagation", NULL));

    if (!propagation->deny || !root ||
        (strcmp(root, "shared") != 0 && strcmp(root, "rshared") != 0))
        return 0;
    struct plan_op *op = plan_push(p, PLAN_SECURITY);
    if (!op)
        return -1;
    op->asked_by = "binds.propagation";
    return plan_decide(p, op, PLAN_DENIED, &propagation->place,
                       "the container's root would be %s, as a mount with :shared or :rshared has "
                       "it (-v, --mount, --tmpfs): its mounts would appear on the host; use slave "
                       "or private",
                       root);
}

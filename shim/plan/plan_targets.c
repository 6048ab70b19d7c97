/* The places of mounts: targets that the policy denies, and propagation to the host. */
#include "base/path.h"
#include "shim/plan/plan_parts.h"

#include <string.h>

/* ---- targets ---- */

/* True for targets below /dev that engines mount by themselves, from the host or from their state.
 */
static bool is_engines_target(const char *target)
{
    return strcmp(target, "/dev/shm") == 0 || strcmp(target, "/dev/mqueue") == 0 ||
           strcmp(target, "/dev/termination-log") == 0;
}

const char *plan_denied_target(const struct policy_list *denied, const char *target)
{
    for (size_t i = 0; i < denied->count; i++) {
        const char *path = denied->items[i];
        if (strcmp(path, target) == 0)
            return path;
        if (strcmp(path, "/") == 0 || is_engines_target(target))
            continue;
        if (path_is_beneath(target, path) || path_is_beneath(path, target))
            return path;
    }
    return NULL;
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
            return true;
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
                       "the container's root would be %s: its mounts would appear on the host",
                       root);
}

/* Ways in which the low-level runtime would change the host, past what the policy judges. */
#include "shim/plan/security/plan_security.h"
#include "shim/plan/security/security_deny.h"

/* True for a mount that the container can write to when the plan is applied. */
static bool stays_writable(const struct planner *p, const struct spec_mount *mount)
{
    bool writable = !mount->read_only && !p->in->binds;

    for (size_t i = 0; i < p->count; i++) {
        const struct plan_op *op = &p->ops[i];
        if (op->kind == PLAN_BIND && op->bind.entry == mount->entry)
            writable = !mount->read_only && op->bind.access == ACCESS_RW &&
                       (op->verdict == PLAN_KEPT || op->verdict == PLAN_DOWNGRADED);
    }
    return writable;
}

/*
 * The runtime makes a working directory as root of the container's user namespace. If the process
 * is that root, and root of the host is not, it could make the directory itself.
 */
static bool is_made_by_itself(const struct planner *p, const struct spec_mount *mount)
{
    const struct spec *spec = p->in->spec;
    uint32_t outside;

    return spec->uid == 0 && spec->uid_map.count && id_map_outside(&spec->uid_map, 0, &outside) &&
           outside != 0 && mount && stays_writable(p, mount);
}

int plan_add_places(struct planner *p)
{
    const struct host_places *at = &p->in->places;
    const struct policy_place *place;
    const char *judge =
        at->dev_link || at->node || at->cwd ? security_judge(p->in->policy, &place) : NULL;

    if (!judge)
        return 0;
    if (at->dev_link &&
        deny_advising(p, "root", place,
                      "/dev of the image is a symbolic link to %.200s, behind which the runtime "
                      "would make nodes on this host, past %s: use an image without it",
                      at->dev_link, judge) < 0)
        return -1;
    if (at->node && !at->dev_link &&
        deny_advising(p, "linux.devices", place,
                      "the node %.200s would be made behind a link of the image, or in a mount, "
                      "past %s: mount nothing there",
                      at->node, judge) < 0)
        return -1;
    if (!at->cwd || is_made_by_itself(p, at->cwd_mount))
        return 0;
    return deny_advising(p, "process.cwd", place,
                         "the runtime would make %.200s in a mount, as root, past %s: make it "
                         "first, or choose another working directory",
                         at->cwd, judge);
}

/* Returns the key of the policy that judges mounts, or gives some itself; NULL: none. */
static const char *judge_of_mounts(const struct policy *policy, const struct policy_place **place)
{
    const char *judge = security_judge(policy, place);

    if (judge || !policy->volume_count)
        return judge;
    *place = &policy->volumes[0].source.place;
    return "volumes";
}

int plan_add_remounts(struct planner *p)
{
    const struct policy_place *place;
    const char *judge = judge_of_mounts(p->in->policy, &place);

    for (size_t i = 0; judge && i < p->in->spec->mount_count; i++) {
        const struct spec_mount *mount = &p->in->spec->list[i];
        if (spec_has_option(mount->options, "remount") &&
            deny_advising(
                p, "mounts", place,
                "the mount on %.200s would change an earlier one (remount), past %s: give "
                "that one the options",
                mount->destination, judge) < 0)
            return -1;
    }
    return 0;
}

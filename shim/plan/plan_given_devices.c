/* Devices that an engine without root gives to a container by mounts. */
#include "base/path.h"
#include "shim/plan/plan_parts.h"
#include "shim/plan/security/plan_security.h"

#include <string.h>

/* True for paths that the runtime itself makes (runtime-spec, config-linux.md, Default Devices). */
static bool is_runtimes_place(const char *target)
{
    static const char *const places[] = {
        "null", "zero",   "full", "random", "urandom", "tty",    "ptmx", "console",        "pts",
        "shm",  "mqueue", "fd",   "stdin",  "stdout",  "stderr", "core", "termination-log"};
    const char *name = target + sizeof("/dev/") - 1;

    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        if (path_is_beneath(name, places[i]))
            return true;
    return false;
}

bool plan_is_given_device(const struct planner *p, size_t i)
{
    const struct bind_source *s = &p->in->binds->sources[i];
    const char *target = p->in->spec->list[i].destination;

    return p->in->rootless && p->in->policy->security.devices.given && s->device && s->path &&
           !s->target && path_is_clean_absolute(target) && strncmp(target, "/dev/", 5) == 0 &&
           !is_runtimes_place(target);
}

int plan_judge_given_device(struct planner *p, struct plan_op *op)
{
    const struct bind_source *s = op->bind.source;
    const struct policy_place *place = &p->in->policy->security.devices.place;

    if (plan_allows_device(p, s->block, s->major, s->minor))
        return plan_decide(p, op, PLAN_KEPT, place, "a device that may be used");
    op->hint = "leave out --device, or --privileged";
    return plan_decide(p, op, PLAN_DENIED, place, "security.devices: %s (%s %u:%u) is not allowed",
                       s->path, s->block ? "b" : "c", s->major, s->minor);
}

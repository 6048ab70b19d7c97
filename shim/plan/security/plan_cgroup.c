#include "shim/plan/security/plan_security.h"
#include "shim/plan/security/security_deny.h"

#include <string.h>

/*
 * True for a path with "..", and for one without any name. Both runtimes take it for a place in the
 * hierarchy, or for SLICE:PREFIX:NAME of systemd.
 */
static bool is_of_others(const char *path)
{
    bool named = false;

    for (size_t len; *path; path += len + (path[len] != '\0')) {
        len = strcspn(path, "/:");
        if (len == 2 && memcmp(path, "..", 2) == 0)
            return true;
        named = named || (len && !(len == 1 && *path == '.'));
    }
    return !named;
}

int plan_add_cgroup(struct planner *p)
{
    const char *path = json_text(json_path(p->in->spec->root, "linux", "cgroupsPath", NULL));
    const struct policy_place *place;
    const char *judge;

    if (!path || !*path || !is_of_others(path) || !(judge = security_judge(p->in->policy, &place)))
        return 0;
    return deny(p, "linux.cgroupsPath", place,
                "'%.200s' is no cgroup of the container's own, past %s: name one below the "
                "engine's",
                path, judge);
}

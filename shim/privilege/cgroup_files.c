#include "shim/privilege/cgroup_files.h"

#include <string.h>

/* Returns what is wrong with a file of cgroup v2 (podman's --cgroup-conf), or NULL. */
static const char *unified_problem(const char *file)
{
    static const char core[] = "cgroup.", limits[] = "cgroup.max.";

    if (strchr(file, '/'))
        return "is a file of another cgroup";
    return strncmp(file, core, sizeof(core) - 1) == 0 &&
                   strncmp(file, limits, sizeof(limits) - 1) != 0
               ? "moves, stops or kills processes of this host"
               : NULL;
}

static bool find_unified(const struct json *files, struct cgroup_file *out)
{
    for (size_t i = 0; json_is(files, JSON_OBJECT) && i < files->len; i++) {
        const char *name = files->members[i].key, *problem = unified_problem(name);
        *out = (struct cgroup_file){"linux.resources.unified", name, problem};
        if (problem)
            return true;
    }
    return false;
}

bool cgroup_file_find(const struct json *resources, struct cgroup_file *out)
{
    return find_unified(json_get(resources, "unified"), out);
}

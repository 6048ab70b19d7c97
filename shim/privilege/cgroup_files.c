#include "shim/privilege/cgroup_files.h"

#include <net/if.h>
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

/* True for letters and digits, as "2MB". */
static bool is_size(const char *text)
{
    static const char allowed[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    return *text && !text[strspn(text, allowed)];
}

/* True for a name that crun has room for: it prints it into a buffer of 128 bytes. */
static bool is_interface(const char *text)
{
    return strlen(text) < IF_NAMESIZE;
}

/* Finds the first entry of a list whose member is there, but not as it should be. */
static bool find_entry(const struct json *list, const char *member,
                       bool (*is_right)(const char *text), struct cgroup_file *out)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *value = json_get(json_at(list, i), member);
        const char *text = json_text(value);
        out->name = text ? text : "";
        if (value && value->type != JSON_NULL && !(text && is_right(text)))
            return true;
    }
    return false;
}

/* crun makes the name of a file of the size: hugetlb.SIZE.max. */
static bool find_pages(const struct json *list, struct cgroup_file *out)
{
    *out = (struct cgroup_file){.key = "linux.resources.hugepageLimits",
                                .problem = "is no size of pages"};
    return find_entry(list, "pageSize", is_size, out);
}

static bool find_interface(const struct json *list, struct cgroup_file *out)
{
    *out = (struct cgroup_file){.key = "linux.resources.network",
                                .problem = "is no name of an interface"};
    return find_entry(list, "name", is_interface, out);
}

bool cgroup_file_find(const struct json *resources, struct cgroup_file *out)
{
    return find_unified(json_get(resources, "unified"), out) ||
           find_pages(json_get(resources, "hugepageLimits"), out) ||
           find_interface(json_path(resources, "network", "priorities", NULL), out);
}

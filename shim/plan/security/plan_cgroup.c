#include "base/glob.h"
#include "base/path.h"
#include "shim/plan/security/plan_security.h"
#include "shim/plan/security/security_deny.h"
#include "shim/privilege/cgroup_files.h"

#include <string.h>

/*
 * True for a path with "..", and for one without any name, an empty one included. Both runtimes
 * take it for a place in the hierarchy, or for SLICE:PREFIX:NAME of systemd.
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

/* Appends the slice, which is "" for that of the runtime, or the directory above the cgroup. */
static int put_parent(const char *path, struct buf *out, struct err *err)
{
    const char *colon = strchr(path, ':');

    if (!strchr(path, '/') && colon && strchr(colon + 1, ':')) {
        buf_append(out, path, (size_t)(colon - path));
        return buf_check(out, err);
    }
    buf_putc(out, '/');
    if (path_clean(path, strlen(path), out, err) < 0)
        return -1;
    size_t len = (size_t)(strrchr(out->data, '/') - out->data);
    buf_truncate(out, len ? len : 1);
    return 0;
}

static bool is_allowed(const struct policy_list *parents, const char *parent)
{
    for (size_t i = 0; i < parents->count; i++)
        if (glob_matches(parents->items[i], parent))
            return true;
    return !*parent;
}

static int judge_parent(struct planner *p, const char *path)
{
    const struct policy_list *parents = &p->in->policy->security.cgroup_parents;
    _cleanup_buf_ struct buf parent = BUF_INIT;
    struct err why = ERR_INIT;

    if (!parents->given)
        return 0;
    if (put_parent(path, &parent, &why) < 0)
        return deny(p, "security.cgroups", &parents->place, "cgroupsPath: %s", why.msg);
    if (is_allowed(parents, parent.len ? parent.data : ""))
        return 0;
    return deny(p, "security.cgroups", &parents->place,
                "the container's cgroup would be in '%.200s'", parent.data);
}

int plan_add_cgroup_files(struct planner *p)
{
    const struct policy_place *place;
    struct cgroup_file file;

    if (!cgroup_file_find(json_path(p->in->spec->root, "linux", "resources", NULL), &file))
        return 0;
    const char *judge = security_judge(p->in->policy, &place);
    if (!judge)
        return 0;
    return deny_advising(p, file.key, place, "'%.80s' %s, past %s: leave it out", file.name,
                         file.problem, judge);
}

/* True for a name that leads elsewhere below /sys/fs/resctrl, or out of it. */
static bool is_path(const char *name)
{
    return strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

int plan_add_cache_class(struct planner *p)
{
    const struct json *given = json_path(p->in->spec->root, "linux", "intelRdt", "closID", NULL);
    const char *name = json_text(given);
    const struct policy_place *place;
    const char *judge;

    if (!given || given->type == JSON_NULL || (name && !is_path(name)))
        return 0;
    judge = security_judge(p->in->policy, &place);
    if (!judge)
        return 0;
    return deny_advising(p, "linux.intelRdt", place,
                         "'%.200s' is a path, past %s: name a class as closID", name ? name : "",
                         judge);
}

/*
 * True for an option of one mount alone, or one that containerd takes over from the host's mount,
 * which would lose it otherwise.
 */
static bool is_harmless_option(const char *option)
{
    static const char *const harmless[] = {
        "defaults",
        "ro",
        "rw",
        "rro",
        "rrw",
        "suid",
        "nosuid",
        "dev",
        "nodev",
        "exec",
        "noexec",
        "relatime",
        "norelatime",
        "atime",
        "noatime",
        "strictatime",
        "nodiratime",
        "bind",
        "rbind",
        "private",
        "rprivate",
        "slave",
        "rslave",
        "shared",
        "rshared",
        "unbindable",
        "runbindable",
        "nsdelegate",
        "memory_recursiveprot",
    };

    for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
        if (strcmp(option, harmless[i]) == 0)
            return true;
    return false;
}

/* Returns an option of a mount of cgroups that is one of all of them; NULL: it has none. */
static const char *option_of_all(const struct spec_mount *mount)
{
    bool cgroups =
        mount->type && (strcmp(mount->type, "cgroup") == 0 || strcmp(mount->type, "cgroup2") == 0);

    for (size_t i = 0; cgroups && i < json_count(mount->options); i++) {
        const char *option = json_text(json_at(mount->options, i));
        if (!option || !is_harmless_option(option))
            return option ? option : "";
    }
    return NULL;
}

int plan_add_cgroup_mounts(struct planner *p)
{
    const struct policy_place *place;
    const char *judge = security_judge(p->in->policy, &place);

    for (size_t i = 0; judge && i < p->in->spec->mount_count; i++) {
        const struct spec_mount *mount = &p->in->spec->list[i];
        const char *option = option_of_all(mount);
        if (option &&
            deny_advising(p, "mounts", place,
                          "the option '%.80s' of the mount on %.200s would change all cgroups of "
                          "this host, past %s: leave it out",
                          option, mount->destination, judge) < 0)
            return -1;
    }
    return 0;
}

int plan_add_cgroup(struct planner *p)
{
    const char *path = json_text(json_path(p->in->spec->root, "linux", "cgroupsPath", NULL));
    const struct policy_place *place;
    const char *judge;

    if (!path) /* the runtime names a cgroup after the container */
        return 0;
    if (!is_of_others(path) && !p->in->places.cgroup)
        return judge_parent(p, path);
    judge = security_judge(p->in->policy, &place);
    if (!judge)
        return 0;
    if (p->in->places.cgroup)
        return deny(p, "linux.cgroupsPath", place,
                    "'%.200s' has processes already, which would get the container's limits, past "
                    "%s: name one of its own",
                    path, judge);
    return deny(p, "linux.cgroupsPath", place,
                "'%.200s' is no cgroup of the container's own, past %s: name one below the "
                "engine's",
                path, judge);
}

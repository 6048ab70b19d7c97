/* Caches of staged volumes: what keeps copies from being made, or opens them to others. */
#include "shim/admin/check/lint_stage.h"

#include "base/human.h"
#include "base/path.h"
#include "shim/mount/closed_directory.h"
#include "shim/policy/template.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

/* ---- the policy alone ---- */

/* Returns the directory that all sources of a class lie in: "/srv" of "/srv/{name}/x". */
static size_t fixed_length(const char *template)
{
    size_t len = strcspn(template, "{");

    if (!template[len])
        return len;
    while (len > 1 && template[len - 1] != '/')
        len--;
    return len > 1 ? len - 1 : len;
}

/* Returns true if "names" keep the class out of a directory below its fixed part. */
static bool names_exclude(const struct policy_volume *v, const char *below)
{
    while (*below == '/')
        below++;
    _cleanup_free_ char *name = strndup(below, strcspn(below, "/"));
    return v->names.given && v->source_vars == 1u << VAR_NAME && name &&
           !policy_offers_name(v, name);
}

static void lint_circle(const struct policy_volume *v, const char *cache, struct findings *out)
{
    _cleanup_free_ char *fixed = strndup(v->source.text, fixed_length(v->source.text));

    if (!fixed) {
        out->failed = true;
        return;
    }
    bool whole = strcmp(fixed, v->source.text) == 0;
    bool beneath =
        path_is_beneath(cache, fixed) && (whole || !names_exclude(v, cache + strlen(fixed)));
    if (beneath || path_is_beneath(fixed, cache))
        findings_add(out, FINDING_WARNING, "cache-in-source", &v->source.place,
                     "volumes.%s: %s %s the cache %s, and containers could get other users' "
                     "copies: put the cache elsewhere",
                     v->name, fixed,
                     path_is_beneath(fixed, cache) ? "lies in"
                     : whole                       ? "has in it"
                                                   : "may have in it",
                     cache);
}

/* Classes that share a cache are evicted by the limits of whichever makes a copy. */
static void lint_limits(const struct policy_volume *a, const struct policy_volume *b,
                        struct findings *out)
{
    const struct policy_stage *x = &a->stage, *y = &b->stage;

    if (!x->cache.text || strcmp(x->cache.text, y->cache.text) != 0 ||
        (x->max == y->max && x->per_owner == y->per_owner && x->free.bytes == y->free.bytes &&
         x->free.percent == y->free.percent))
        return;
    findings_add(out, FINDING_WARNING, "cache-limits", &y->cache.place,
                 "volumes.%s and volumes.%s share the cache %s with different limits: the limits "
                 "of the class that is copied last count",
                 a->name, b->name, y->cache.text);
}

void lint_stage(const struct policy *policy, struct findings *out)
{
    for (size_t i = 0; i < policy->volume_count; i++) {
        const struct policy_volume *v = &policy->volumes[i];
        if (!v->stage.cache.text)
            continue;
        for (size_t k = 0; k < policy->volume_count; k++)
            lint_circle(&policy->volumes[k], v->stage.cache.text, out);
        for (size_t k = 0; k < i; k++)
            lint_limits(&policy->volumes[k], v, out);
        if (v->stage.max && v->stage.per_owner > v->stage.max)
            findings_add(out, FINDING_WARNING, "cache-limits", &v->stage.cache.place,
                         "volumes.%s: \"per_owner\" is more than \"max\"", v->name);
    }
}

/* ---- this host ---- */

static const char *network_name(const struct statfs *fs)
{
    enum { CEPH = 0x00c36400, NFS = NFS_SUPER_MAGIC, LUSTRE = 0x0bd00bd0 };

    switch ((uint32_t)fs->f_type) {
    case NFS:
        return "NFS";
    case CEPH:
        return "CephFS";
    case LUSTRE:
        return "Lustre";
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
        return "SMB";
    case FUSE_SUPER_MAGIC:
        return "FUSE";
    case TMPFS_MAGIC:
        return "tmpfs, which is memory";
    default:
        return NULL;
    }
}

/* Looks at the file system of the cache, or of the directory in which it would be made. */
static void lint_file_system(const struct policy_volume *v, int fd, struct findings *out)
{
    const struct policy_stage *stage = &v->stage;
    struct statfs fs;
    char max[HUMAN_SIZE], size[HUMAN_SIZE];

    if (fstatfs(fd, &fs) < 0)
        return;
    uint64_t bytes = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
    const char *network = network_name(&fs);
    if (network)
        findings_add(out, FINDING_WARNING, "cache-slow", &stage->cache.place,
                     "volumes.%s: the cache %s is on %s: put it on a local disk", v->name,
                     stage->cache.text, network);
    if (stage->max > bytes)
        findings_add(out, FINDING_WARNING, "cache-small", &stage->cache.place,
                     "volumes.%s: \"max\" is %s, and the file system of %s has %s", v->name,
                     human_size_binary(stage->max, max), stage->cache.text,
                     human_size_binary(bytes, size));
}

/* Opens the deepest directory on the way to a cache that does not exist yet. */
static int open_above(const char *path)
{
    _cleanup_free_ char *at = strdup(path);
    int fd = -1;

    while (at && fd < 0 && strrchr(at, '/')) {
        char *slash = strrchr(at, '/');
        slash[slash == at] = '\0';
        fd = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (slash == at)
            break;
    }
    return fd;
}

static void lint_cache(const struct policy_volume *v, struct findings *out)
{
    _cleanup_free_ char *real = NULL;
    struct err err = ERR_INIT;
    _cleanup_fd_ int fd = closed_directory_open(v->stage.cache.text, false, &real, &err);
    bool missing = fd < 0 && err_missing(&err);
    _cleanup_fd_ int above = missing ? open_above(v->stage.cache.text) : -1;

    if (fd < 0 && !missing)
        findings_add(out, FINDING_WARNING, "cache-refused", &v->stage.cache.place,
                     "volumes.%s: nothing is staged: %s", v->name, err.msg);
    if (fd >= 0 || above >= 0)
        lint_file_system(v, fd >= 0 ? fd : above, out);
}

void lint_stage_host(const struct policy *policy, struct findings *out)
{
    for (size_t i = 0; i < policy->volume_count; i++)
        if (policy->volumes[i].stage.cache.text && geteuid() == 0)
            lint_cache(&policy->volumes[i], out);
}

#include "shim/gather/security/security.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/gather/bind_ids.h"
#include "shim/gather/security/hooks.h"
#include "shim/gather/security/security_user.h"
#include "shim/host/trust.h"
#include "shim/mount/source.h"
#include "shim/privilege/capability.h"
#include "shim/privilege/syscall_filter.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { PROFILE_BYTES = 1024 * 1024 };

/* ---- namespaces ---- */

/* The runtime specification and the policy use the same names, but for two. */
static bool is_namespace(const struct json *entry, enum namespace_kind kind)
{
    const char *type = json_text(json_get(entry, "type"));

    if (!type)
        return false;
    if (kind == NAMESPACE_NET)
        return strcmp(type, "network") == 0;
    if (kind == NAMESPACE_MNT)
        return strcmp(type, "mount") == 0;
    return strcmp(type, namespace_names[kind]) == 0;
}

/* True if the file is that namespace of the process "1" or "self". */
static bool is_namespace_of(const struct stat *st, const char *process, enum namespace_kind kind)
{
    char path[64];
    struct stat own;

    snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, namespace_names[kind]);
    return stat(path, &own) == 0 && own.st_dev == st->st_dev && own.st_ino == st->st_ino;
}

bool security_is_host_namespace(const char *path, enum namespace_kind kind)
{
    struct stat st;

    return stat(path, &st) < 0 || is_namespace_of(&st, "1", kind) ||
           is_namespace_of(&st, "self", kind);
}

/*
 * False for a path where a user could put another namespace before the runtime opens it. That of a
 * process is as it is.
 */
static bool is_steady(const char *path)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    struct err ignored;
    unsigned pid;
    int end = 0;

    if (sscanf(path, "/proc/%u/ns/%*[a-z_]%n", &pid, &end) == 1 && end && !path[end])
        return true;
    return path_is_clean_absolute(path) && source_look(path, &source, &ignored) == 0 &&
           !source.missing && !source.exposed;
}

/*
 * Sets *loose for a path that is not steady. Returns true if one of the namespaces of that kind is
 * the host's, or there is none. runc refuses two of a kind; crun before 1.18 joins them all.
 */
static bool shares_namespace(const struct spec *spec, enum namespace_kind kind, bool *loose)
{
    const struct json *list = json_path(spec->root, "linux", "namespaces", NULL);
    bool own = false;

    *loose = false;
    for (size_t i = 0; i < json_count(list); i++) {
        const char *path = json_text(json_get(json_at(list, i), "path"));
        if (!is_namespace(json_at(list, i), kind))
            continue;
        if (path && *path && security_is_host_namespace(path, kind))
            return true;
        *loose = *loose || (path && *path && !is_steady(path));
        own = true;
    }
    return !own;
}

static void find_namespaces(const struct spec *spec, struct security_facts *out)
{
    for (int kind = 0; kind < NAMESPACE_KINDS; kind++) {
        bool loose;
        if (shares_namespace(spec, (enum namespace_kind)kind, &loose))
            out->host_namespaces |= 1u << kind;
        else if (loose)
            out->loose_namespaces |= 1u << kind;
    }
}

/* ---- filters ---- */

static int read_profile(const char *path, struct json_doc *doc, struct security_facts *out,
                        struct err *err)
{
    static const struct json_options options = {.max_bytes = PROFILE_BYTES, .unique_keys = true};
    _cleanup_source_ struct source source = SOURCE_INIT;
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct stat st;

    if (source_find(path, &source, err) < 0)
        return -1;
    if (source.missing || source.exposed || !source.regular || fstat(source.fd, &st) < 0 ||
        !trust_closed(&st))
        return err_set(err, ERR_POLICY, "not a file that only root can write");
    if (file_read(AT_FDCWD, path, PROFILE_BYTES, &text, err) < 0)
        return -1;
    _cleanup_json_ struct json_doc *profile = json_parse_buf(&text, &options, err);
    if (!profile)
        return -1;
    if (syscall_filter_is_empty(json_root(profile)))
        return err_set(err, ERR_POLICY, "not a seccomp filter in the OCI's form");
    out->profile = json_copy(doc, json_root(profile));
    return out->profile ? 0 : err_nomem(err);
}

static int gather_filter(const struct policy_security *s, const struct spec *spec,
                         struct json_doc *doc, struct arena *arena, struct security_facts *out,
                         struct err *err)
{
    const struct json *filter = json_path(spec->root, "linux", "seccomp", NULL);
    _cleanup_buf_ struct buf allowed = BUF_INIT;

    out->let_through = "";
    if (s->profile.text && syscall_filter_is_empty(filter)) {
        if (read_profile(s->profile.text, doc, out, err) < 0)
            return err_wrap(err, "seccomp profile %s", s->profile.text);
        filter = out->profile;
    }
    if (!s->syscalls.count)
        return 0;
    if (syscall_filter_allowed(filter, s->syscalls.items, s->syscalls.count, &allowed, err) < 0)
        return -1;
    if (allowed.len)
        out->let_through = arena_strndup(arena, allowed.data, allowed.len);
    return out->let_through ? 0 : err_nomem(err);
}

/* ---- all of it ---- */

uint64_t security_capabilities(const struct policy_security *security, bool privileged)
{
    bool bounded = security->max.given && !privileged;

    return (bounded ? security->max.set : ~(uint64_t)0) & ~security->drop.set;
}

static int gather_devices(const struct policy_list *allowed, const struct spec *spec,
                          const struct facts *facts, struct arena *arena,
                          struct security_facts *out, struct err *err)
{
    if (!allowed->given)
        return 0;
    out->maps_ids = spec->uid_map.count && !spec->joins_user_namespace;
    out->ids_other = facts->process.known ? NULL : facts->process.why;
    if (out->maps_ids && facts->process.known &&
        bind_ids_judge(spec, facts, arena, &out->ids_other, err) < 0)
        return -1;
    return security_find_devices(allowed, arena, &out->devices, err);
}

int security_gather(const struct policy *policy, const struct spec *spec, const struct facts *facts,
                    struct json_doc *doc, struct arena *arena, struct security_facts *out,
                    struct err *err)
{
    const struct policy_security *s = &policy->security;

    *out = (struct security_facts){.let_through = ""};
    if (security_find_user(s, spec, arena, out, err) < 0 ||
        security_find_groups(s, spec, facts, arena, out, err) < 0)
        return -1;
    if (s->namespaces.file)
        find_namespaces(spec, out);
    if (gather_devices(&s->devices, spec, facts, arena, out, err) < 0)
        return -1;
    if (s->hooks.deny && hooks_gather(s, spec, arena, out, err) < 0)
        return -1;
    struct err why = ERR_INIT;
    if (security_is_privileged(spec) || gather_filter(s, spec, doc, arena, out, &why) == 0)
        return 0;
    out->profile = NULL;
    out->filter_problem = arena_strndup(arena, why.msg, strlen(why.msg));
    return out->filter_problem ? 0 : err_nomem(err);
}

#include "shim/gather/security/security.h"

#include "base/fdio.h"
#include "shim/gather/bind_ids.h"
#include "shim/gather/security/hooks.h"
#include "shim/gather/security/security_namespaces.h"
#include "shim/gather/security/security_user.h"
#include "shim/host/trust.h"
#include "shim/mount/source.h"
#include "shim/privilege/capability.h"
#include "shim/privilege/syscall_filter.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { PROFILE_BYTES = 1024 * 1024 };

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
    /* First: what is read of a user namespace afterwards is of the one that is held, or fails. */
    if (security_find_namespaces(s, spec, arena, out, err) < 0 ||
        security_find_user(s, spec, arena, out, err) < 0 ||
        security_find_groups(s, spec, facts, arena, out, err) < 0)
        return -1;
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

#include "shim/gather/security/security_user.h"

#include "shim/host/trust.h"
#include "shim/host/users/userns.h"
#include "shim/privilege/root_capability.h"

#include <string.h>

/* The ids of a container's process. */
struct ids {
    bool own;   /* in a user namespace of its own: `uids`, `gids` */
    bool known; /* else they could be the host's */
    struct id_map uids, gids;
};

/* ---- the ids ---- */

static int find_ids(const struct spec *spec, struct ids *out, struct arena *arena,
                    const char **problem, struct err *err)
{
    struct err why = ERR_INIT;

    *out = (struct ids){.own = spec->joins_user_namespace || spec->uid_map.count,
                        .known = !spec->joins_user_namespace,
                        .uids = spec->uid_map,
                        .gids = spec->gid_map};
    if (out->known)
        return 0;
    if (!spec->user_namespace) {
        err_set(&why, ERR_UNSUPPORTED, "linux.uidMappings or gidMappings are missing");
    } else if (namespace_is_host(spec->user_namespace, NAMESPACE_USER)) {
        out->own = false;
        out->known = true;
        return 0;
    } else if (userns_maps(spec->user_namespace, &out->uids, &out->gids, &why) == 0) {
        out->known = true;
        return 0;
    }
    *problem = arena_strndup(arena, why.msg, strlen(why.msg));
    return *problem ? 0 : err_nomem(err);
}

static int find_root_inside(const struct ids *ids, struct arena *arena, const char **out,
                            struct err *err)
{
    const struct id_range *uid = id_map_root(&ids->uids), *gid = id_map_root(&ids->gids);
    char text[32];

    if (!uid && !gid)
        return 0;
    snprintf(text, sizeof(text), "%s %u", uid ? "uid" : "gid", (uid ? uid : gid)->inside);
    *out = arena_strndup(arena, text, strlen(text));
    return *out ? 0 : err_nomem(err);
}

/* ---- the process ---- */

static bool is_root(const struct spec *spec, const struct ids *ids)
{
    uint32_t uid = spec->uid;

    return (!ids->own || !ids->known || id_map_outside(&ids->uids, spec->uid, &uid)) && uid == 0;
}

/* Capabilities that are not ambient go when a process that is not root executes its program. */
static int find_root_capabilities(const struct policy_security *s, const struct spec *spec,
                                  struct arena *arena, const char **out, struct err *err)
{
    uint64_t kept = security_capabilities(s, security_is_privileged(spec));
    _cleanup_buf_ struct buf text = BUF_INIT;

    root_capability_print(spec->process, kept, &text);
    if (text.failed)
        return err_nomem(err);
    if (!text.len)
        return 0;
    *out = arena_strndup(arena, text.data, text.len);
    return *out ? 0 : err_nomem(err);
}

int security_find_user(const struct policy_security *s, const struct spec *spec,
                       struct arena *arena, struct security_facts *out, struct err *err)
{
    struct ids ids;

    if (!s->root.deny)
        return 0;
    out->own_ids = trust_in_user_namespace();
    if (!spec->process || out->own_ids)
        return 0;
    if (find_ids(spec, &ids, arena, &out->ids_problem, err) < 0)
        return -1;
    out->host_root = is_root(spec, &ids);
    out->own_ids = ids.own && ids.known;
    if (out->own_ids)
        return find_root_inside(&ids, arena, &out->root_inside, err);
    return find_root_capabilities(s, spec, arena, &out->root_by, err);
}

/*
 * Who a container belongs to, by the rules of the policy ("identity", first that applies), and who
 * its process is on the host.
 *
 *  - "process": process.user.uid through linux.uidMappings. Applies unless the runtime is rootless.
 *  - "rootless": the user who runs a rootless runtime: its own uid, through /proc/self/uid_map.
 *  - "annotation:KEY": a user name or a uid that the engine (not the user!) put there.
 *
 * Reads /proc/self/uid_map and the user database, and each only where it is needed.
 */
#ifndef SHIM_IDENTITY_H
#define SHIM_IDENTITY_H

#include "shim/oci/spec.h"
#include "shim/policy/policy.h"

struct id_pair {
    bool known;
    uid_t uid;
    gid_t gid;
    const char *why; /* where it is not known; never NULL then */
};

/* The container's process as this runtime's user namespace sees it: who makes and owns files. */
struct id_pair identity_process(const struct spec *spec);

/* Its supplementary groups, as far as they are mapped: their number; `out` has room for all. */
size_t identity_groups(const struct spec *spec, gid_t *out);

/* The first rule that applies. An annotation that names nobody is ERR_POLICY. */
int identity_find(const struct policy *policy, const struct spec *spec, struct id_pair *out,
                  struct err *err) must_check;

/*
 * The user's name, or his number if he has none, in the arena. ERR_POLICY if nobody can tell: an
 * outage of the user database must not make another name of his.
 */
int identity_user_name(uid_t uid, struct arena *arena, const char **out,
                       struct err *err) must_check;

#endif

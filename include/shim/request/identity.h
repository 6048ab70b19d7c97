/*
 * The owner of a container, by the rules of the policy ("identity", the first that applies), and
 * the ids of its process on the host.
 *
 *  - "process": process.user.uid through linux.uidMappings. Applies unless the runtime is rootless.
 *  - "rootless": the user who runs a rootless runtime: its own uid, through /proc/self/uid_map.
 *  - "annotation:KEY": a user name or a uid that the engine, not the user, put there.
 *
 * Reads /proc/self/uid_map and the user database, each only if a rule needs it.
 */
#ifndef SHIM_IDENTITY_H
#define SHIM_IDENTITY_H

#include "shim/oci/spec.h"
#include "shim/policy/policy.h"

struct id_pair {
    bool known;
    uid_t uid;
    gid_t gid;
    const char *why; /* it is not known; never NULL then */
};

/*
 * Returns the ids of the container's process as the user namespace of this runtime sees them: those
 * that make and own files.
 */
struct id_pair identity_process(const struct spec *spec);

/*
 * Writes the supplementary groups of the process, as far as they are mapped, to `out`, which has
 * room for spec->group_count of them. Returns their number.
 */
size_t identity_groups(const struct spec *spec, gid_t *out);

/* Finds the owner by the first rule that applies. ERR_POLICY: an annotation names no user. */
int identity_find(const struct policy *policy, const struct spec *spec, struct id_pair *out,
                  struct err *err) must_check;

/*
 * Finds the name of a user, or the number in digits for a user without a name; in the arena.
 * ERR_POLICY if the user database did not answer: an outage must not give the user another name.
 */
int identity_user_name(uid_t uid, struct arena *arena, const char **out,
                       struct err *err) must_check;

#endif

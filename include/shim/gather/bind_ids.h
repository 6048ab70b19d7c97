/*
 * The ids that a container's processes can take on in their user namespace, by setuid(2) and
 * setgid(2): all that are mapped. Access is only tried for those that the process begins with, so
 * the others must be of the same owner.
 */
#ifndef SHIM_BIND_IDS_H
#define SHIM_BIND_IDS_H

#include "shim/request/facts.h"

/*
 * Sets *problem to the reason why the ids that are mapped are another owner's, or to NULL: 0 of the
 * host, or one that is neither the process's own, nor in the same range of /etc/subuid (subuid(5))
 * or /etc/subgid as that, nor in a range of the process's user. Fails without memory.
 */
int bind_ids_judge(const struct spec *spec, const struct facts *facts, struct arena *arena,
                   const char **problem, struct err *err) must_check;

/*
 * Returns true if a line of the text, in the format of subuid(5), holds all ids of the range, and
 * holds `own` or names the user `uid` by its number or its name (NULL: none). Pure.
 */
bool bind_ids_share(const char *text, const struct id_range *range, uint32_t own, uid_t uid,
                    const char *name);

/*
 * Returns true if only root can replace the directory named `id` on the way to `path`, and only
 * root and the ids of the map what is in it: podman gives its directory of a container with mapped
 * ids to the container's root. `path` is absolute and has no symbolic links.
 */
bool bind_ids_alone(const char *path, const char *id, const struct id_map *uids);

#endif

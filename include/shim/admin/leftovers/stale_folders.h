/* Folders that volumes made for containers that no engine lists, for flatbed stale. */
#ifndef SHIM_STALE_FOLDERS_H
#define SHIM_STALE_FOLDERS_H

#include "shim/admin/stale/stale.h"

/*
 * Adds the folders of a policy's volumes (NULL: the host's policy), also private sides of pools,
 * that are named by the ID of a container, hold something, are not mounted, and whose container
 * neither Docker, podman nor the database of containerd lists. They are only listed: users' data
 * may be in them, and the containers of users' own engines are not known. A policy that does not
 * load, or a store that does not answer, is a problem of the list.
 */
int stale_folders(const char *policy, const struct stale_limits *limits, struct stale_list *out,
                  struct err *err) must_check;

#endif

/* The ids of another user namespace, as this process sees them (user_namespaces(7)). */
#ifndef SHIM_USERNS_H
#define SHIM_USERNS_H

#include "shim/host/users/idmap.h"

/*
 * Fills the maps of the user namespace that the file is, by a child that joins it. Needs
 * CAP_SYS_ADMIN there. ERR_SYSTEM or ERR_UNSUPPORTED if it cannot be joined, such as the own one.
 */
int userns_maps(const char *path, struct id_map *uids, struct id_map *gids,
                struct err *err) must_check;

#endif

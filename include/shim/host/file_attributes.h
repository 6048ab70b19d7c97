/*
 * The attributes that a file takes over from the one that it replaces: owner, mode and SELinux
 * label.
 */
#ifndef SHIM_ATTRIBUTES_H
#define SHIM_ATTRIBUTES_H

#include "base/cleanup.h"
#include "base/err.h"

#include <sys/stat.h>

/*
 * Copies them from the open file `from`, whose stat is `like`, to the open file `to`. Without
 * root the owner and the group may stay; in a user namespace the group may. ERR_SYSTEM.
 */
int attributes_copy(int from, const struct stat *like, int to, struct err *err) must_check;

#endif

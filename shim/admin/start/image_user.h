/* The user of an image: "", "UID", "NAME", each also with ":GID" or ":GROUP". */
#ifndef SHIM_START_IMAGE_USER_H
#define SHIM_START_IMAGE_USER_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdint.h>

struct image_user {
    uint32_t uid, gid;
};

/*
 * Looks names up in etc/passwd and etc/group below `rootfs`; links there lead nowhere else. A
 * user that is given without a group has the group of etc/passwd, or 0. ERR_FORMAT for a name that
 * is not there.
 */
int image_user_find(const char *rootfs, const char *text, struct image_user *out,
                    struct err *err) must_check;

#endif

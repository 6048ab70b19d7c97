/*
 * The owners of an image's files: the packages that its package managers installed.
 */
#ifndef FLATTEN_OWNERS_H
#define FLATTEN_OWNERS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "flatten/merge/tree/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum owner_kind {
    OWNER_UNOWNED,
    OWNER_DPKG,
    OWNER_APK,
    OWNER_RPM,
    OWNER_PIP,
    OWNER_CONDA,
    OWNER_NPM,
};

/* How often the files of an owner change between versions of an image, least often first. */
enum owner_tier {
    TIER_SYSTEM,
    TIER_TOOLCHAIN,
    TIER_FRAMEWORK,
    TIER_PACKAGE,
    TIER_APPLICATION,
    TIER_STATE,
};

struct owner {
    enum owner_kind kind;
    enum owner_tier tier;
    char *name;    /* "libc6", "torch", never NULL: stable from version to version */
    char *version; /* "2.36-9", or NULL */
};

struct owners {
    struct owner *list; /* [0]: OWNER_UNOWNED, TIER_APPLICATION, ""; [1]: TIER_STATE, "state" */
    size_t count, cap;
    uint32_t *by_node; /* index into list; directories: 0 */
    size_t node_count;
};

#endif

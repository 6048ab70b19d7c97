/*
 * Owners of files: the packages that a file of an image belongs to, as the databases of package
 * managers in the image say, and how often the files of such an owner change.
 *
 * An image is hostile input. A database that is broken, or that lies, makes other owners, never an
 * error. A path that several packages claim belongs to the one of the kind that comes last in enum
 * owner_kind, and among packages of one kind to the one whose name comes first. The result does not
 * depend on the order of the nodes.
 *
 * Read are:
 *   dpkg   var/lib/dpkg: info/NAME.list, info/NAME:ARCH.list, status for versions, diversions;
 *          status.d/NAME with NAME.md5sums (images without a package manager)
 *   apk    lib/apk/db/installed, usr/lib/apk/db/installed
 *   rpm    rpmdb.sqlite in var/lib/rpm and usr/lib/sysimage/rpm; the formats before it are not read
 *   npm    DIR/node_modules/NAME and DIR/node_modules/@SCOPE/NAME with a package.json, with all
 *          that lies below and in no nested package
 *   pip    DIR/NAME-VERSION.dist-info/RECORD, DIR/NAME-VERSION.egg-info/installed-files.txt
 *   conda  PREFIX/conda-meta/NAME-VERSION-BUILD.json
 *
 * Two rules follow. A compiled .pyc file belongs to the owner of its source. A symbolic link that
 * nobody owns belongs to the owner of the file that it leads to, if it points to a name in its own
 * directory, or is one of update-alternatives. State (state.c) overrides all of these.
 *
 * Limits: OWNERS_MOST owners, 4 MiB of their names and versions, 255 bytes a name, 64 KiB a line,
 * 64 MiB a database (rpm's: 8 MiB a package), 1 MiB of diversions, and for all databases of an
 * image, with the symbolic links followed for them, 64 MiB and 512 bytes a path. What lies beyond
 * is not read and counted in `cut`. Memory is at most 16 MiB, and 5 bytes a path; time is linear in
 * the number of paths and the bytes read.
 */
#ifndef FLATTEN_OWNERS_H
#define FLATTEN_OWNERS_H

#include "base/arena.h"
#include "base/err.h"
#include "flatten/merge/tree/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OWNERS_MOST = 32768 };

/*
 * Package managers; a later one overrides an earlier one. Explicit lists of pip and conda override
 * npm, whose packages are whole directories; all three override the packages of a distribution,
 * unless the list (package.json for npm) is a file of such a package: python3-pip has a RECORD, and
 * nodejs the packages of npm, but nothing of it was installed by pip or npm.
 */
enum owner_kind {
    OWNER_UNOWNED,
    OWNER_RPM,
    OWNER_APK,
    OWNER_DPKG,
    OWNER_NPM,
    OWNER_PIP,
    OWNER_CONDA
};

/* Tiers of owners by how often their files change between versions, least often first. */
enum owner_tier {
    TIER_SYSTEM,
    TIER_TOOLCHAIN,
    TIER_FRAMEWORK,
    TIER_PACKAGE,
    TIER_APPLICATION,
    TIER_STATE
};

/* All copies of a package in an image are one owner: a pair of kind and name occurs once. */
struct owner {
    enum owner_kind kind;
    enum owner_tier tier;
    char *name;    /* "libc6", "torch"; for pip as PEP 503 normalises it. Never NULL. */
    char *version; /* "2.36-9"; NULL if it is unknown, or if several versions are installed */
};

enum { OWNERS_NOBODY = 0, OWNERS_STATE = 1 }; /* indexes */

struct owners {
    /*
     * list[OWNERS_NOBODY] is OWNER_UNOWNED, TIER_APPLICATION, ""; list[OWNERS_STATE] is
     * OWNER_UNOWNED, TIER_STATE, "state". The others follow by kind and name. Some have no file.
     */
    struct owner *list;
    size_t count, cap;
    uint32_t *by_node; /* by node: index into list; OWNERS_NOBODY for directories */
    size_t node_count;
    size_t cut;      /* databases, owners and diversions beyond the limits */
    bool rpm_unread; /* the image has a database of rpm that is not read */
    struct arena texts;
};

/* The image that owners are found in: its paths, and the content of its files. */
struct owner_source {
    /* Borrowed; has all paths, and may have others, with nothing there. None is added. */
    struct tree *tree;
    /* Returns the size of the regular file at the node; -1 if there is none. */
    int64_t (*size)(void *ctx, uint32_t node);
    /* Reads `len` bytes at `offset` of the regular file at the node, all within its size. */
    int (*read)(void *ctx, uint32_t node, uint64_t offset, void *data, size_t len, struct err *err);
    bool (*is_dir)(void *ctx, uint32_t node);
    /* Returns the target of the symbolic link at the node, valid until the next call; or NULL. */
    const char *(*link)(void *ctx, uint32_t node);
    void *ctx;
};

/*
 * Finds the owners of all files. Fails only without memory, or if reading fails. The caller calls
 * owners_clear in any case.
 */
int owners_find(const struct owner_source *source, struct owners *out, struct err *err) must_check;

/*
 * Returns true if owners_find may read a file of this name: for callers that must choose which
 * content they keep. A database whose directory has another name, behind a symbolic link, is not
 * recognised.
 */
bool owners_is_database(const struct tree *tree, uint32_t node);

/*
 * Returns the one of two owners that has a file which both claim: also for the names of a hard
 * link, such as in conda's pkgs/ and in an environment.
 */
uint32_t owners_stronger(const struct owners *o, uint32_t a, uint32_t b);

/* Frees the lists and texts. Safe on a zeroed struct. */
void owners_clear(struct owners *o);

#define _cleanup_owners_ _cleanup_(owners_clear)

#endif

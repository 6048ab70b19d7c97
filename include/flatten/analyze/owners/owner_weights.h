/*
 * The weight of each package of an image: bytes and files that a container sees, and those that
 * newer layers hide. The packages are found by flatten/carve/owners, so `flatten carve` has the
 * same.
 *
 * A file that shows belongs to the package that the image's databases give it to. One that is
 * hidden belongs to the package that has its path, by the databases as they are or, of packages
 * that were removed, by the newest copy of their lists. A file without a package belongs to its
 * directory: the first two names of its path, as in /opt/app.
 */
#ifndef FLATTEN_OWNER_WEIGHTS_H
#define FLATTEN_OWNER_WEIGHTS_H

#include "flatten/analyze/bytes/kept_files.h"
#include "flatten/analyze/bytes/layer_stack.h"
#include "flatten/carve/owners/owners.h"

/* Directories in a list; files of further ones count to the root. */
enum { OWNER_MOST_DIRS = 4096 };

/* All borrowed. */
struct owner_input {
    const struct layer_stack *stack;    /* with killers: after dead_attribute */
    const struct kept_files *databases; /* by owners_is_database */
    char *const *symlinks;              /* targets by inode, NULL for others */
    size_t symlink_count;
};

struct owner_weight {
    enum owner_kind kind;
    uint32_t dir;              /* the directory of files without a package, else TREE_NONE */
    const char *name;          /* of the package, or "state" (owners.h); NULL for a directory */
    const char *version;       /* NULL if unknown */
    uint64_t files, live;      /* files that show, and their bytes */
    uint64_t dead_files, dead; /* hidden files, and their bytes */
    const uint8_t *layers;     /* a bit for each layer that has a file of it: owner_in_layer */
};

struct owner_report {
    struct owner_weight *list; /* without owners of no file; most bytes first */
    size_t count;
    struct owners now;  /* of the files that show */
    struct owners ever; /* also of those that are hidden; empty if none is */
    uint8_t *layers;
    size_t cut;      /* databases, owners and diversions beyond the limits */
    bool rpm_unread; /* the image has a database of rpm that is not read */
};

/* Frees what it owns, and zeroes it. */
void owner_report_clear(struct owner_report *r);

#define _cleanup_owner_report_ _cleanup_(owner_report_clear)

/* Finds the owners and weighs them. The caller clears *out, also after a failure. */
int owner_weights_find(const struct owner_input *in, struct owner_report *out,
                       struct err *err) must_check;

/* Returns true if the layer of that number has a file of the owner. */
bool owner_in_layer(const struct owner_weight *w, unsigned layer);

/* Returns "dpkg", "pip", …; "state" and "directory" for files of no package. */
const char *owner_kind_key(const struct owner_weight *w);

#endif

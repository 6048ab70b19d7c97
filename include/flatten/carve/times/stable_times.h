/*
 * Stable times: what is the same in two versions of an image but for its time takes the time that
 * it had in the previous version. So a file that was only installed again stays in its layer.
 *
 * A file takes it if all its names are the same in the previous version and have one time there. A
 * .py and its .pyc files take it together or not at all: the .pyc names its source's time
 * (python_pairs.h). A directory takes it where mode, owner and attributes are the same.
 */
#ifndef FLATTEN_STABLE_TIMES_H
#define FLATTEN_STABLE_TIMES_H

#include "flatten/carve/spool/identity.h"

struct spool;

/* The previous version. Borrowed, all of it. */
struct times_source {
    const struct layout_previous *view;  /* of the spool's tree */
    const struct identity_stamp *stamps; /* by entry, of files at their first name */
};

/* Counts of paths that got another time than they have in the source. */
struct stable_times {
    uint64_t files; /* inodes */
    uint64_t directories;
    uint64_t paths; /* names of both */
};

/*
 * Sets the times in the spool, which is finished, and in `stamps` and `identities`, which are by
 * record of the spool. *out counts them.
 */
int stable_times_take(const struct spool *s, struct identity_stamp *stamps,
                      struct layout_identity *identities, const struct times_source *previous,
                      struct stable_times *out, struct err *err) must_check;

#endif

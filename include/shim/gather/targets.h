/*
 * Finds where the destination of a mount leads in a container: an image may have symbolic links on
 * the way, which the low-level runtime follows as if the container's root were "/" (openat2(2),
 * RESOLVE_IN_ROOT). It follows those within earlier mounts as well. Nobody changes the root
 * meanwhile, but users may change what is mounted: behind the mount point of a file system that is
 * not of the kernel, a way is not followed, and is to be checked when the mount is made.
 */
#ifndef SHIM_TARGETS_H
#define SHIM_TARGETS_H

#include "base/arena.h"
#include "base/buf.h"
#include "shim/oci/spec.h"

enum target_content {
    TARGET_OF_ROOT, /* what the root has there, such as a tmpfs with "tmpcopyup" */
    TARGET_EMPTY,   /* nothing that is a link */
    TARGET_FOREIGN, /* any links: a bind mount, proc */
};

/* A mount, and where it is. */
struct target {
    const char *path; /* clean and absolute, without links */
    enum target_content content;
    bool proc;     /* its type */
    bool foreign;  /* the way leads through a mount with foreign content */
    bool covers;   /* an earlier mount on the path has foreign content */
    size_t within; /* the index of the mount that holds the mount point, or TARGET_ROOT */
};

#define TARGET_ROOT SIZE_MAX

struct targets {
    struct target *list; /* one for each mount of the container, in order */
    size_t count;
};

/*
 * Opens the container's root, relative to the directory `bundle`. Returns a descriptor that the
 * caller closes, or -1 if there is none: the low-level runtime then says what is wrong.
 */
int targets_root(const struct spec *spec, int bundle);

/*
 * Finds all targets, into the arena. A part that does not exist stays as it is written. `root` is
 * an open directory, or -1: no link is followed. ERR_POLICY for a target with so many links on the
 * way, or so long, that the kernel would give up: runc goes on by itself; and for one in a
 * directory of a process in proc, whose links lead back to the root.
 */
int targets_find(const struct spec *spec, int root, struct arena *arena, struct targets *out,
                 struct err *err) must_check;

/*
 * Finds where another path leads when all mounts are made; `path` is absolute. The target has no
 * content of its own. ERR_FORMAT for a path that leaves the root by "..", or that cannot be
 * followed as in targets_find.
 */
int targets_lead(const struct targets *mounts, int root, const char *path, struct arena *arena,
                 struct target *out, struct err *err) must_check;

#endif

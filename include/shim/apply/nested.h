/*
 * Mounts whose targets lie below other mounts of the container, or in a root that is not an
 * engine's.
 *
 * The low-level runtime finds a target by its path in the container, below earlier mounts as well.
 * A user who can change what is there can put a symbolic link on the way at any time, and
 * have the mount made elsewhere. No check beforehand can exclude that. Therefore config.json gets a
 * createContainer hook (runtime-spec, config.md#posix-platform-hooks): this program, which compares
 * the container's table of mounts with the places where they should be before the container's
 * process starts.
 */
#ifndef SHIM_NESTED_H
#define SHIM_NESTED_H

#include "shim/oci/spec.h"

struct nested_options {
    int bundle;     /* the open directory that relative sources start from */
    bool links;     /* symbolic links of mounts are refused, and the hook is put in */
    bool open_root; /* the root is not an engine's: users may own directories in it */
    bool restoring; /* a checkpoint: its mounts are made without hooks */
};

/*
 * Checks the mounts of config.json as the low-level runtime will get it; `spec` is a view of `doc`.
 * ERR_POLICY for a target that a read-only bind mount above it does not have (crun would make it in
 * the source), for a copy of what users can change ("tmpcopyup"), and, with `links`, for one
 * behind a symbolic link of such a mount. Sets *changed if it put in the hook, or put in another
 * one.
 */
int nested_secure(const struct spec *spec, struct json_doc *doc,
                  const struct nested_options *options, struct arena *arena, bool *changed,
                  struct err *err) must_check;

#endif

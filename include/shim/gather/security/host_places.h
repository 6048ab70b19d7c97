/*
 * Places of the host that the low-level runtime would change as root, beyond mounts: where /dev of
 * the container's root leads, and the cgroup that config.json names.
 */
#ifndef SHIM_HOST_PLACES_H
#define SHIM_HOST_PLACES_H

#include "shim/oci/spec.h"

struct host_places {
    /*
     * The target of the symbolic link /dev in the container's root; NULL: it is none. runc
     * (setupDev: links, ptmx) and crun (nodes) open it by path, and follow it on the host.
     */
    const char *dev_link;
    /*
     * A node of linux.devices, or of those that the runtime makes by itself, that would be behind a
     * link or in a mount that users can change: there a user can put a link in its place before the
     * runtime gives it to its owner. NULL: there is none.
     */
    const char *node;
    /*
     * process.cwd, if it is missing in a bind mount: the runtime makes it there as root, crun also
     * in one that is read-only afterwards. NULL: it is not.
     */
    const char *cwd;
    const struct spec_mount *cwd_mount; /* of `cwd`; NULL: the path leaves the root */
    /*
     * A mount point or process.cwd is in a mount that users can change: they can lead it elsewhere
     * by a link after it was looked at, and crun makes what is missing there as root, also in a
     * bind mount that it makes read-only afterwards.
     */
    bool loose;
    /* The cgroup of linux.cgroupsPath, if processes are in it or below it; NULL: there are none. */
    const char *cgroup;
};

/*
 * Looks at them; `bundle` is the open directory that a relative root starts from. Texts are in the
 * arena. Does not look at cgroups for a rootless runtime, whose user has them. Fails without
 * memory, or as targets_find does.
 */
int host_places_gather(const struct spec *spec, int bundle, struct arena *arena,
                       struct host_places *out, struct err *err) must_check;

#endif

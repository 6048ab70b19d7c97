/*
 * Sources that a user could swap between our check and the mount are pinned: bound, by descriptor,
 * into a tmpfs of a private mount namespace, which the low-level runtime inherits. It then mounts
 * what was checked, whatever the path shows by that time.
 *
 * Binding /proc/self/fd/N works only for descriptors of the same namespace, so sources are opened
 * after pin_begin. The namespace receives mounts from the host (rslave), but gives none back:
 * `rshared` volumes of such a container do not propagate to the host.
 *
 * The paths (mount_entry_pin_path) are the same each time, so that a document edited before is
 * recognised.
 */
#ifndef SHIM_PIN_H
#define SHIM_PIN_H

#include "shim/mount/source.h"

#define PIN_DIRECTORY "/run/flatbed/pin"

/* Enters a private mount namespace with an empty tmpfs on PIN_DIRECTORY. Cannot be undone. */
int pin_begin(struct err *err) must_check;

struct pin_options {
    bool read_only, nosuid, nodev, noexec;
    bool alone;  /* without what is mounted below it */
    bool closed; /* mounts that come later on the host do not show */
};

/*
 * Binds an open source, with what is mounted below it, to a path directly in PIN_DIRECTORY. The
 * options hold for all of it. Where mount_setattr(2) does not work, a source with other mounts
 * below it is an error, and the options of any other are left to the low-level runtime.
 */
int pin_add(const struct source *source, const char *path, const struct pin_options *options,
            struct err *err) must_check;

#endif

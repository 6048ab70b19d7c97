/*
 * What is mounted below a source. A recursive bind takes it along, but `ro`, `nosuid` and `nodev`
 * of a bind hold for its topmost mount alone (mount(8); runc and crun know `rro` only where they
 * and the kernel are new enough). Such a source is pinned, and the options set on all of the pin.
 */
#ifndef SHIM_SUBMOUNTS_H
#define SHIM_SUBMOUNTS_H

#include "shim/source.h"

/* True if a line of /proc/PID/mountinfo has a mount point beneath the (clean, absolute) path. */
bool submounts_listed(const char *mountinfo, const char *path);

/* Asks that of an open source in this mount namespace. */
int submounts_find(const struct source *source, bool *out, struct err *err) must_check;

#endif

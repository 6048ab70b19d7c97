/* Results that killed runs of flatten and flatbed left unfinished, for flatbed stale. */
#ifndef SHIM_STALE_UNFINISHED_H
#define SHIM_STALE_UNFINISHED_H

#include "shim/admin/stale/stale.h"

/*
 * Adds the unfinished archives, layouts, trees and files in a directory whose locks are free
 * (base/files/unfinished.h, base/files/atomic_file.h), and removes them if `limits` says so, as the
 * user whose they are. A directory that does not answer, or on a file system that other hosts may
 * write to, is a problem of the list; so is a missing one if it was `asked` for.
 */
int stale_unfinished(const char *path, bool asked, const struct stale_limits *limits,
                     struct stale_list *out, struct err *err) must_check;

/* The same for the directories of this host to which root's flatbed writes; others have none. */
int stale_usual_unfinished(const struct stale_limits *limits, struct stale_list *out,
                           struct err *err) must_check;

#endif

/* Landlock: the files that this process can reach by name
 * (Documentation/userspace-api/landlock.rst). */
#ifndef BASE_LANDLOCK_H
#define BASE_LANDLOCK_H

#include "base/cleanup.h"
#include "base/err.h"

/*
 * Leaves the process, for good, the files beneath the directory `dir`, or none with -1. Files that
 * are open stay open. The process must have no_new_privs. Does nothing on a kernel without
 * Landlock; with a directory, also where Landlock forbids all hard links (before Linux 5.19).
 */
int landlock_confine(int dir, struct err *err) must_check;

#endif

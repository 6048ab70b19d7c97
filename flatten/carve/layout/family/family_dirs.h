/* The directories that the state layers of several images describe. */
#ifndef FLATTEN_FAMILY_DIRS_H
#define FLATTEN_FAMILY_DIRS_H

#include "flatten/carve/layout/family/layout_family.h"

/*
 * Sets f->in_state; the rest of *f is there.
 *
 * A layer of several images has one header for a directory: its true one if that is the same in all
 * of them and no other layer of any has the directory; else a neutral one, and the state layers of
 * all of them describe it. A state layer that describes a directory has those above it, too.
 */
int family_dirs_find(const struct layout_family_input *in, struct layout_family *f,
                     struct err *err) must_check;

#endif

/* The checks of mounts that users could move meanwhile (nested.h), and of groups by name
 * (named_groups.h), as operations of an explanation. */
#ifndef SHIM_CHECKS_H
#define SHIM_CHECKS_H

#include "shim/admin/explain/explain.h"

/*
 * Applies the decision to the document, as flatbed-runtime would, and appends to e->ops the mounts
 * that are then refused ("denied"), as is a group, and those that the hook compares ("checked").
 * The first kind sets e->refused. The document is not written; views of it are stale afterwards.
 */
int checks_add(struct explanation *e, const struct explain_subject *subject, struct arena *arena,
               struct err *err) must_check;

#endif

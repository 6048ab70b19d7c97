/*
 * The files of a layer stack as owners_find reads them: those that show, or also the newest copies
 * of those that do not.
 */
#ifndef FLATTEN_OWNER_VIEW_H
#define FLATTEN_OWNER_VIEW_H

#include "flatten/analyze/owners/owner_weights.h"

struct owner_view {
    const struct owner_input *in; /* borrowed */
    uint32_t *records; /* by node: the record that shows, else the newest that is no whiteout, else
                          STACK_NONE */
    bool *shows;       /* by node */
    bool hidden;       /* files that do not show are there, too */
};

/* Prepares the view of what shows. The caller clears it, also after a failure. */
int owner_view_init(struct owner_view *v, const struct owner_input *in, struct err *err) must_check;

/* Frees what it owns. */
void owner_view_clear(struct owner_view *v);

/* Returns the source for owners_find; it borrows the view. */
struct owner_source owner_view_source(struct owner_view *v);

#endif

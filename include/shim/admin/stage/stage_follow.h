/* Copies a source for the command line: starts the copier, and shows how far it is. */
#ifndef ADMIN_STAGE_FOLLOW_H
#define ADMIN_STAGE_FOLLOW_H

#include "shim/admin/stage/stage_target.h"

/*
 * Starts a copy in the background, unless there is one. With `wait`, returns when it is there or
 * has failed; `show` draws a bar on standard error meanwhile. *out says how it stands; the caller
 * closes it (stage_offer_close).
 */
int stage_follow(const struct stage_target *target, bool wait, bool show, struct arena *arena,
                 struct stage_offer *out, struct err *err) must_check;

#endif

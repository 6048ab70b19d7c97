/*
 * Puts a decision into config.json. Pure: only the document is edited.
 *
 * A mount goes behind the container's mounts, except that it never hides one: it comes before the
 * first mount that lies beneath it, and behind everything that it lies beneath (mounts apply in
 * order: runtime-spec, config.md#mounts).
 */
#ifndef SHIM_APPLY_H
#define SHIM_APPLY_H

#include "shim/plan/decision/decision.h"

/*
 * Applies the operations that change something. `spec` is a view of `doc`, and stale afterwards.
 * Fails with ERR_SYSTEM only when memory is short.
 */
int apply_decision(const struct decision *decision, struct json_doc *doc, const struct spec *spec,
                   struct err *err) must_check;

/*
 * Fills *out with a view of the container whose mounts, and their order, are those that
 * apply_decision would make. `doc` owns new entries, but is not changed. Lists are in the arena.
 * Fails only without memory.
 */
int apply_foresee(const struct decision *decision, struct json_doc *doc, const struct spec *spec,
                  struct arena *arena, struct spec *out, struct err *err) must_check;

#endif

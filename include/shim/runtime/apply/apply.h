/*
 * Puts a decision into config.json. Pure: only the document is edited.
 *
 * A mount goes behind the container's mounts, except that it never hides one: it comes before the
 * first mount that lies beneath it, and behind everything that it lies beneath (mounts apply in
 * order: runtime-spec, config.md#mounts).
 */
#ifndef SHIM_APPLY_H
#define SHIM_APPLY_H

#include "shim/plan/decision.h"

/* Restricts the user's mounts, and puts in the paths where their sources are held. */
void apply_binds(const struct decision *decision, struct json_doc *doc);

/* Takes capabilities away, and puts in what "security" demands. */
void apply_security(const struct decision *decision, struct json_doc *doc, const struct spec *spec);

/* Sizes /dev/shm and sets resource limits. */
void apply_tuning(const struct decision *decision, struct json_doc *doc, const struct spec *spec);

/* Applies the operations that change something. ERR_SYSTEM without memory. */
int apply_decision(const struct decision *decision, struct json_doc *doc, const struct spec *spec,
                   struct err *err) must_check;

#endif

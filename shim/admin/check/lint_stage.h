/* Findings about caches of staged volumes. */
#ifndef SHIM_LINT_STAGE_H
#define SHIM_LINT_STAGE_H

#include "shim/admin/check/findings.h"

/* Adds findings from the policy alone: caches within sources, limits that contradict. Pure. */
void lint_stage(const struct policy *policy, struct findings *out);

/*
 * Adds findings from the host: a cache that is open to others, on a slow file system, or on one
 * that is smaller than "max". Changes nothing; only root can look.
 */
void lint_stage_host(const struct policy *policy, struct findings *out);

#endif

/* The parts of apply_decision, one for each group of operations. Pure. */
#ifndef SHIM_APPLY_PARTS_H
#define SHIM_APPLY_PARTS_H

#include "shim/plan/decision/decision.h"

/* Restricts the options of the user's binds, and puts in the paths where their sources are held. */
void apply_binds(const struct decision *decision, struct json_doc *doc);

/* Removes capabilities, and puts in what the policy's "security" demands. */
void apply_security(const struct decision *decision, struct json_doc *doc, const struct spec *spec);

/* Adds groups to the process. */
void apply_groups(const struct decision *decision, struct json_doc *doc, const struct spec *spec);

/* Rewrites the request for GPUs, or takes their nodes out. */
void apply_gpus(const struct decision *decision, struct json_doc *doc, const struct spec *spec);

/* Sets the size of /dev/shm and the resource limits. */
void apply_tuning(const struct decision *decision, struct json_doc *doc, const struct spec *spec);

#endif

/*
 * The origin of each part of a container: which of them flatbed-runtime made when it created the
 * container, by the state that it kept then (/run/flatbed/state; include/shim/runtime/exec/state.h
 * says what is in it).
 */
#ifndef SHIM_ORIGIN_H
#define SHIM_ORIGIN_H

#include "shim/admin/explain/explain.h"

/*
 * Returns the state of the container with that ID whose bundle holds the file `config`, for
 * json_free. NULL if there is none, or only root may read it.
 */
struct json_doc *origin_load(const char *id, const char *config) must_check;

/*
 * Says who asked for each operation of the explanation: "policy", "request", "user", "engine" or
 * "container" (the image, the engine or its user). Operations of `state` (or NULL) have the verdict
 * that they had when the container was created, also those that the present policy would not make.
 */
int origin_apply(struct explanation *e, struct json_doc *state, struct arena *arena,
                 struct err *err) must_check;

#endif

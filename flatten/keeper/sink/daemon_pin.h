/* Layers that the Docker daemon has already, and keeps until the new image is loaded. */
#ifndef FLATTEN_DAEMON_PIN_H
#define FLATTEN_DAEMON_PIN_H

#include "flatten/keeper/http/engine_api.h"
#include "flatten/keeper/sink/digest_list.h"

/*
 * Makes an image without a name of layers with these diff_ids, oldest first, by loading its
 * configuration alone: a daemon with a graph driver takes the layers from its store, by chain ID,
 * and refuses the load if it lacks one. `label` as in struct engine_import. Sets *id to the Id that
 * the image has then, also after a failure, unless it is "". Returns 0 if the daemon has the
 * layers, or -1.
 */
int daemon_pin_layers(struct engine *e, const struct digest_list *diff_ids, const char *label,
                      struct digest *id, struct err *err) must_check;

#endif

/*
 * Images that a run of flatten has made for their layers (daemon_import.h, daemon_pin.h) and then
 * did not remove, because it was killed or the daemon was. Their label names the run.
 *
 * An image is removed if its run is over: a process of this host that is gone; for a run elsewhere,
 * after a day. It must have the label and the comment of such an image, no name and no container.
 */
#ifndef FLATTEN_DAEMON_LEFTOVER_H
#define FLATTEN_DAEMON_LEFTOVER_H

#include "flatten/keeper/http/engine_api.h"

enum { DAEMON_LEFTOVER_LABEL = 160 };

/* Writes the label, KEY=VALUE, of the images of this run. */
void daemon_leftover_label(char out[DAEMON_LEFTOVER_LABEL]);

/*
 * Removes the images of runs that are over, and those of this one. Errors are ignored: the next run
 * tries again.
 */
void daemon_leftovers_remove(struct engine *e);

#endif

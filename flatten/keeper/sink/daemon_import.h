/*
 * A layer on its way into the Docker daemon: a thread sends to the daemon what the reader writes
 * into a pipe. The image that the daemon makes of it has no name; its only purpose is the layer.
 */
#ifndef FLATTEN_DAEMON_IMPORT_H
#define FLATTEN_DAEMON_IMPORT_H

#include "base/cleanup.h"
#include "base/digest/sha256.h"
#include "base/err.h"

struct daemon_import;

/* Begins an import with a label (struct engine_import) that is borrowed. */
struct daemon_import *daemon_import_new(const char *label, struct err *err) must_check;

/* Stops the import, if it has not ended, and frees it. The daemon discards a layer that is cut. */
void daemon_import_free(struct daemon_import *i);

DEFINE_CLEANUP(daemon_import, struct daemon_import, daemon_import_free)

/* Returns the end of the pipe that takes the layer; borrowed. */
int daemon_import_pipe(const struct daemon_import *i);

/*
 * Ends the layer. Waits until all other duplicates of the end of the pipe are closed and the daemon
 * has the image; *id is its Id.
 */
int daemon_import_finish(struct daemon_import *i, struct digest *id, struct err *err) must_check;

/* Replaces *err by the reason why the pipe is not read any more; leaves it if the pipe is read. */
void daemon_import_explain(struct daemon_import *i, struct err *err);

/* The comment of such an image. */
#define DAEMON_IMPORT_MESSAGE "an unfinished image of flatten"

#endif

/*
 * The process outside the sandbox. It does for the reader (reader.h) what a sandbox cannot: finds
 * sources, speaks with daemons and registries, makes files, publishes. It parses no image, and does
 * not trust the reader: it grants only what the command line names, and checks each request
 * (wire.h) again.
 *
 * A fooled reader can make a wrong image, waste time, write nonsense to standard output; no more.
 * When either process ends, so does the other, and nothing is published.
 */
#ifndef FLATTEN_KEEPER_H
#define FLATTEN_KEEPER_H

#include "base/err.h"
#include "flatten/exchange/keeper_task.h"

/* Tells if the destination has the new image. PERHAPS: an error came from a daemon or a registry.
 */
enum keeper_published { PUBLISHED_NO, PUBLISHED_PERHAPS, PUBLISHED_YES };

/*
 * Serves the reader at the other end of the socket (wire_pair, borrowed) until it says how it ends.
 * Returns its exit status, or -1 with its error; ERR_SYSTEM for a reader that is gone, or that asks
 * for what no honest one does. *published is set also where the end is an error.
 */
int keeper_serve(const struct keeper_task *task, int socket, enum keeper_published *published,
                 struct err *err) must_check;

#endif

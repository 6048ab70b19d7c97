/* Opens destinations (sink.h) by name: archives, layouts, the Docker daemon, registries. */
#ifndef FLATTEN_SINK_OPEN_H
#define FLATTEN_SINK_OPEN_H

#include "flatten/exchange/sink.h"

/*
 * Opens the destination and checks that it can be written, before the work. Returns NULL with
 * ERR_USAGE for a destination that cannot be what it is asked to be, ERR_SYSTEM for one that cannot
 * be reached or written.
 */
struct sink *sink_open(const struct reference *ref, struct err *err) must_check;

/*
 * The same for an image from `from`: a registry can take over blobs from another of its
 * repositories.
 */
struct sink *sink_open_beside(const struct reference *ref, const struct reference *from,
                              struct err *err) must_check;

#endif

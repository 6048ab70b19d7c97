/* The kinds of sinks, for sink_open: each is in the source of its name. */
#ifndef FLATTEN_SINK_BACKENDS_H
#define FLATTEN_SINK_BACKENDS_H

#include "flatten/exchange/sink.h"

/* The layout in the directory `path`, made if it is missing. */
struct sink *sink_open_oci(const char *path, struct err *err) must_check;

/* A file: an oci-archive or a docker-archive. */
struct sink *sink_open_archive(const struct reference *ref, struct err *err) must_check;

/* A docker-archive in a file without a name, which the sink takes, also after a failure. */
struct sink *sink_open_unnamed(int fd, struct err *err) must_check;

/* The Docker daemon. `name` is the image's; NULL: each has its own. */
struct sink *sink_open_daemon(const char *name, struct err *err) must_check;

/* A repository of a registry. */
struct sink *sink_open_registry(const struct reference *ref, struct err *err) must_check;

#endif

/*
 * Finds sources (source.h) by name: files, layouts, the Docker daemon, podman, registries. Nothing
 * of an image is parsed here.
 */
#ifndef FLATTEN_SOURCE_OPEN_H
#define FLATTEN_SOURCE_OPEN_H

#include "base/buf.h"
#include "flatten/exchange/source.h"

/*
 * Finds the source that `ref` (borrowed) names. `platform` ("os/arch[/variant]", may be NULL) is
 * for engines alone, whose image is copied into a temporary file (temporary_file.h).
 */
struct source *source_open(const struct reference *ref, const char *platform,
                           struct err *err) must_check;

/*
 * Asks an engine for the layers of an image without its content: appends their diff_ids, each with
 * its NUL.
 */
int source_diff_ids(const struct reference *ref, struct buf *out, struct err *err) must_check;

#endif

/*
 * Finds sources (source.h) by name: files, layouts, the Docker daemon, podman, registries. Nothing
 * of an image is parsed here.
 */
#ifndef FLATTEN_SOURCE_OPEN_H
#define FLATTEN_SOURCE_OPEN_H

#include "base/buf.h"
#include "flatten/exchange/keeper_task.h"
#include "flatten/exchange/source.h"

/* For the daemon alone. */
struct source_choice {
    const char *platform; /* "os/arch[/variant]"; or NULL */
    enum walk_kind walk;
};

/*
 * Finds the source that `ref` (borrowed) names. The image of an engine is walked where its layers
 * lie (walk.h), or copied into a temporary file (temporary_file.h).
 */
struct source *source_open(const struct reference *ref, const struct source_choice *choice,
                           struct err *err) must_check;

/*
 * Waits until all blobs that were opened are there and right: no image may be published before. -1
 * with the error of one that is not.
 */
int source_settle(const struct source *s, struct err *err) must_check;

/*
 * Asks the engine whether it has the image of a walked source still in the same directories.
 * ERR_SYSTEM if not: the walk may have missed files.
 */
int source_still_there(const struct source *s, struct err *err) must_check;

/*
 * Asks the engine for the layers of an image without its content: appends their diff_ids, each with
 * its NUL.
 */
int source_diff_ids(const struct reference *ref, struct buf *out, struct err *err) must_check;

#endif

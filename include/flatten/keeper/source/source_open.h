/*
 * Finds sources (source.h) by name: files, layouts, the Docker daemon, registries. Nothing of an
 * image is parsed here.
 */
#ifndef FLATTEN_SOURCE_OPEN_H
#define FLATTEN_SOURCE_OPEN_H

#include "base/buf.h"
#include "flatten/exchange/source.h"

/* For the daemon alone. */
struct source_choice {
    const char *platform; /* "os/arch[/variant]"; or NULL */
    bool walks; /* the tree is enough (keeper_task.h): it is walked where that is possible */
};

/*
 * Finds the source that `ref` (borrowed) names. The daemon's image is walked where its layers lie
 * (walk.h), or copied into a temporary file (temporary_file.h).
 */
struct source *source_open(const struct reference *ref, const struct source_choice *choice,
                           struct err *err) must_check;

/*
 * Asks the daemon whether it has the image of a walked source still in the same directories.
 * ERR_SYSTEM if not: the walk may have missed files.
 */
int source_still_there(const struct source *s, struct err *err) must_check;

/*
 * Asks the daemon for the layers of an image without its content: appends their diff_ids, each with
 * its NUL.
 */
int source_diff_ids(const struct reference *ref, struct buf *out, struct err *err) must_check;

#endif

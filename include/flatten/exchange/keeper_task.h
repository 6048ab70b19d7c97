/* The task of a run, from the command line: the keeper grants no request beyond it. */
#ifndef FLATTEN_KEEPER_TASK_H
#define FLATTEN_KEEPER_TASK_H

#include "flatten/name/reference.h"

#include <stddef.h>

struct keeper_task {
    const struct reference *sources;
    size_t source_count;                 /* at most WIRE_MOST_SOURCES (wire.h) */
    const char *platform;                /* for a daemon: "os/arch[/variant]"; or NULL */
    const struct reference *destination; /* of the image from sources[0]; NULL: none */
    bool all_images;                     /* all images of sources[0], each by its own name */
    bool walks;                          /* the merged tree of a daemon's image is enough, without
                                            its layers */
    int output;                          /* a file that the reader may write to; 0: none */
};

#endif

/*
 * A command in two processes. The reader does the work, in the sandbox (sandbox.h): it parses what
 * comes from images, and all that comes of it. The keeper, which started it, does for it what a
 * sandbox cannot: finds sources, speaks with daemons and registries, makes files, publishes. It
 * parses no image, and does not trust the reader: what it may be asked for is named by the command
 * line, and each request is checked again (wire.h).
 *
 * A fooled reader can make a wrong image, waste time, write nonsense to standard output; no more.
 * When either process ends, so does the other, and nothing is published.
 */
#ifndef FLATTEN_KEEPER_H
#define FLATTEN_KEEPER_H

#include "flatten/reader/reader.h"

/* All that the command line named, and so all that there is to ask for. */
struct keeper_task {
    const struct reference *sources;
    size_t source_count;                 /* at most WIRE_MOST_SOURCES */
    const char *platform;                /* for a daemon: "os/arch[/variant]"; or NULL */
    const struct reference *destination; /* of what comes from sources[0]; NULL: none */
    bool all_images;                     /* of sources[0], each by its own name */
    int output;                          /* a file that the reader may write to; 0: none */
};

/*
 * Starts the reader, which runs `run` with `ctx` (a copy of it: what it changes there is its own),
 * and serves it until it ends. The exit status that `run` returned, or -1 with its error; what it
 * died of is ERR_SYSTEM.
 */
int keeper_run(const struct keeper_task *task, reader_run *run, void *ctx,
               struct err *err) must_check;

/*
 * Serves whoever is at the other end of the socket: for keeper_run, and for tests of it.
 * *published: the destination has the new image, also where the end is an error.
 */
int keeper_serve(const struct keeper_task *task, int socket, bool *published,
                 struct err *err) must_check;

#endif

/* The task of a run, from the command line: the keeper grants no request beyond it. */
#ifndef FLATTEN_KEEPER_TASK_H
#define FLATTEN_KEEPER_TASK_H

#include "flatten/name/reference.h"

#include <stddef.h>

/* Temporary files that a reader may ask for, beside one for each source: to unpack layers
 * (unpacker.h), and to carve them (spool.h). */
enum { KEEPER_UNPACK_FILES = 16, KEEPER_SPOOLS = 1 };

/* The ways in which an image is read where its engine has it, if that is possible (walk.h). */
enum walk_kind {
    WALK_NONE,   /* not at all: the layers are needed byte for byte */
    WALK_TREE,   /* the tree that a container sees is enough */
    WALK_LAYERS, /* the entries of each layer are enough */
};

struct keeper_task {
    const struct reference *sources;
    size_t source_count;                 /* at most WIRE_MOST_SOURCES (wire.h) */
    size_t kept_from;                    /* the source whose layers a new image may keep */
    const char *platform;                /* for a daemon: "os/arch[/variant]"; or NULL */
    const struct reference *destination; /* of the image from sources[0]; NULL: none */
    bool all_images;                     /* of several images, each by its own name */
    enum walk_kind walk;                 /* of the sources in engines, */
    size_t walked;                       /* if they are among the first so many */
    const char *tree;                    /* the directory to unpack to; NULL: none */
    bool no_owner;                       /* its files belong to this user */
    int output;                          /* a file that the reader may write to; 0: none */
};

#endif

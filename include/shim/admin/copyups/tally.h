/*
 * Sums of what a container's upper directory holds, with the largest files and directories. Pure.
 *
 * `size` is what ls(1) shows, `disk` the blocks that the file takes. A file of several names is
 * counted with each name, its bytes with the first one. Memory is bounded: only the largest are
 * kept by name.
 */
#ifndef SHIM_TALLY_H
#define SHIM_TALLY_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fate of a path. All but new ones hide a file that a layer has. */
enum change {
    CHANGE_COPIED,   /* overlayfs copied the file from a layer, at the first write */
    CHANGE_METADATA, /* the same without its data, for a change of owner or mode (metacopy) */
    CHANGE_REPLACED, /* another file was put in its place */
    CHANGE_NEW,
    CHANGES
};

extern const char *const change_names[CHANGES]; /* for JSON */

struct tally_sum {
    uint64_t files, size, disk;
};

struct tally_file {
    char *path; /* in the container; owned by the tally */
    enum change change;
    size_t layer; /* index of the lower directory, topmost first */
    uint64_t size, disk;
    uint64_t shared; /* bytes of blocks that another file has, too (reflink) */
};

struct tally_directory {
    char *path;           /* in the container; owned by the tally */
    struct tally_sum sum; /* of all below it */
    uint64_t hidden;      /* blocks of `sum` that are copies of files of layers, or replace them */
    struct tally_sum largest; /* of the directory in it that has most */
};

enum { TALLY_TOP_MOST = 1000 };

struct tally {
    size_t top;                     /* set before: how many of the largest are kept */
    struct tally_sum sums[CHANGES]; /* of all that is not a directory */
    struct tally_sum reflinked;     /* of those copied, with blocks shared; disk: these blocks */
    uint64_t whiteouts, opaque;     /* names deleted; directories that hide all below */
    uint64_t directories, own;      /* all directories, and those that no layer has */
    uint64_t disk;                  /* of everything, directories as well */
    uint64_t entries;               /* all that was looked at */
    uint64_t unread;                /* directories that could not be read */
    struct tally_sum *layers;       /* copied from each layer; owned */
    size_t layer_count;
    struct tally_file *files; /* the largest that are not new; owned */
    size_t file_count;
    struct tally_directory *largest; /* owned */
    size_t largest_count;
    bool failed; /* without memory */
};

/* Prepares a tally for so many layers. */
int tally_begin(struct tally *t, size_t layers, size_t top, struct err *err) must_check;

/* Adds a file; its path is copied if it is one of the largest. `layer` is unused for new ones. */
void tally_add(struct tally *t, const struct tally_file *file);

/* Adds the same file, or what is below a directory, to the directory that holds it. */
void tally_directory_add_file(struct tally_directory *to, const struct tally_file *file);
void tally_directory_add(struct tally_directory *to, const struct tally_directory *from);

/*
 * Takes note of a directory when everything below it was added. One that has nearly all in a single
 * directory is left out: that one says where the bytes are.
 */
void tally_directory_end(struct tally *t, const struct tally_directory *directory);

/* Returns the sum of all files. */
struct tally_sum tally_all(const struct tally *t);

/* Frees everything. */
void tally_free(struct tally *t);

#define _cleanup_tally_ _cleanup_(tally_free)

#endif

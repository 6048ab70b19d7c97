/*
 * Directories that several layers have, and how many layers lookups of existing paths search: as
 * flatten/analyze/lookups counts, for layers in which nothing hides a directory.
 */
#ifndef FLATTEN_LAYOUT_LOOKUPS_H
#define FLATTEN_LAYOUT_LOOKUPS_H

#include "flatten/carve/layout/layout.h"

struct layout_lookups {
    const struct layout_input *in;
    const uint16_t *by_file; /* layers */
    size_t layers;           /* the last is the state layer */
    size_t describing;       /* the oldest layer that may describe split directories */
    uint32_t *files;         /* by layer: indices */
    size_t *starts;          /* by layer: index into `files`; one more for the end */
    struct layout_links {    /* names of files by layer, as above */
        uint32_t *list;
        size_t *starts;
    } links;
    uint16_t *mark;  /* by node: the layer that was counted last, plus 1 */
    uint16_t *depth; /* by node: layers that have this directory */
    void (*more)(void *ctx, struct layout_lookups *l, size_t layer);
    bool (*has_header)(void *ctx, uint32_t dir);
    const uint8_t
        *also;   /* by node: 1 for directories that the state layer describes anyway; or NULL */
    void *ctx;   /* of `more`, which may mark what else is in the layer; NULL: nothing */
    size_t kept; /* layers that are not written anew: has_header tells what they show */

    uint16_t *described; /* as layout.described; the caller may take it */
    uint64_t split_dirs;
    double probes;
};

/* Marks the directories above the node as directories of the layer. */
void layout_lookups_mark(struct layout_lookups *l, uint32_t node, size_t layer);

/* The same, with the node itself. */
void layout_lookups_mark_dir(struct layout_lookups *l, uint32_t dir, size_t layer);

/*
 * Counts. in, by_file, layers, more and ctx are set; The caller calls layout_lookups_clear, also
 * after a failure.
 */
int layout_lookups_count(struct layout_lookups *l, struct err *err) must_check;

/* Frees what it allocated. */
void layout_lookups_clear(struct layout_lookups *l);

#define _cleanup_layout_lookups_ _cleanup_(layout_lookups_clear)

#endif

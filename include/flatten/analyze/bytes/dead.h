/*
 * Dead bytes: file contents in the layers that the merged tree does not show, by cause, by the
 * layer that has them and the layer that hid them. Pure: computed from a layer stack.
 *
 * A file's bytes are dead once the last of its names is hidden. The layer that hides a name is the
 * oldest one above it that has an entry at the path, or that hides everything below one of its
 * directories. The sum is exactly what `flatten squash` leaves out.
 */
#ifndef FLATTEN_DEAD_H
#define FLATTEN_DEAD_H

#include "flatten/analyze/bytes/layer_stack.h"

enum { DEAD_WORST = 20 };

struct dead_layer {
    uint64_t payload, live; /* bytes of all of its files; of those that show */
    uint64_t files;
    uint64_t dead[DEAD_CAUSES];   /* bytes of its files that do not show */
    uint64_t killed[DEAD_CAUSES]; /* bytes that it hid, in older layers or itself */
};

/* Bytes of one layer that another hid; or the same, where it has a path twice. */
struct dead_kill {
    uint64_t bytes, files;
    uint32_t node; /* the one file, or the directory that all of them lie below */
    uint16_t layer, by;
    uint8_t cause;
};

struct dead_path {
    uint64_t bytes;
    uint32_t node;
    uint32_t copies;
    uint8_t cause; /* of most of the bytes */
    uint16_t by;   /* the newest layer that hid a copy */
};

struct dead_report {
    uint64_t payload, live;
    uint64_t causes[DEAD_CAUSES];
    struct dead_layer *layers; /* by number - 1 */
    unsigned layer_count;
    struct dead_kill *kills; /* most bytes first */
    size_t kill_count;
    struct dead_path worst[DEAD_WORST]; /* most bytes first */
    size_t worst_count;
    double efficiency;     /* dive's, 0 to 1: 1 if nothing is stored twice */
    uint64_t wasted_bytes; /* dive's: all copies of paths that come more than once */
};

/* Frees what it owns, and zeroes it. */
void dead_report_clear(struct dead_report *r);

#define _cleanup_dead_report_ _cleanup_(dead_report_clear)

/*
 * Fills `killer`, `cause` and `rival` of each stack_file. A file that another of the same size
 * replaced has a rival; it is DEAD_OVERWRITTEN until dead_compare_rivals.
 */
int dead_attribute(struct layer_stack *s, struct err *err) must_check;

/* Makes files DEAD_METADATA whose rival has the same content: an equal, known `quick`. */
void dead_compare_rivals(struct layer_stack *s);

/* Sums up. The caller clears *out, also after a failure. */
int dead_sum(const struct layer_stack *s, struct dead_report *out, struct err *err) must_check;

#endif

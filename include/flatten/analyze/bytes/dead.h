/*
 * Dead bytes: what layers brought and the merged tree does not show, by cause, by the layer that
 * brought them and the layer that hid them. Pure: from strata to numbers.
 *
 * A file's bytes die when the last of its names is hidden. The layer that hides a name is the
 * oldest newer one that says anything else of the path, or that hides all below a directory above
 * it. The sum is exactly what `flatten squash` leaves out.
 */
#ifndef FLATTEN_DEAD_H
#define FLATTEN_DEAD_H

#include "flatten/analyze/bytes/layer_stack.h"

enum { DEAD_WORST = 20 };

struct dead_layer {
    uint64_t payload, live; /* bytes of the files that it brought; of those that show */
    uint64_t files;
    uint64_t dead[DEAD_CAUSES];   /* bytes that it brought and that do not show */
    uint64_t killed[DEAD_CAUSES]; /* bytes of its own or older layers that it hid */
};

/* Bytes that one layer brought and one (the same, for a path that comes twice) hid. */
struct dead_kill {
    uint64_t bytes, files;
    uint32_t node; /* the directory, or the one file, that holds them all */
    uint16_t layer, by;
    uint8_t cause;
};

struct dead_path {
    uint64_t bytes;
    uint32_t node;
    uint32_t copies;
    uint8_t cause; /* that of the most bytes */
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
    double efficiency;     /* dive's, 0 to 1: 1 where nothing was stored twice */
    uint64_t wasted_bytes; /* dive's: all copies of paths that come more than once */
};

void dead_report_clear(struct dead_report *r);

#define _cleanup_dead_report_ _cleanup_(dead_report_clear)

/*
 * Finds each file's killer and cause (stack_file: killer, cause, rival). A file that another of
 * the same size replaced has a rival: it is DEAD_OVERWRITTEN until dead_settle knows better.
 */
int dead_attribute(struct layer_stack *s, struct err *err) must_check;

/* Files with a rival of equal content (`quick`, where known) become DEAD_METADATA. */
void dead_settle(struct layer_stack *s);

/* Sums up. */
int dead_sum(const struct layer_stack *s, struct dead_report *out, struct err *err) must_check;

#endif

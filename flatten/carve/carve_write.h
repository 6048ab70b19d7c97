/* Writes the files of a spool as layers. */
#ifndef FLATTEN_CARVE_WRITE_H
#define FLATTEN_CARVE_WRITE_H

#include "flatten/carve/layout/layout.h"
#include "flatten/carve/spool/spool.h"
#include "flatten/layer/entry_sink.h"

#include <stdatomic.h>

enum { CARVE_ELSEWHERE = UINT16_MAX }; /* in a layer that is not written */

/* The files of each new layer. Borrowed, all of it. */
struct carve_plan {
    const struct spool *spool;
    const uint16_t *by_record; /* the layer of each file, or CARVE_ELSEWHERE */
    size_t layer_count;
    const uint16_t *described; /* by node: as layout.described, which counts kept layers as well */
    size_t kept;               /* layers below those of the plan */
    const uint32_t *whiteouts; /* nodes that the newest layer hides */
    size_t whiteout_count;
    struct layout_identity *identities; /* by record: set when it is written; or NULL */
};

/* The nodes of each layer, in the order in which they are written. */
struct carve_lists {
    const struct carve_plan *plan; /* borrowed */
    uint32_t *nodes;               /* of all layers, in the order in which they are written */
    size_t *starts;                /* by layer: where its nodes begin; one more at the end */
    uint32_t *first_name; /* by record: node of the name that was written; 0: none yet. A record is
                             in one layer. */
};

/* Decides what each layer has. The caller clears *l with carve_lists_clear, also after a failure.
 */
int carve_lists_init(struct carve_lists *l, const struct carve_plan *plan,
                     struct err *err) must_check;

/* Frees what it owns. */
void carve_lists_clear(struct carve_lists *l);

/* Writes layers, one at a time. Several may do so at the same time. */
struct carve_writer {
    struct carve_lists *lists;   /* borrowed */
    const atomic_bool *given_up; /* borrowed; once true, the writer fails */
    uint16_t *marks;             /* by node: the last layer that got the directory, from 1 */
    struct buf path, target;
    char *block;
    struct piece_reader *pieces; /* NULL until a packed file is written */
    struct sha256_lane identity; /* of what is being written */
};

/* The caller clears *w with carve_writer_clear, also after a failure. */
int carve_writer_init(struct carve_writer *w, struct carve_lists *lists,
                      const atomic_bool *given_up, struct err *err) must_check;

/* Frees what it owns. */
void carve_writer_clear(struct carve_writer *w);

/*
 * Gives the entries of a layer to the sink. A directory that several layers have is described in
 * the newest of them; the others have its mode and owner, and the time 0: its own time changes with
 * every entry, and engines show the newest (the kernel's overlayfs.rst, "Directories").
 */
int carve_write_layer(struct carve_writer *w, size_t layer, struct entry_sink *to,
                      struct err *err) must_check;

/* Gives up the content of a layer that is written, so that it takes no room while others are. */
void carve_drop_layer(const struct carve_writer *w, size_t layer);

#endif

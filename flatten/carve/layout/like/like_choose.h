/* The choice of previous layers to keep: those that the limits on dead bytes and layers leave. */
#ifndef FLATTEN_LIKE_CHOOSE_H
#define FLATTEN_LIKE_CHOOSE_H

#include "flatten/carve/layout/layout_bins.h"
#include "flatten/carve/layout/like/like_view.h"

struct like_choice {
    struct like_view view; /* of the layers that are kept */
    const struct layout_wishes *wishes;
    double max_dead;
    bool *kept;     /* by previous layer */
    uint8_t *fates; /* by previous layer */
    uint8_t *old;   /* by file: 1 if the previous image shows it as it is */
    uint64_t total; /* bytes of the new version */

    /* With the layers that are kept: */
    size_t count;
    uint64_t live, dead; /* bytes in them */
    uint64_t cold, hot;  /* bytes to rewrite, and new ones, without state files */
};

/*
 * Chooses. The caller clears *out with like_choice_clear, also after a failure. `wishes` are
 * borrowed.
 */
int like_choose(const struct layout_input *in, const struct layout_identity *identities,
                const struct layout_previous *previous, const struct layout_wishes *wishes,
                double max_dead, struct like_choice *out, struct err *err) must_check;

/* Drops a layer, for that reason, and chooses again. */
int like_choice_drop(struct like_choice *c, size_t layer, enum layout_fate fate,
                     struct err *err) must_check;

/* Returns true if a file belongs to the state layer when it is new. */
bool like_is_state(const struct layout_input *in, size_t file);

/* Frees what the choice owns. */
void like_choice_clear(struct like_choice *c);

#define _cleanup_like_choice_ _cleanup_(like_choice_clear)

#endif

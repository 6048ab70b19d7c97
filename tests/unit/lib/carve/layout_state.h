/* The directories that the state layer of a layout describes. */
#ifndef TESTS_LAYOUT_STATE_H
#define TESTS_LAYOUT_STATE_H

#include "flatten/carve/layout/layout.h"

static inline bool in_state(const struct layout *l, uint32_t dir)
{
    return l->described[dir] == l->count - 1;
}

#endif

/* Sources of Python and what is compiled of them. */
#ifndef FLATTEN_PYTHON_SOURCE_H
#define FLATTEN_PYTHON_SOURCE_H

#include "flatten/merge/tree/tree.h"

/* Returns true if the node's name is that of a source. */
bool python_is_source(const struct tree *tree, uint32_t node);

/* Returns true if the node's name is that of a directory with what is compiled. */
bool python_is_cache(const struct tree *tree, uint32_t node);

/*
 * Returns the node of the source of a compiled file, or TREE_NONE: DIR/m.py for DIR/m.pyc,
 * DIR/m.pyo, DIR/__pycache__/m.cpython-311.pyc and DIR/__pycache__/m.cpython-311.opt-1.pyc
 * (PEP 3147, 488).
 */
uint32_t pyc_source(const struct tree *tree, uint32_t node);

#endif

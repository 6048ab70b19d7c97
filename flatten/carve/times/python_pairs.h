/*
 * Sources of Python and what is compiled of them. A .pyc has the low 32 bits of its source's time
 * in its header, and is not used if they differ; one that names a hash of its source does without
 * (PEP 552).
 */
#ifndef FLATTEN_PYTHON_PAIRS_H
#define FLATTEN_PYTHON_PAIRS_H

#include "flatten/merge/tree/tree.h"

enum { PYC_HEAD = 16 }; /* bytes that pyc_time takes; a shorter file is none */

/* Returns true and sets *time if a .pyc that starts so names its source's time. */
bool pyc_time(const unsigned char *head, uint32_t *time);

/*
 * Returns the node of the source of a compiled file, or TREE_NONE: DIR/m.py for DIR/m.pyc,
 * DIR/__pycache__/m.cpython-311.pyc and DIR/__pycache__/m.cpython-311.opt-1.pyc (PEP 3147, 488).
 */
uint32_t pyc_source(const struct tree *tree, uint32_t node);

#endif

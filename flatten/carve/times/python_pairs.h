/*
 * Times of what is compiled of sources of Python (python_source.h). A .pyc has the low 32 bits of
 * its source's time in its header, and is not used if they differ; one that names a hash of its
 * source does without (PEP 552).
 */
#ifndef FLATTEN_PYTHON_PAIRS_H
#define FLATTEN_PYTHON_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

enum { PYC_HEAD = 16 }; /* bytes that pyc_time takes; a shorter file is none */

/* Returns true and sets *time if a .pyc that starts so names its source's time. */
bool pyc_time(const unsigned char *head, uint32_t *time);

#endif

/* The stream of a tree (wire_tree.h), as the tree writer reads it. */
#ifndef FLATTEN_TREE_INPUT_H
#define FLATTEN_TREE_INPUT_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct tree_input {
    int pipe; /* borrowed */
    char *block;
    size_t at, end; /* of what is in the block */
};

/* The caller frees the block with tree_input_clear. */
int tree_input_init(struct tree_input *in, int pipe, struct err *err) must_check;
void tree_input_clear(struct tree_input *in);

/* Reads exactly so many bytes. ERR_SYSTEM if the stream ends before. */
int tree_input_read(struct tree_input *in, void *out, size_t len, struct err *err) must_check;

/* Moves so many bytes to the file, at that offset. */
int tree_input_copy(struct tree_input *in, int fd, uint64_t offset, uint64_t len,
                    struct err *err) must_check;

#endif

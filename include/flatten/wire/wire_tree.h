/*
 * The stream in which the reader sends a merged tree to the process that writes it (tree_unpack.h).
 * It is a pipe: a length (uint32_t) and a message of wire_entry.h for each entry, directories
 * before their content, and one for the end; a length of 0 takes back all that came before. Behind
 * the message of a regular file with content come pieces, until they have its size: a uint64_t of
 * their bytes, and the bytes unless the piece is a hole.
 *
 * The path of the root directory is ".". Numbers have the form of this machine.
 */
#ifndef FLATTEN_WIRE_TREE_H
#define FLATTEN_WIRE_TREE_H

#include "flatten/wire/wire_entry.h"

#define WIRE_TREE_ROOT "."

/* Set in the length of a piece that is a hole, which no bytes follow. */
#define WIRE_TREE_HOLE ((uint64_t)1 << 63)

enum {
    WIRE_TREE_MOST_MESSAGE = 1 << 28, /* bytes of one entry, with its attributes */
    WIRE_TREE_BUFFER = 1 << 18,       /* bytes that both ends hold back to save system calls */
};

#endif

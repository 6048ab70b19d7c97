/* The process that writes a tree. */
#ifndef FLATTEN_TREE_PROCESS_H
#define FLATTEN_TREE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct tree_process {
    int root;    /* the directory of the tree */
    int input;   /* the pipe with the tree (wire_tree.h) */
    int socket;  /* to the keeper */
    bool owners; /* see tree_unpack_start */
    pid_t keeper;
};

/*
 * Confines the process to the directory, writes the tree, and tells how it ended over the socket: a
 * message of 8 bytes, the number of what was left out (uint64_t), or the end of a walk with the
 * error (wire_entry.h). Then answers a request for a walk. Does not return.
 */
_Noreturn void tree_process_run(const struct tree_process *of);

#endif

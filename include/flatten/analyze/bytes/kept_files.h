/*
 * The content of chosen files, kept in memory while layers are read. Of each path the newest copy
 * is kept, whether it shows or not.
 */
#ifndef FLATTEN_KEPT_FILES_H
#define FLATTEN_KEPT_FILES_H

#include "flatten/merge/tree/tree.h"

/* Bytes that are kept of an image, at most. */
#define KEPT_FILES_MOST ((uint64_t)64 << 20)

struct kept_file {
    uint32_t inode;
    uint32_t node; /* its first name */
    uint64_t len;  /* bytes */
    char *data;    /* NULL if a newer file replaced it, or if it is beyond the limit */
    bool cut;      /* beyond the limit */
};

struct kept_files {
    bool (*wants)(const struct tree *tree, uint32_t node); /* set by the caller */
    struct kept_file *list;                                /* by inode, ascending */
    size_t count, cap;
    uint32_t *newest; /* by node: index + 1 of its file in `list` */
    size_t newest_cap;
    uint64_t bytes;
};

/* Frees what it owns. */
void kept_files_clear(struct kept_files *k);

#define _cleanup_kept_files_ _cleanup_(kept_files_clear)

/*
 * Adds a file, newer than all before it, in place of an older one at the node. Sets *data to room
 * for its content, which the caller fills; NULL if that is not kept.
 */
int kept_files_add(struct kept_files *k, uint32_t node, uint32_t inode, uint64_t size, char **data,
                   struct err *err) must_check;

/* Returns the file of that inode, or NULL. */
const struct kept_file *kept_files_find(const struct kept_files *k, uint32_t inode);

/* Returns how many paths have a newest copy that is beyond the limit. */
size_t kept_files_cut(const struct kept_files *k);

#endif

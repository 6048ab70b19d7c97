/* The files, directories and owners of several images, each once. */
#ifndef FLATTEN_FAMILY_FILES_H
#define FLATTEN_FAMILY_FILES_H

#include "flatten/carve/carve_tree.h"
#include "flatten/carve/layout/family/layout_family.h"

/* An image of the family. */
struct family_member {
    struct carve_tree tree;
    struct merged_report report;
    struct placing placing;
    uint32_t *nodes;      /* by node of its tree: that of the family's */
    uint32_t *files;      /* by index in `placing`: that of the family's file */
    struct layout layout; /* once it is made: of this image */
    uint16_t *by_record;  /* by record: the layer of the image that has it */
};

/*
 * The same inode in several images: equal header and content (spool_identities.h), under the same
 * names. All names lie together, the one with the least node first.
 */
struct family_inode {
    struct layout_identity identity;
    uint64_t images;
    uint32_t node, names, name_count; /* `names`: index of the further ones in family_files.names */
    uint32_t next;                    /* index + 1 of another inode at this node; or 0 */
};

struct family_files {
    struct tree *tree;
    struct owners owners; /* texts belong to the members */
    struct layout_file *files;
    size_t file_count, file_cap;
    struct layout_name *names; /* in the order of files */
    size_t name_count, name_cap;
    struct family_inode *inodes; /* by file */
    size_t inode_count, inode_cap;
    uint64_t *images;             /* by file */
    struct family_inode *headers; /* of directories */
    size_t header_count, header_cap;
    struct layout_family_dir *dirs; /* the same for the layout */
    uint32_t *at, *dir_at;          /* by node: index + 1 of its first inode, and header */
    size_t at_cap, dir_at_cap;
};

/*
 * Compares the members, and sets member->nodes and files. The caller clears *out with
 * family_files_clear, also after a failure.
 */
int family_files_make(struct family_member *members, size_t count, struct family_files *out,
                      struct err *err) must_check;

/* Returns the input of the layout, which refers to `all`; both borrow from *f. */
struct layout_family_input family_files_input(const struct family_files *f, size_t members,
                                              struct layout_input *all);

/* Frees what it owns. */
void family_files_clear(struct family_files *f);

#endif

/* The tree of an image that is to be carved: read into a spool, with the owners of its files. */
#ifndef FLATTEN_CARVE_TREE_H
#define FLATTEN_CARVE_TREE_H

#include "flatten/carve/layout/layout.h"
#include "flatten/carve/spool/identity.h"
#include "flatten/carve/spool/spool.h"
#include "flatten/squash/reading.h"

struct carve_tree {
    struct image *image;                  /* borrowed */
    const struct squash_options *options; /* borrowed; they are needed only while it is read */
    struct reading reading;               /* until carve_tree_end_reading */
    struct spool *spool;
    struct layout_identity *identities; /* by record of the spool; NULL if not asked for */
    struct identity_stamp *stamps;      /* likewise, for stable times */
    struct owners owners;
    struct buf link; /* the target of the symbolic link that was asked for last */
};

/* Options of reading it. */
struct carve_tree_options {
    int fd;      /* of the spool, borrowed */
    uint64_t at; /* where its content begins there */
    bool identities, stamps;
    const struct compress_options *pack; /* of zstd, to compress large files at once, if no
                                            identities are asked for; or NULL */
};

/*
 * Reads the image: all digests have been checked when this returns 0. The caller clears *t, also
 * after a failure.
 */
int carve_tree_read(struct carve_tree *t, struct image *image, const struct squash_options *options,
                    const struct carve_tree_options *how, struct merged_report *report,
                    struct err *err) must_check;

/* Stops the threads that read the image. */
void carve_tree_end_reading(struct carve_tree *t);

/* Frees what it owns. */
void carve_tree_clear(struct carve_tree *t);

/* Gives notice of something about the image as a whole. */
void carve_tell(const struct squash_options *options, const char *of, const char *text);

/* The files of a tree as layout.h takes them: without directories. */
struct placing {
    struct layout_file *files;
    struct layout_name *names;
    uint32_t *file_of; /* by record: its index in `files` */
    uint8_t *is_dir;   /* by node */
    size_t count;
};

/* Returns true for whiteouts of what kept layers have: they go below all that is carved. */
bool placing_skips(struct tree *tree, uint32_t node);

/* Lists them, without whiteouts. The caller clears *p, also after a failure. */
int placing_list(const struct carve_tree *t, struct placing *p, struct err *err) must_check;

/* Returns the input of a layout; it borrows from both. */
struct layout_input placing_input(const struct carve_tree *t, const struct placing *p);

/* Frees what it owns. */
void placing_clear(struct placing *p);

#endif

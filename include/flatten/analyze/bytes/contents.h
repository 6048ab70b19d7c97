/*
 * What is in chosen files of an image: a hash of all of it, its first bytes, the file's time.
 * Layers without a chosen file are not read, and payload that lies uncompressed is passed over
 * where no file is chosen.
 */
#ifndef FLATTEN_CONTENTS_H
#define FLATTEN_CONTENTS_H

#include "flatten/analyze/bytes/layer_stack.h"
#include "flatten/layer/layer.h"

/* What is wanted of a file. */
enum { CONTENT_HASH = 1, CONTENT_HEAD = 2, CONTENT_TIME = 4, CONTENT_QUICK = 8 };
enum { CONTENT_BYTES = 16 };

struct content {
    unsigned char bytes[CONTENT_BYTES]; /* of SHA-256: enough that equal means equal; or the head */
    uint32_t inode;
};

struct content_list {
    struct content *list;
    size_t count, cap;
};

struct contents {
    struct content_list hashes, heads; /* heads: of files that are long enough */
    struct content_list times;         /* seconds since 1970, their low 32 bits, little endian */
};

void contents_clear(struct contents *c);

#define _cleanup_contents_ _cleanup_(contents_clear)

/*
 * A 64-bit hash of the entry at hand, keyed by a secret of the process (base/hash.h); never 0. For
 * comparing two files of one size.
 */
int contents_quick(struct layer_reader *reader, uint64_t size, uint64_t *out,
                   struct err *err) must_check;

/*
 * Calls `visit` at every file that `wanted` (by inode) marks, in the order of layers and entries;
 * the reader stands at its content. 0, or -1 to give up.
 */
typedef int contents_visit(void *ctx, struct layer_reader *reader, const struct layer_entry *e,
                           uint32_t inode, struct err *err);
int contents_walk(const struct image *image, const struct layer_stack *s, const uint8_t *wanted,
                  contents_visit *visit, void *ctx, struct err *err) must_check;

/* `wanted` by inode: what is wanted. CONTENT_QUICK fills stack_file's `quick`. The caller clears
 * *out in any case. */
int contents_read(const struct image *image, struct layer_stack *s, const uint8_t *wanted,
                  struct contents *out, struct err *err) must_check;

/* Of one inode in a list in the order of inodes (as contents_read leaves them); or NULL. */
const struct content *contents_find(const struct content_list *list, uint32_t inode);

/* Sorts by bytes, then by inode, for what compares hashes. */
void contents_sort(struct content_list *list);

uint32_t contents_u32(const unsigned char *bytes); /* little endian */

#endif

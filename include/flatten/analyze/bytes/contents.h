/*
 * Reads chosen files of an image: a hash of the content, its first bytes, the file's time. Layers
 * without a chosen file are not read. The payload of other files is skipped where a layer is
 * uncompressed.
 */
#ifndef FLATTEN_CONTENTS_H
#define FLATTEN_CONTENTS_H

#include "flatten/analyze/bytes/layer_stack.h"
#include "flatten/layer/layer.h"

/* Bits that say what is wanted of a file. */
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
    struct content_list hashes, heads; /* heads: of files with CONTENT_BYTES or more */
    struct content_list times;         /* seconds since 1970, their low 32 bits, little endian */
};

/* Frees what it owns, and zeroes it. */
void contents_clear(struct contents *c);

#define _cleanup_contents_ _cleanup_(contents_clear)

/*
 * Hashes the content of the reader's current entry, `size` bytes long. *out is 64 bits, never 0,
 * keyed by a secret of the process (base/hash.h): good for comparing two files of one size.
 */
int contents_quick(struct layer_reader *reader, uint64_t size, uint64_t *out,
                   struct err *err) must_check;

/* As contents_quick, and copies the content to `data`, which has room for `size` bytes. */
int contents_copy(struct layer_reader *reader, uint64_t size, char *data, uint64_t *out,
                  struct err *err) must_check;

/* Called with the reader at the file's content. Returns 0, or -1 to give up. */
typedef int contents_visit(void *ctx, struct layer_reader *reader, const struct layer_entry *e,
                           uint32_t inode, struct err *err);

/* Visits every file that `wanted` (by inode) marks, in the order of layers and entries. */
int contents_walk(const struct image *image, const struct layer_stack *s, const uint8_t *wanted,
                  contents_visit *visit, void *ctx, struct err *err) must_check;

/*
 * Reads what `wanted` asks for: CONTENT_ bits by inode. CONTENT_QUICK fills stack_file's `quick`,
 * the others *out, which the caller clears, also after a failure.
 */
int contents_read(const struct image *image, struct layer_stack *s, const uint8_t *wanted,
                  struct contents *out, struct err *err) must_check;

/* Finds an inode in a list in the order that contents_read leaves. NULL if it is not there. */
const struct content *contents_find(const struct content_list *list, uint32_t inode);

/* Sorts by bytes, then by inode: equal hashes become neighbours. */
void contents_sort(struct content_list *list);

/* Returns the number in four bytes, little endian. */
uint32_t contents_u32(const unsigned char *bytes);

#endif

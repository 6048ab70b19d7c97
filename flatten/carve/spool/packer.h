/*
 * Compresses content while it is read, as pieces (piece_reader.h), in threads, each at a place of
 * its own in a file. The frames depend on the content and the level alone.
 */
#ifndef FLATTEN_PACKER_H
#define FLATTEN_PACKER_H

#include "flatten/carve/spool/piece_reader.h"
#include "flatten/stream/compress.h"

/*
 * Returns the most bytes of the file that content of that length takes. What its frames do not need
 * becomes a hole.
 */
uint64_t packer_room(uint64_t len);

/* Writes to the temporary file of a spool; a failure says to set TMPDIR. */
int spool_write(int fd, const void *data, size_t len, uint64_t at, struct err *err) must_check;

struct packer;

/*
 * Starts as many threads as the options say for zstd, at most 3; each takes 10 MB. fd and *pieces,
 * which gets what is added, are borrowed; *pieces may be read after packer_finish. The caller frees
 * the packer with packer_free; NULL on failure.
 */
struct packer *packer_new(int fd, const struct compress_options *options, struct pieces *pieces,
                          struct err *err) must_check;

/* Begins content whose frames lie from that offset of the file on. */
void packer_begin(struct packer *p, uint64_t at);

/* Adds bytes of it; NULL data stands for zeros. Returns an error of the threads, too. */
int packer_add(struct packer *p, const void *data, uint64_t len, struct err *err) must_check;

/* Ends the content. */
void packer_end(struct packer *p);

/* Waits until all pieces are written. */
int packer_finish(struct packer *p, struct err *err) must_check;

/* Stops the threads; what they have not written is given up. */
void packer_free(struct packer *p);

DEFINE_CLEANUP(packer, struct packer, packer_free)
#define _cleanup_packer_ _cleanup_(cleanup_packer)

#endif

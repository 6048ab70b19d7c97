/*
 * Unpacks compressed layers in threads of its own, ahead of the merge, into temporary files:
 * several layers are inflated at once, and the merge skips hidden content, as in a layer that is
 * not compressed. The same threads compute the diff_ids.
 *
 * A layer that no thread has begun when its reader comes is unpacked by the reader, so a merge
 * never waits for a layer's turn. If a file cannot be written, the reader unpacks the layer again.
 */
#ifndef FLATTEN_UNPACKER_H
#define FLATTEN_UNPACKER_H

#include "flatten/image/image.h"
#include "flatten/stream/stream.h"

enum { UNPACKER_MOST_THREADS = 8 };

struct unpacker;

/*
 * Returns the number of threads that pay where `cpus` processors are usable; 0 where those that
 * compress, hash and merge occupy all of them: a temporary file costs about as much time as it
 * saves.
 */
unsigned unpacker_threads(unsigned cpus);

/* Empty files, open for reading and writing; two for each thread are enough. */
struct unpacker_files {
    const int *fds;
    size_t count;
};

/*
 * Starts the threads, and sets `unpacker` (image.h) of the compressed layers from index `first` on.
 * They unpack the layers below the one that was opened last. Image and files are borrowed.
 */
struct unpacker *unpacker_new(struct image *image, size_t first, const struct unpacker_files *files,
                              unsigned threads, struct err *err) must_check;

/* Stops the threads and empties the files. All streams must have been freed. */
void unpacker_free(struct unpacker *u);

DEFINE_CLEANUP(unpacker, struct unpacker, unpacker_free)
#define _cleanup_unpacker_ _cleanup_(cleanup_unpacker)

/*
 * Sets *out to the tar archive in the layer's blob, checked as by layer_tar (layer_blob.h); or to
 * NULL if no thread has begun to unpack it: then none will. The archive can skip. Its file is free
 * for another layer when all streams of it are freed.
 */
int unpacker_open(struct unpacker *u, const struct layer *layer, struct stream **out,
                  struct err *err) must_check;

#endif

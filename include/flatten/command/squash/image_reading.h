/* The surroundings of reading an image: a progress line, and files for layers that are unpacked. */
#ifndef FLATTEN_IMAGE_READING_H
#define FLATTEN_IMAGE_READING_H

#include "flatten/command/squash/progress.h"
#include "flatten/merge/tree/merged_options.h"
#include "flatten/reader/reader.h"

#include <stdbool.h>

/*
 * Starts the progress line of reading the image with these options; without `wanted`, bytes are
 * only counted. The image's layers refer to it until image_progress_end.
 */
struct progress *image_progress(bool wanted, struct image *image,
                                const struct merged_options *options, struct err *err) must_check;
void image_progress_end(struct image *image);

/*
 * Opens temporary files for layers that are unpacked ahead, if one is compressed: puts their
 * descriptors, the caller's, into `files`. Returns how many there are, at most KEEPER_UNPACK_FILES;
 * without any, the readers of layers unpack them.
 */
size_t image_unpack_files(struct reader *r, const struct image *image, unsigned threads,
                          int files[KEEPER_UNPACK_FILES]);

#endif

/* The threads that check and unpack the layers of an image while it is read. */
#ifndef FLATTEN_READING_H
#define FLATTEN_READING_H

#include "flatten/layer/verifier.h"
#include "flatten/squash/squashed.h"

struct reading {
    struct image *image; /* borrowed */
    struct hasher *hasher;
    struct verifier *verifier;
    struct unpacker *unpacker; /* NULL where unpacking ahead does not pay */
};

/*
 * Starts the threads; the image's layers refer to them. The caller ends them with reading_end, also
 * after a failure.
 */
int reading_begin(struct reading *r, struct image *image, const struct squash_options *options,
                  struct err *err) must_check;

/* Stops the threads. Digests are right only if verifier_finish(r->verifier) returned 0. */
void reading_end(struct reading *r);

#define _cleanup_reading_ _cleanup_(reading_end)

#endif

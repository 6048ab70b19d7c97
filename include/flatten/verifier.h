/*
 * Checks layers against their digests apart from the merge. A layer that lies uncompressed can be
 * read anywhere: threads of this module read all of it, two layers at a time (sha256_pair.h), while
 * the merge reads headers and what shows, and passes over the rest. The layers are begun in the
 * merge's order, newest first: what one has read from a disk, the other finds in the page cache.
 *
 * Such a layer is read twice. That both saw the same is taken from the file's size and time of
 * change: who can write to a mapping of it, made before, could still fool one of them.
 *
 * Nothing that was made of the image may be handed on before verifier_finish has returned 0.
 */
#ifndef FLATTEN_VERIFIER_H
#define FLATTEN_VERIFIER_H

#include "flatten/hasher.h"
#include "flatten/image.h"

struct verifier;

/*
 * Starts on those layers that lie as they are, and sets their `verifier`: who opens them then
 * checks nothing. The image is borrowed; its other layers are left to their readers.
 */
struct verifier *verifier_new(struct image *image, struct err *err) must_check;
/* Stops what is not done; the layers' `verifier` is NULL again. */
void verifier_free(struct verifier *v);

DEFINE_CLEANUP(verifier, struct verifier, verifier_free)
#define _cleanup_verifier_ _cleanup_(cleanup_verifier)

/*
 * For who reads a layer, at its beginning and now and then: 0, or -1 with the error of a layer that
 * was found wrong. Of several, the newest counts, however the threads are timed.
 */
int verifier_check(struct verifier *v, const struct layer *layer, struct err *err) must_check;

/* Waits until all layers are found right: 0, or -1. May be called again. */
int verifier_finish(struct verifier *v, struct err *err) must_check;

/*
 * What was read went wrong with *err. If that is due to content, waits for the layers that were
 * begun to be read, and if one is not what the image says, tells that instead.
 */
void verifier_explain(struct verifier *v, struct err *err);

#endif

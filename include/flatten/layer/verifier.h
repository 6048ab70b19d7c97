/*
 * Checks blobs of layers against their digests apart from the merge. What lies in a file can be
 * read at any time: threads of this module do, two layers at a time (sha256_pair.h), and the
 * hasher's does where it would hash one stream alone. These threads give way to all others, which
 * somebody waits for; who waits for a verdict in the end helps.
 *
 * Of a layer that lies uncompressed that is all there is to check: the merge reads headers and what
 * shows, and passes over the rest. Of a compressed one, readers still check what it unpacks to.
 *
 * The layers are begun in the merge's order, newest first: what one has read from a disk, the other
 * finds in the page cache. Each is read twice. That both saw the same is taken from the file's size
 * and time of change: who can write to a mapping of it, made before, could still fool one of them.
 *
 * Nothing that was made of the image may be handed on before verifier_finish has returned 0.
 */
#ifndef FLATTEN_VERIFIER_H
#define FLATTEN_VERIFIER_H

#include "flatten/image/image.h"
#include "flatten/stream/hasher.h"

struct verifier;

/*
 * Starts on those layers of which the blob's digest is known, and sets their `verifier` (image.h).
 * Image and hasher are borrowed; other layers are left to their readers.
 */
struct verifier *verifier_new(struct image *image, struct hasher *hasher,
                              struct err *err) must_check;
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
 * begun to be read, and if the blob of one is not what the image says, tells that instead.
 */
void verifier_explain(struct verifier *v, struct err *err);

#endif

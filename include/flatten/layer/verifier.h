/*
 * Checks the blobs of layers against their digests in threads of its own, beside the merge; a blob
 * in a file can be read at any time. Each thread hashes two layers side by side (sha256_pair.h),
 * newest layers first, as the merge reads them: the later reader of a layer finds it in the page
 * cache.
 *
 * An uncompressed layer needs no other check, so the merge reads only its headers and the visible
 * content. The archive in a compressed layer is checked by its reader. The keeper checks compressed
 * blobs that arrive from a registry, so that these are only waited for.
 *
 * Each file is read twice. That both readers saw the same bytes is concluded from the file's size
 * and time of change. A process that mapped the file, writable, before the run can still show
 * different bytes to each.
 *
 * No result made from the image may be published before verifier_finish has returned 0.
 */
#ifndef FLATTEN_VERIFIER_H
#define FLATTEN_VERIFIER_H

#include "flatten/image/image.h"

struct verifier;

/*
 * Starts to check the layers whose blob has a known digest, and sets their `verifier` (image.h);
 * other layers are checked by their readers. The image is borrowed.
 */
struct verifier *verifier_new(struct image *image, struct err *err) must_check;

/* Stops checks that are not done, and sets the layers' `verifier` to NULL. */
void verifier_free(struct verifier *v);

DEFINE_CLEANUP(verifier, struct verifier, verifier_free)
#define _cleanup_verifier_ _cleanup_(cleanup_verifier)

/*
 * Reports the checks so far: the reader of a layer calls this before it begins, and at each entry.
 * Returns 0, or -1 with the error of a wrong layer: this one or a newer one.
 */
int verifier_check(struct verifier *v, const struct layer *layer, struct err *err) must_check;

/*
 * Waits for all checks, and for layers that are still arriving. Returns 0 if all layers are right,
 * or -1 with the error of the newest wrong layer, of a file that has changed, or of a layer that
 * does not arrive. May be called again.
 */
int verifier_finish(struct verifier *v, struct err *err) must_check;

/*
 * Replaces *err, with which the merge failed, by its cause. If *err is about content, this waits
 * for the checks of the layers that readers have begun, and if one of them is wrong, *err becomes
 * the error of the newest. So the message does not depend on the timing of threads.
 */
void verifier_explain(struct verifier *v, struct err *err);

#endif

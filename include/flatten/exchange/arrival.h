/*
 * Blobs that arrive in a file while they are read: the keeper fetches them from a registry and
 * writes, the reader reads what is there, and waits for more. How far each blob has come stands in
 * a page of memory that both processes map. The keeper alone can write to it, and reads nothing
 * from it.
 *
 * Bytes that have come never change. The last bytes of a blob come once the keeper knows that the
 * blob's digest is right, so a blob that is there as a whole is right.
 */
#ifndef FLATTEN_ARRIVAL_H
#define FLATTEN_ARRIVAL_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arrival; /* counts its references */

/* One of its blobs; zeroed: a blob that is in its file already. */
struct arriving {
    struct arrival *all; /* owned: a reference */
    size_t blob;
};

/* ---- in the keeper ---- */

/* Makes the page for `count` blobs (not 0), none of which has come. */
struct arrival *arrival_new(size_t count, struct err *err) must_check;

/* Returns the descriptor of the page, which cannot be written through it; borrowed. */
int arrival_fd(const struct arrival *a);

/* Says that the first `bytes` bytes of a blob are in the file. */
void arrival_advance(struct arrival *a, size_t blob, uint64_t bytes);

/* Says that no further byte of any blob comes, because of an error with this one. Called once. */
void arrival_fail(struct arrival *a, size_t blob, const struct err *why);

/* ---- in the reader ---- */

/*
 * Maps the page for `count` blobs that `fd` (borrowed) is of. ERR_FORMAT for one that is too small.
 */
struct arrival *arrival_open(int fd, size_t count, struct err *err) must_check;

/*
 * Waits until the first `bytes` bytes of a blob are in its file. -1 with the error of the transfer,
 * or after a signal that ends flatten.
 */
int arrival_await(const struct arriving *blob, uint64_t bytes, struct err *err) must_check;

/* True if the transfer ended with an error of this blob, which is copied to *err. */
bool arrival_failed(const struct arriving *blob, struct err *err);

/* ---- in both ---- */

/* Returns one more reference; NULL for NULL. */
struct arrival *arrival_ref(struct arrival *a);

/* Drops a reference, the last one with the page. */
void arrival_unref(struct arrival *a);

DEFINE_CLEANUP(arrival, struct arrival, arrival_unref)
#define _cleanup_arrival_ _cleanup_(cleanup_arrival)

#endif

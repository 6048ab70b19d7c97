/*
 * The identities of all that a spool has. Threads compute them from the spool's file while the
 * merge writes it: the merge does not wait for them, and inflating leaves processors idle. All that
 * is left at the end is hashed by every processor.
 */
#ifndef FLATTEN_SPOOL_IDENTITIES_H
#define FLATTEN_SPOOL_IDENTITIES_H

#include "flatten/carve/spool/identity.h"
#include "flatten/carve/spool/spool.h"

struct spool_identities;

/*
 * Starts the threads. The spool is borrowed, finished or not. `stamps`: they are wanted as well.
 * The caller frees it with spool_identities_free, before the spool. NULL with an error.
 */
struct spool_identities *spool_identities_new(const struct spool *s, bool stamps,
                                              struct err *err) must_check;

/* Stops the threads. */
void spool_identities_free(struct spool_identities *h);

DEFINE_CLEANUP(spool_identities, struct spool_identities, spool_identities_free)
#define _cleanup_spool_identities_ _cleanup_(cleanup_spool_identities)

/*
 * Waits for the rest, after spool_finish. Returns the identities by record; *stamps, unless NULL,
 * is set likewise. The caller frees both; NULL with an error. Called once.
 */
struct layout_identity *spool_identities_finish(struct spool_identities *h,
                                                struct identity_stamp **stamps,
                                                struct err *err) must_check;

#endif

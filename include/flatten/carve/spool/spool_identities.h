/*
 * The identities of all that a spool has, for those who need them before layers are written. They
 * are computed from its file, not while the merge writes it: so every processor hashes, and the
 * merge does not wait for it.
 */
#ifndef FLATTEN_SPOOL_IDENTITIES_H
#define FLATTEN_SPOOL_IDENTITIES_H

#include "flatten/carve/spool/identity.h"
#include "flatten/carve/spool/spool.h"

/*
 * Returns them by record of a spool that is finished and has no packed files. *stamps, unless NULL,
 * is set likewise. The caller frees both; NULL with an error.
 */
struct layout_identity *spool_identities(const struct spool *s, struct identity_stamp **stamps,
                                         struct err *err) must_check;

#endif
